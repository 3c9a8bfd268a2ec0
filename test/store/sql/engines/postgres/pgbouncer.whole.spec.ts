import pg from 'pg';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { type PgBouncer, startPgBouncer } from '../../../../services/pgbouncer.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

let postgres: Postgres;
let bouncer: PgBouncer;
const open = (clock: PaymentClock) => openedStoreAt(bouncer.urlOf(postgres.url), { clock });

describe('pgbouncer', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    bouncer = await startPgBouncer(postgres.url);
  });

  afterAll(async () => {
    await bouncer.stop();
    await postgres.stop();
  });

  describePaymentStore('PostgreSQL behind PgBouncer', { create: open, another: open }, 5);

  test('it refuses the limits when a session begins, so that each transaction sets them', async () => {
    const connectionString = bouncer.urlOf(postgres.url);
    const client = new pg.Client({ connectionString, statement_timeout: 10_000 });
    await expect(client.connect()).rejects.toThrow('unsupported startup parameter');
    await whatATransactionHas(bouncer);
  });

  test('a pooler that silently ignores the limits does no harm either', async () => {
    const names = 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout';
    const deaf = await startPgBouncer(postgres.url, { ignore_startup_parameters: names });
    await whatATransactionHas(deaf);
    await deaf.stop();
  });
});

/** Makes a payment wait for a lock, behind that PgBouncer, and expects the server to end that in time. */
async function whatATransactionHas(through: PgBouncer): Promise<void> {
  const database = await postgres.createDatabase();
  const store = await openedStoreAt(through.urlOf(database));
  const trial = new StoreTrial(store, store, new TestClock());
  const record = await trial.insert();
  const other = new pg.Client({ connectionString: database });
  await other.connect();
  await other.query('begin');
  await other.query('select from card_payment for update');
  await expect(store.replace(trial.next(record), record)).rejects.toMatchObject({ code: '55P03' });
  await other.query('rollback');
  await other.end();
  await trial.replace(record);
  await store.close();
}
