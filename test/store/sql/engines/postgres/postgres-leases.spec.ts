import { jest } from '@jest/globals';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';
import { SqlOutbox } from '../../../../../lib/store/sql/sql-outbox.js';
import type { PaymentTables } from '../../../../../lib/store/sql/payment-tables.js';
import { postgresEngine } from '../../../../../lib/store/sql/engines/postgres/postgres.engine.js';
import { SqlDatabase } from '../../../../../lib/store/sql/sql-database.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { describeLeases } from '../../lease-cases.js';
import { describeLeaseRaces } from '../../lease-races.js';
import { racingPostgres } from './racing-postgres.js';

let postgres: Postgres;

describe('postgres leases', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(() => postgres.stop());

  describeLeases('postgres', () => {
    return new PostgresDialect({
      pool: async () => new pg.Pool({ connectionString: await postgres.createDatabase() }),
    });
  });

  describeLeaseRaces(
    racingPostgres(
      (pool, clock) => postgresPaymentStore({ pool, clock }),
      () => postgres.createDatabase(),
    ),
  );

  test('deliveries that are put off without an end keep no one for ever, and nothing is leased', async () => {
    let looks = 0;
    const statement = () => {
      if ((looks += 1) > 100) throw new Error('still looking');
      return Promise.resolve({ rows: [{ put_off: 1, event_id: null }] });
    };
    const db = new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
    const database = new SqlDatabase(db, postgresEngine);
    jest.spyOn(database, 'statement').mockImplementation(statement);
    const outbox = new SqlOutbox(database, postgresEngine.writes);
    const request = {
      account: 'a',
      handlerId: 'h',
      types: ['payment.succeeded'] as const,
      lease: 'l',
      leaseMs: 1,
      limit: 1,
    };
    expect(await outbox.leaseDeliveries(request)).toEqual([]);
    expect(looks).toBe(50);
    expect(await outbox.leaseDeliveries({ ...request, types: [] })).toEqual([]);
    expect(looks).toBe(50);
  });
});
