import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { mysqlPaymentStore, type SqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import { at, eventIds, ids, StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type MariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { until } from '../../../../services/until.js';
import { isAnyoneWaiting } from './sessions.js';

let mariadb: MariaDb;
let store: SqlPaymentStore;
let trial: StoreTrial;
/** Someone else's session. */
let other: Connection;

describe('row locks', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.stop());
  beforeEach(async () => {
    const connectionString = await mariadb.createDatabase();
    const clock = new TestClock(at(0));
    store = mysqlPaymentStore({ connectionString, clock });
    await store.open();
    trial = new StoreTrial(store, store, clock);
    other = await createConnection(connectionString);
  });
  afterEach(async () => {
    await other.end();
    await store.close();
  });

  // With the account, as the store itself looks for them: without it every row would be locked.
  const of = (table: string, key: string) => `${table} where account = '${trial.account}' and ${key}`;
  const ofRefunds = () => `card_payment where account = '${trial.refunds.account}' and conversation_id`;
  const payment = () => of('card_payment', 'conversation_id');
  const event = (account = trial.account) => `card_payment_event where account = '${account}' and event_id`;

  test('payments that are due are leased past one that someone else has locked', async () => {
    const [locked, free] = [await trial.insert({ dueAt: at(0) }), await trial.insert({ dueAt: at(0) })];
    const leased = await whileLocked(payment(), locked.conversationId, () => trial.leaseDue());
    expect(ids(leased)).toEqual([free.conversationId]);
    expect(ids(await trial.leaseDue())).toEqual([locked.conversationId]);
  });

  test('payments are opened, claimed and settled beside one that someone else has locked', async () => {
    const [reference, locked] = ['order-1', await trial.insert({ referenceLock: 'order-0', idempotencyKey: 'key-0' })];
    await whileLocked(payment(), locked.conversationId, async () => {
      const keys = { reference, referenceLock: reference, idempotencyKey: 'key-1' };
      const record = await trial.replace(await trial.insert(keys), { state: 'authorizing' });
      await trial.publish(record, 'succeeded', at(1));
    });
  });

  test('deliveries are leased past one that someone else has locked', async () => {
    const handler = await trial.handler('payment.failed');
    const locked = await trial.publish(await trial.insert(), 'failed', at(1));
    const free = await trial.publish(await trial.insert(), 'failed', at(2));
    await trial.fanOut();
    const delivery = `card_payment_delivery where account = '${trial.account}' and handler_id = '${handler}' and event_id`;
    const leased = await whileLocked(delivery, locked.event.eventId, () => trial.lease(handler));
    expect(eventIds(leased)).toEqual([free.event.eventId]);
  });

  test('payments are purged past one that someone else has locked', async () => {
    const settled = { state: 'failed', finalizedAt: at(1) } as const;
    const [locked, free] = [await trial.insert(settled), await trial.insert(settled)];
    trial.moveTo(1_000);
    expect(await whileLocked(payment(), locked.conversationId, () => trial.purge())).toEqual({
      payments: 1,
      events: 0,
    });
    expect(await trial.find(free)).toBeNull();
    expect(await trial.find(locked)).toEqual(locked);
  });

  test('no payment is purged whose event is being fanned out', async () => {
    const { record, event: its } = await trial.publish(await trial.insert({ finalizedAt: at(1) }), 'failed', at(1));
    trial.moveTo(1_000);
    expect(await whileLocked(event(), its.eventId, () => trial.purge())).toEqual({ payments: 0, events: 0 });
    expect(await trial.find(record)).toEqual(record);
    expect(await trial.purge()).toEqual({ payments: 1, events: 1 });
  });

  test('a payment is not purged while someone else has locked a refund of it, and others are', async () => {
    const settled = { state: 'failed', finalizedAt: at(1), referenceLock: null } as const;
    const [paid, free] = [await trial.insert(settled), await trial.insert(settled)];
    const [first, refund] = [await trial.insertRefund(paid, settled), await trial.insertRefund(paid, settled)];
    trial.moveTo(1_000);
    expect(await whileLocked(ofRefunds(), refund.conversationId, () => trial.purge())).toEqual({
      payments: 1,
      events: 0,
    });
    expect(await trial.find(free)).toBeNull();
    for (const record of [paid, first, refund]) expect(await trial.find(record)).toEqual(record);
    expect(await trial.purge()).toEqual({ payments: 1, events: 0 });
    expect(await trial.refunds.findByReference(paid.conversationId)).toEqual([]);
  });

  test('no payment is purged while an event of its refund is being fanned out', async () => {
    const paid = await trial.insert({ state: 'succeeded', finalizedAt: at(1) });
    const refund = trial.refund(paid, { state: 'failed', finalizedAt: at(1), referenceLock: null });
    const its = trial.event(refund, 'failed');
    await trial.put(refund, its);
    trial.moveTo(1_000);
    const locked = event(trial.refunds.account);
    expect(await whileLocked(locked, its.eventId, () => trial.purge())).toEqual({ payments: 0, events: 0 });
    for (const record of [paid, refund]) expect(await trial.find(record)).toEqual(record);
    expect(await trial.purge()).toEqual({ payments: 1, events: 1 });
  });

  test('keys are forgotten past one that someone else has locked', async () => {
    for (const idempotencyKey of ['locked', 'free']) {
      await trial.insert({ state: 'failed', finalizedAt: at(1), idempotencyKey });
    }
    trial.moveTo(1_000);
    await trial.purge();
    trial.moveTo(2_000);
    const [row] = await select('select cast(key_hash as char) as hash from card_payment_key');
    const { hash } = row as { hash: string };
    await whileLocked(of('card_payment_key', 'key_hash'), hash, () => trial.purge({ paymentsMs: null, keysMs: 500 }));
    expect(await select('select cast(key_hash as char) as hash from card_payment_key')).toEqual([{ hash }]);
  });

  test('no event is fanned out before an earlier one of its payment, which a purge has locked', async () => {
    const handler = await trial.handler('payment.unknown', 'payment.succeeded');
    const first = await trial.publish(await trial.insert(), 'unknown', at(1));
    const second = await trial.publish(first.record, 'succeeded', at(2));
    expect(await whileLocked(event(), first.event.eventId, () => trial.fanOut())).toBe(0);
    expect(await trial.lease(handler)).toEqual([]);
    expect(await trial.fanOut()).toBe(2);
    expect(await trial.drain(handler)).toEqual([first.event.eventId, second.event.eventId]);
  });

  const FAN_OUT_LOCK = 'select 1 from card_payment_handler where account = ? for update';

  test("fan-out of an account waits for another process that is at it, and for nobody else's", async () => {
    await trial.handler('payment.failed');
    await store.announce(`${trial.account}-other`, [{ handlerId: 'other', type: 'payment.failed' }]);
    await trial.publish(await trial.insert(), 'failed', at(1));
    await other.query('begin');
    await select(FAN_OUT_LOCK, `${trial.account}-other`);
    expect(await trial.fanOut()).toBe(1);
    await other.query('rollback');
    await trial.publish(await trial.insert(), 'failed', at(2));
    await other.query('begin');
    await select(FAN_OUT_LOCK, trial.account);
    let isDone = false;
    const fannedOut = trial.fanOut().finally(() => (isDone = true));
    await until(async () => isDone || (await isAnyoneWaiting(other)));
    expect(isDone).toBe(false);
    await other.query('rollback');
    expect(await fannedOut).toBe(1);
  });

  test('a pair is forgotten after a fan-out that is under way, with what that makes for it', async () => {
    const handler = await trial.handler('payment.failed');
    const { event: its } = await trial.publish(await trial.insert(), 'failed', at(1));
    trial.moveTo(1_000);
    await other.query('begin');
    await select(FAN_OUT_LOCK, trial.account);
    await other.query(
      `insert into card_payment_delivery
       select account, ?, event_id, conversation_id, version, type, occurred_at, 0, 0, null, null, 0
       from card_payment_event where account = ? and event_id = ?`,
      [handler, trial.account, its.eventId],
    );
    let isPurged = false;
    const purged = trial.purge({ pairsMs: 500 }).then(() => (isPurged = true));
    await until(async () => isPurged || (await isAnyoneWaiting(other)));
    await other.query('commit');
    await purged;
    expect(await select('select event_id from card_payment_delivery')).toEqual([]);
  });

  test('a purge under way holds up no event of another payment', async () => {
    const handlerId = await trial.handler('payment.succeeded');
    const old = await trial.insert({ state: 'failed', finalizedAt: at(0) });
    const { event: its } = await trial.publish(await trial.insert(), 'succeeded', at(60_000));
    trial.moveTo(60_000);
    await other.query('begin');
    const history = 'select 1 from card_payment_history where account = ? and conversation_id = ? for update';
    await select(history, trial.account, old.conversationId);
    const purged = trial.purge({ paymentsMs: 1_000 });
    await until(() => isAnyoneWaiting(other));
    const delivered = eventIds(await trial.take(handlerId));
    await other.query('commit');
    expect(delivered).toEqual([its.eventId]);
    expect(await purged).toEqual({ payments: 1, events: 0 });
  });

  test('what others write beside the keys of a payment is not held up: no gap is locked', async () => {
    // Rows before, between and after those of others, in every index.
    const holder = await trial.insert({ conversationId: 'M', reference: 'M', referenceLock: 'M', idempotencyKey: 'M' });
    await other.query('begin');
    const held = trial.next(holder, { state: 'authorizing' });
    await other.query(`update card_payment set version = 2 where account = ? and conversation_id = 'M'`, [
      trial.account,
    ]);
    await other.query(`insert into card_payment_reference_lock values (?, 'P', 'elsewhere')`, [trial.account]);
    const began = performance.now();
    for (const name of ['A', 'L', 'N', 'O', 'Q', 'Z']) {
      const keys = { conversationId: name, reference: name, referenceLock: name, idempotencyKey: name };
      const opened = await trial.insert({ ...keys, tokenHash: name });
      await trial.publish(await trial.replace(opened, { referenceLock: null, idempotencyKey: null }), 'failed', at(1));
    }
    expect(performance.now() - began).toBeLessThan(4_000);
    await other.query('rollback');
    expect(await store.replace(held, 1)).toBe('replaced');
  });
});

async function select(sql: string, ...values: string[]): Promise<RowDataPacket[]> {
  return (await other.query<RowDataPacket[]>(sql, values))[0];
}

/** Runs work while someone else has locked these rows. What waits for them rejects after ten seconds. */
async function whileLocked<T>(rows: string, key: string, work: () => Promise<T>): Promise<T> {
  await other.query('begin');
  expect(await select(`select 1 from ${rows} = ? for update`, key)).toHaveLength(1);
  const began = performance.now();
  try {
    return await work();
  } finally {
    expect(performance.now() - began).toBeLessThan(4_000);
    await other.query('rollback');
  }
}
