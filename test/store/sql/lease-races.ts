import { jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import pg from 'pg';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import type { SqlPaymentStore } from '../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';
import { until } from '../../services/until.js';

const [FIRST, SECOND] = ['payment.unknown', 'payment.succeeded'] as const;
/** Sessions that wait for a lock. */
const WAITING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
/** Far more than a lease examines to find one. */
const PAYMENTS = 30;

/**
 * Leasing on PostgreSQL while another process acknowledges.
 *
 * @param open over a pool, without limits of its sessions: it commits what it writes by a statement of its own
 * @param createDatabase an empty one, by its URL
 */
export function describeLeaseRaces(
  open: (pool: pg.Pool, clock: PaymentClock) => SqlPaymentStore,
  createDatabase: () => Promise<string>,
): void {
  test('one whose earlier one is acknowledged while it is being postponed comes at once', async () => {
    const connectionString = await createDatabase();
    const pools = [1, 2].map(() => new pg.Pool({ connectionString }));
    const clock = new TestClock(at(0));
    const [store, second] = pools.map((pool) => open(pool, clock)) as [SqlPaymentStore, SqlPaymentStore];
    await store.open();
    const trial = new StoreTrial(store, second, clock);
    const handler = await trial.handler(FIRST, SECOND);
    const firsts: string[] = [];
    for (let index = 0; index < PAYMENTS; index += 1) {
      const { record, event } = await trial.publish(await trial.insert(), 'unknown', at(1));
      firsts.push(event.eventId);
      await trial.publish(record, 'succeeded', at(2));
    }
    await trial.fanOut();

    const commit = holdUpCommit();
    const slowly = trial.lease(handler, { types: [SECOND], limit: 1, store: second });
    await commit.came;
    let isAcknowledged = false;
    const acknowledged = Promise.all(firsts.map((id) => store.acknowledge(trial.account, handler, id))).then(
      () => (isAcknowledged = true),
    );
    await until(async () => isAcknowledged || (await pools[1]!.query(WAITING)).rowCount !== 0);
    commit.goOn();
    await acknowledged;
    const leasedNow = [...(await slowly), ...(await trial.lease(handler, { types: [SECOND] }))];
    expect(leasedNow).toHaveLength(PAYMENTS);
    for (const pool of pools) await pool.end();
  });
}

/** Keeps the first commit that any connection sends from now on from being sent. */
function holdUpCommit(): { readonly came: Promise<void>; readonly goOn: () => void } {
  const came = new EventEmitter();
  const goOn = new EventEmitter();
  const client = pg.Client.prototype as { query(...given: unknown[]): unknown };
  const { query } = client;
  const spy = jest.spyOn(client, 'query').mockImplementation(function (this: pg.Client, ...given) {
    if (given[0] !== 'commit') return query.apply(this, given);
    spy.mockRestore();
    came.emit('it');
    return once(goOn, 'it').then(() => query.apply(this, given));
  });
  return { came: once(came, 'it').then(() => undefined), goOn: () => void goOn.emit('it') };
}
