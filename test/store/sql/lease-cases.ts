import { type CompiledQuery, type Dialect, Kysely } from 'kysely';
import { PAIR_ALIVE_MS } from '../../../lib/store/payment-outbox.js';
import { type SqlDialect, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import type { PaymentTables } from '../../../lib/store/sql/payment-tables.js';
import { aPostponement, at, eventIds, hostIdNonce, leased, StoreTrial } from '../contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';

const [FIRST, SECOND] = ['payment.unknown', 'payment.succeeded'] as const;
/** Far more than a lease examines to find one. */
const PAYMENTS = 30;

/**
 * Leasing while many deliveries wait for earlier ones.
 *
 * @param connect to an empty database
 */
export function describeLeases(dialect: SqlDialect, connect: () => Dialect): void {
  describe(dialect, () => leaseCases(dialect, connect));
}

function leaseCases(dialect: SqlDialect, connect: () => Dialect): void {
  let db: Kysely<PaymentTables>;
  let statements: CompiledQuery[];
  let trial: StoreTrial;
  let handler: string;
  /** Ids of the events of each payment: the first, for a version of the shop that is slow, and the second. */
  let ids: { first: string; second: string }[];

  beforeEach(async () => {
    db = new Kysely({ dialect: connect(), log: ({ query }) => void statements.push(query) });
    statements = [];
    const clock = new TestClock(at(0));
    const store = sqlPaymentStore({ db, dialect, clock });
    await store.open();
    trial = new StoreTrial(store, store, clock);
    handler = await trial.handler(FIRST, SECOND);
    ids = [];
    for (let index = 0; index < PAYMENTS; index += 1) {
      const opened = await trial.insert({ hostIdNonce: index % 2 === 0 ? null : hostIdNonce() });
      const { record, event } = await trial.publish(opened, 'unknown', at(1));
      ids.push({ first: event.eventId, second: (await trial.publish(record, 'succeeded', at(2))).event.eventId });
    }
    await trial.fanOut();
  });

  afterEach(() => db.destroy());

  const lease = () => trial.lease(handler, { types: [SECOND], limit: 1 });

  test('waiting deliveries are examined once, not at every call', async () => {
    expect(await lease()).toEqual([]);
    statements = [];
    expect(await lease()).toEqual([]);
    expect(statements.filter(({ sql }) => sql.startsWith('update'))).toEqual([]);
    expect(statements.filter(({ sql }) => sql.startsWith('select')).length).toBeLessThan(3);
  });

  test('a delivery is leased as soon as the earlier one is acknowledged', async () => {
    expect(await lease()).toEqual([]);
    await trial.store.acknowledge(trial.account, handler, ids[17]!.first);
    expect(eventIds(await lease())).toEqual([ids[17]!.second]);
  });

  test('a delivery is leased as soon as the earlier one is parked', async () => {
    expect(await lease()).toEqual([]);
    const [first] = await trial.lease(handler, { types: [FIRST], limit: 1, lease: 'mine' });
    await trial.store.postpone(leased(first!, 'mine'), aPostponement({ parked: true }));
    const { second } = ids.find((one) => one.first === first!.event.eventId)!;
    expect(eventIds(await lease())).toEqual([second]);
  });

  test('a delivery is leased once the pair of the earlier one is no longer announced', async () => {
    expect(await lease()).toEqual([]);
    trial.moveTo(PAIR_ALIVE_MS - 1);
    await trial.announce(handler, SECOND);
    expect(await lease()).toEqual([]);
    trial.moveTo(PAIR_ALIVE_MS);
    expect(await lease()).toHaveLength(1);
  });

  test('a delivery that need not wait is found behind many that must', async () => {
    const { event } = await trial.publish(await trial.insert(), 'succeeded', at(3));
    trial.moveTo(10);
    await trial.fanOut();
    expect(eventIds(await trial.lease(handler, { types: [SECOND], limit: 2 }))).toEqual([event.eventId]);
  });

  test('a delivery that waits for another one, or for a lease, does not hide the deliveries behind it', async () => {
    const [orphaned, waitedFor, wanted] = ['payment.unknown', 'payment.review', 'payment.succeeded'] as const;
    const other = await trial.handler(orphaned, waitedFor, wanted);
    for (let index = 0; index < PAYMENTS; index += 1) {
      const { record } = await trial.publish(await trial.insert(), 'unknown', at(1));
      const next = await trial.publish(record, 'review', at(2));
      await trial.publish(next.record, 'succeeded', at(3));
    }
    await trial.fanOut();
    trial.moveTo(PAIR_ALIVE_MS);
    await trial.announce(other, waitedFor, wanted);
    expect(await trial.lease(other, { types: [orphaned] })).toHaveLength(PAYMENTS);
    const { event } = await trial.publish(await trial.insert(), 'succeeded', at(4));
    await trial.fanOut();
    expect(eventIds(await trial.lease(other, { types: [wanted], limit: 1 }))).toEqual([event.eventId]);
  });

  test('a delivery that has failed before is not postponed: nothing would make it due again', async () => {
    const other = await trial.handler(FIRST, SECOND);
    // As many as a lease examines to find one.
    for (let index = 0; index < 4; index += 1) {
      const { record } = await trial.publish(await trial.insert(), 'unknown', at(1));
      await trial.publish(record, 'succeeded', at(2));
    }
    await trial.fanOut();
    const postpone = async (type: typeof FIRST | typeof SECOND, parked: boolean) => {
      const found = await trial.lease(other, { types: [type], lease: 'mine' });
      for (const one of found) await trial.store.postpone(leased(one, 'mine'), aPostponement({ parked, retryInMs: 1 }));
      return eventIds(found);
    };
    const firsts = await postpone(FIRST, true);
    expect([firsts.length, (await postpone(SECOND, false)).length]).toEqual([4, 4]);
    for (const eventId of firsts) await trial.store.replay(trial.account, other, eventId);
    trial.moveTo(10);
    expect(await trial.lease(other, { types: [SECOND], limit: 1 })).toEqual([]);
    await trial.store.acknowledge(trial.account, other, firsts[3]!);
    expect(await trial.lease(other, { types: [SECOND], limit: 1 })).toHaveLength(1);
  });

  test.each([10, 1])('the longest overdue deliveries come first, whatever their ids, %d at a time', async (limit) => {
    const other = await trial.handler('payment.failed');
    const published: string[] = [];
    for (const [index, name] of ['e', 'c', 'b', 'd', 'a'].entries()) {
      trial.moveTo(index * 10);
      const { event } = await trial.publish(await trial.insert({ conversationId: name }), 'failed', at(index));
      await trial.fanOut();
      published.push(event.eventId);
    }
    const came: string[] = [];
    while (came.length < published.length) {
      const some = await trial.lease(other, { limit });
      expect(some).toHaveLength(Math.min(limit, published.length));
      came.push(...eventIds(some));
    }
    expect(came).toEqual(published);
  });

  test('a fan-out takes the payments that have waited longest, whatever the type, up to its limit', async () => {
    const other = await trial.handler('payment.failed', 'payment.review');
    await trial.publish(await trial.insert(), 'failed', at(9));
    const { event } = await trial.publish(await trial.insert(), 'review', at(8));
    await trial.publish(await trial.insert(), 'failed', at(10));
    expect(await trial.fanOut({ limit: 1 })).toBe(1);
    expect(eventIds(await trial.lease(other))).toEqual([event.eventId]);
  });

  test('replacing a payment rejects if another one has its idempotencyKey', async () => {
    await trial.insert({ idempotencyKey: 'key' });
    const record = await trial.insert();
    const taking = trial.store.replace(trial.next(record, { idempotencyKey: 'key' }), record.version);
    await expect(taking).rejects.toThrow('another payment has this idempotencyKey');
  });

  test('a caller whose lease has run out cannot park the delivery', async () => {
    const [first] = await trial.lease(handler, { types: [FIRST], limit: 1, lease: 'mine', leaseMs: 5 });
    trial.moveTo(5);
    await trial.store.postpone(leased(first!, 'another'), aPostponement({ parked: true }));
    expect(await trial.store.listParked(trial.account, 1)).toEqual([]);
    expect((await trial.lease(handler, { types: [FIRST] })).length).toBe(PAYMENTS);
  });
}
