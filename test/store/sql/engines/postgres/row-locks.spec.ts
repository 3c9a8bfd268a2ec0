import pg from 'pg';
import { postgresPaymentStore, type SqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import { at, eventIds, ids, StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { until } from '../../../../services/until.js';

let postgres: Postgres;
let store: SqlPaymentStore;
let trial: StoreTrial;
/** Someone else's session. */
let other: pg.Client;

describe('row locks', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    const connectionString = await postgres.createDatabase();
    const clock = new TestClock(at(0));
    store = postgresPaymentStore({ connectionString, clock });
    await store.open();
    trial = new StoreTrial(store, store, clock);
    other = new pg.Client({ connectionString });
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await store.close();
  });

  const PAYMENT = 'card_payment where conversation_id';
  const EVENT = 'card_payment_event where event_id';
  const DELIVERY = 'card_payment_delivery where event_id';
  const KEY = 'card_payment_key where key_hash';

  test('payments that are due are leased past one that someone else has locked', async () => {
    const [locked, free] = [await trial.insert({ dueAt: at(0) }), await trial.insert({ dueAt: at(0) })];
    const leased = await whileLocked(PAYMENT, locked.conversationId, () => trial.leaseDue());
    expect(ids(leased)).toEqual([free.conversationId]);
    expect(ids(await trial.leaseDue())).toEqual([locked.conversationId]);
  });

  test('deliveries are leased past one that someone else has locked', async () => {
    const handler = await trial.handler('payment.failed');
    const locked = await trial.publish(await trial.insert(), 'failed', at(1));
    const free = await trial.publish(await trial.insert(), 'failed', at(2));
    await trial.fanOut();
    const leased = await whileLocked(DELIVERY, locked.event.eventId, () => trial.lease(handler));
    expect(eventIds(leased)).toEqual([free.event.eventId]);
  });

  test('payments are purged past one that someone else has locked', async () => {
    const settled = { state: 'failed', finalizedAt: at(1) } as const;
    const [locked, free] = [await trial.insert(settled), await trial.insert(settled)];
    trial.moveTo(1_000);
    expect(await whileLocked(PAYMENT, locked.conversationId, () => trial.purge())).toEqual({ payments: 1, events: 0 });
    expect(await trial.find(free)).toBeNull();
    expect(await trial.find(locked)).toEqual(locked);
  });

  test('no payment is purged whose event is being fanned out', async () => {
    const { record, event } = await trial.publish(await trial.insert({ finalizedAt: at(1) }), 'failed', at(1));
    trial.moveTo(1_000);
    expect(await whileLocked(EVENT, event.eventId, () => trial.purge())).toEqual({ payments: 0, events: 0 });
    expect(await trial.find(record)).toEqual(record);
    expect(await trial.purge()).toEqual({ payments: 1, events: 1 });
  });

  test('a payment is not purged while someone else has locked a refund of it, and others are', async () => {
    const settled = { state: 'failed', finalizedAt: at(1), referenceLock: null } as const;
    const [payment, free] = [await trial.insert(settled), await trial.insert(settled)];
    const [first, refund] = [await trial.insertRefund(payment, settled), await trial.insertRefund(payment, settled)];
    trial.moveTo(1_000);
    expect(await whileLocked(PAYMENT, refund.conversationId, () => trial.purge())).toEqual({ payments: 1, events: 0 });
    expect(await trial.find(free)).toBeNull();
    for (const record of [payment, first, refund]) expect(await trial.find(record)).toEqual(record);
    expect(await trial.purge()).toEqual({ payments: 1, events: 0 });
    expect(await trial.refunds.findByReference(payment.conversationId)).toEqual([]);
  });

  test('no payment is purged while an event of its refund is being fanned out', async () => {
    const payment = await trial.insert({ state: 'succeeded', finalizedAt: at(1) });
    const refund = trial.refund(payment, { state: 'failed', finalizedAt: at(1), referenceLock: null });
    const event = trial.event(refund, 'failed');
    await trial.put(refund, event);
    trial.moveTo(1_000);
    expect(await whileLocked(EVENT, event.eventId, () => trial.purge())).toEqual({ payments: 0, events: 0 });
    for (const record of [payment, refund]) expect(await trial.find(record)).toEqual(record);
    expect(await trial.purge()).toEqual({ payments: 1, events: 1 });
  });

  test('keys are forgotten past one that someone else has locked', async () => {
    for (const idempotencyKey of ['locked', 'free']) {
      await trial.insert({ state: 'failed', finalizedAt: at(1), idempotencyKey });
    }
    trial.moveTo(1_000);
    await trial.purge();
    trial.moveTo(2_000);
    const { rows } = await other.query<{ key_hash: string }>('select key_hash from card_payment_key');
    await whileLocked(KEY, rows[0]!.key_hash, () => trial.purge({ paymentsMs: null, keysMs: 500 }));
    expect((await other.query('select key_hash from card_payment_key')).rows).toEqual([rows[0]]);
  });

  test('no event is fanned out before an earlier one of its payment, which a purge has locked', async () => {
    const handler = await trial.handler('payment.unknown', 'payment.succeeded');
    const first = await trial.publish(await trial.insert(), 'unknown', at(1));
    const second = await trial.publish(first.record, 'succeeded', at(2));
    expect(await whileLocked(EVENT, first.event.eventId, () => trial.fanOut())).toBe(0);
    expect(await trial.lease(handler)).toEqual([]);
    expect(await trial.fanOut()).toBe(2);
    expect(await trial.drain(handler)).toEqual([first.event.eventId, second.event.eventId]);
  });

  test("fan-out of an account gives way to another process that is at it, and to nobody else's", async () => {
    const lock = (account: string) =>
      other.query('select pg_advisory_lock(hashtextextended($1, 0))', [`card_payment ${account}`]);
    await trial.handler('payment.failed');
    await trial.publish(await trial.insert(), 'failed', at(1));
    await lock(trial.account);
    expect(await trial.fanOut()).toBe(0);
    await other.query('select pg_advisory_unlock_all()');
    await lock(`${trial.account}-other`);
    expect(await trial.fanOut()).toBe(1);
  });

  test('a pair is forgotten after a fan-out that is under way, with what that makes for it', async () => {
    const handler = await trial.handler('payment.failed');
    const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
    trial.moveTo(1_000);
    await other.query('begin');
    await other.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`card_payment ${trial.account}`]);
    await other.query(
      `insert into card_payment_delivery
       select account, $1, event_id, conversation_id, version, type, occurred_at, 0, 0, null, null, 0
       from card_payment_event where event_id = $2`,
      [handler, event.eventId],
    );
    let isPurged = false;
    const purged = trial.purge({ pairsMs: 500 }).then(() => (isPurged = true));
    const waiting = `select pid from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`;
    await until(async () => isPurged || (await other.query(waiting)).rowCount !== 0);
    await other.query('commit');
    await purged;
    expect((await other.query('select event_id from card_payment_delivery')).rows).toEqual([]);
  });
});

/** Runs work while someone else has locked these rows. What waits for them rejects after five seconds. */
async function whileLocked<T>(rows: string, key: string, work: () => Promise<T>): Promise<T> {
  await other.query('begin');
  expect((await other.query(`select from ${rows} = $1 for update`, [key])).rowCount).toBe(1);
  try {
    return await work();
  } finally {
    await other.query('rollback');
  }
}
