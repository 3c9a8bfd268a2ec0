import { jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import type { SqlPaymentStore } from '../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';
import { until } from '../../services/until.js';

const [FIRST, SECOND] = ['payment.unknown', 'payment.succeeded'] as const;
/** Far more than a lease examines to find one. */
const PAYMENTS = 30;

/** A database whose pools a store is given, without limits of its sessions: it commits by a statement of its own. */
export interface RacingDatabase<Pool> {
  /** Two pools on an empty database. */
  connect(): Promise<readonly [Pool, Pool]>;
  open(pool: Pool, clock: PaymentClock): SqlPaymentStore;
  /** Whether some session waits for a lock. */
  isAnyoneWaiting(pool: Pool): Promise<boolean>;
  end(pool: Pool): Promise<unknown>;
  /** The prototype of the driver's connections. */
  readonly connection: object;
}

/** Leasing while another process acknowledges. */
export function describeLeaseRaces<Pool>(database: RacingDatabase<Pool>): void {
  test('one whose earlier one is acknowledged while it is being postponed comes at once', async () => {
    const pools = await database.connect();
    const clock = new TestClock(at(0));
    const [store, second] = [database.open(pools[0], clock), database.open(pools[1], clock)];
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

    const commit = holdUpCommit(database.connection);
    const slowly = trial.lease(handler, { types: [SECOND], limit: 1, store: second });
    await commit.came;
    let isAcknowledged = false;
    const acknowledged = Promise.all(firsts.map((id) => store.acknowledge(trial.account, handler, id))).then(
      () => (isAcknowledged = true),
    );
    await until(async () => isAcknowledged || (await database.isAnyoneWaiting(pools[1])));
    commit.goOn();
    await acknowledged;
    const leasedNow = [...(await slowly), ...(await trial.lease(handler, { types: [SECOND] }))];
    expect(leasedNow).toHaveLength(PAYMENTS);
    for (const pool of pools) await database.end(pool);
  });
}

/** Keeps the first commit that any connection sends from now on from being sent. */
function holdUpCommit(connection: object): { readonly came: Promise<void>; readonly goOn: () => void } {
  const came = new EventEmitter();
  const goOn = new EventEmitter();
  const client = connection as { query(...given: unknown[]): unknown };
  const { query } = client;
  const spy = jest.spyOn(client, 'query').mockImplementation(function (this: object, ...given) {
    // mysql2 also takes an object with the statement.
    const { sql } = Object(given[0]) as { readonly sql?: unknown };
    if ((sql ?? given[0]) !== 'commit') return query.apply(this, given);
    spy.mockRestore();
    came.emit('it');
    return once(goOn, 'it').then(() => {
      const sent = query.apply(this, given);
      // What a query with a callback returns is no promise, and refuses to be taken for one.
      return typeof given.at(-1) === 'function' ? undefined : sent;
    });
  });
  return { came: once(came, 'it').then(() => undefined), goOn: () => void goOn.emit('it') };
}
