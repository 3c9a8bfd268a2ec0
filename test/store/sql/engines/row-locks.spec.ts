import { MAX_WAIT_MS, type PaymentStore } from '../../../../lib/store/payment-store.js';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { at, eventIds, ids, StoreTrial } from '../../contract/store-trial.js';
import { TestClock } from 'nestjs-card-payment/testing';
import { fanOutLock, type Session, SQL_SERVERS, type SqlServer } from '../../../rigs/sql-servers.js';
import type { SharedStore } from '../../../rigs/shared-stores.js';
import { suiteStore } from '../../../rigs/suite-stores.js';
import { until } from '../../../services/until.js';

const SERVERS = Object.entries(SQL_SERVERS) as [keyof typeof SQL_SERVERS, SqlServer][];

describe.each(SERVERS)('beside a session that has locked rows, on %s', (name, database) => {
  let server: SharedStore;
  let store: PaymentStore;
  let trial: StoreTrial;
  /** Someone else's session. */
  let other: Session;

  beforeAll(async () => {
    server = await suiteStore(name);
  });
  beforeEach(async () => {
    const url = await server.create();
    const clock = new TestClock(at(0));
    store = await openSqlStore(url, { clock });
    await store.open();
    trial = new StoreTrial(store, store, clock);
    other = await database.connect(url);
  });
  afterEach(async () => {
    await other.end();
    await store.close();
  });

  /** Locks these rows of the account, as the store itself looks for them: by the whole key, or all would be locked. */
  const lock = async (table: string, key: Readonly<Record<string, string>>, account = trial.account): Promise<void> => {
    await other.run('begin');
    const where = Object.entries({ account, ...key }).map(([column, value]) => `${column} = '${value}'`);
    expect(await other.run(`select 1 from ${table} where ${where.join(' and ')} for update`)).toHaveLength(1);
  };

  /** Runs work while they are locked. What waits for them would reject after five or ten seconds. */
  const whileLocked = async <T>(locking: Promise<void>, work: () => Promise<T>): Promise<T> => {
    await locking;
    const began = performance.now();
    try {
      return await work();
    } finally {
      expect(performance.now() - began).toBeLessThan(4_000);
      await other.run('rollback');
    }
  };

  const payment = (conversationId: string, account?: string) =>
    lock('card_payment', { conversation_id: conversationId }, account);
  /** An event that waits, and is being fanned out or purged. */
  const event = (eventId: string, account?: string) =>
    lock('card_payment_delivery', { handler_id: '', event_id: eventId }, account);

  test('payments that are due are leased past one', async () => {
    const [locked, free] = [await trial.insert({ dueAt: at(0) }), await trial.insert({ dueAt: at(0) })];
    const leased = await whileLocked(payment(locked.conversationId), () => trial.leaseDue());
    expect(ids(leased)).toEqual([free.conversationId]);
    expect(ids(await trial.leaseDue())).toEqual([locked.conversationId]);
  });

  test('deliveries are leased past one', async () => {
    const handler = await trial.handler('payment.failed');
    const locked = await trial.publish(await trial.insert(), 'failed', at(1));
    const free = await trial.publish(await trial.insert(), 'failed', at(2));
    await trial.fanOut();
    const delivery = lock('card_payment_delivery', { handler_id: handler, event_id: locked.event.eventId });
    const leased = await whileLocked(delivery, () => trial.lease(handler));
    expect(eventIds(leased)).toEqual([free.event.eventId]);
  });

  test.each([false, true])('payments are purged past one, with a refund that is locked: %s', async (isOfRefund) => {
    const settled = { state: 'failed', finalizedAt: at(1), referenceLock: null } as const;
    const [locked, free] = [await trial.insert(settled), await trial.insert(settled)];
    const refund = await trial.insertRefund(locked, settled);
    trial.moveTo(1_000);
    const { conversationId } = isOfRefund ? refund : locked;
    const purged = await whileLocked(payment(conversationId), () => trial.purge());
    expect(purged).toEqual({ payments: 1, events: 0, unheard: 0 });
    expect([await trial.find(free), await trial.find(locked)]).toEqual([null, locked]);
  });

  /** Which row of a payment with two refunds, the second with an event, or of that event, someone has locked. */
  test.each(['the payment', 'its event', 'a refund of it', 'an event of a refund of it'])(
    'a payment is not purged while %s is locked',
    async (what) => {
      const settled = { state: 'failed', updatedAt: at(1), finalizedAt: at(1), referenceLock: null } as const;
      const paid = await trial.putWithEvent(trial.record(settled));
      const [first, refund] = [await trial.insertRefund(paid, settled), trial.refund(paid, settled)];
      await trial.putWithEvent(refund);
      trial.moveTo(2 * MAX_WAIT_MS);
      const { conversationId } = what.includes('refund') ? refund : paid;
      const locked = what.includes('event') ? event(`${conversationId}:1`) : payment(conversationId);
      expect(await whileLocked(locked, () => trial.purge())).toEqual({ payments: 0, events: 0, unheard: 0 });
      await trial.expectStored(paid, first, refund);
      expect(await trial.purge()).toEqual({ payments: 1, events: 2, unheard: 2 });
      await trial.expectGone(paid, first, refund);
    },
  );

  test('keys are forgotten past one', async () => {
    for (const idempotencyKey of ['locked', 'free']) {
      await trial.insert({ state: 'failed', finalizedAt: at(1), idempotencyKey });
    }
    trial.moveTo(1_000);
    await trial.purge();
    trial.moveTo(2_000);
    const names = `select ${database.keyText('name')} as name from card_payment_name`;
    const [row] = (await other.run(names)) as { name: string }[];
    const locked = lock('card_payment_name', { name: row!.name });
    await whileLocked(locked, () => trial.purge({ paymentsMs: null, keysMs: 500 }));
    expect(await other.run(names)).toEqual([row]);
  });

  test('no event is delivered before an earlier one of its payment, which a purge has locked', async () => {
    const handler = await trial.handler('payment.unknown', 'payment.succeeded');
    const first = await trial.publish(await trial.insert(), 'unknown', at(1));
    const second = await trial.publish(first.record, 'succeeded', at(2));
    expect(await whileLocked(event(first.event.eventId), () => trial.fanOut())).toBe(1);
    expect(await trial.lease(handler)).toEqual([]);
    expect(await trial.fanOut()).toBe(1);
    expect(await trial.drain(handler)).toEqual([first.event.eventId, second.event.eventId]);
  });

  test("a fan-out heeds another process that is at the account's, and nobody else's", async () => {
    const handler = await trial.handler('payment.failed');
    await store.announce(`${trial.account}-other`, [{ handlerId: 'other', type: 'payment.failed' }]);
    await trial.publish(await trial.insert(), 'failed', at(1));
    await other.run('begin');
    await other.run(fanOutLock(`${trial.account}-other`, 'other'));
    expect(await trial.fanOut()).toBe(1);
    await other.run('rollback');
    await trial.publish(await trial.insert(), 'failed', at(2));
    await other.run('begin');
    await other.run(fanOutLock(trial.account, handler));
    let isDone = false;
    const fannedOut = trial.fanOut().finally(() => (isDone = true));
    await until(async () => isDone || (await database.isAnyoneWaiting(other)));
    expect(isDone).toBe(false);
    await other.run('rollback');
    expect(await fannedOut).toBe(1);
  });

  test('a pair is forgotten after a fan-out that is under way, with what that makes for it', async () => {
    const handler = await trial.handler('payment.failed');
    const { event: its } = await trial.publish(await trial.insert(), 'failed', at(1));
    trial.moveTo(1_000);
    await other.run('begin');
    await other.run(fanOutLock(trial.account, handler));
    await other.run(
      `insert into card_payment_delivery
       select account, '${handler}', event_id, conversation_id, version, type, occurred_at, 0, 0, null, null, 0
       from card_payment_delivery where account = '${trial.account}' and event_id = '${its.eventId}'`,
    );
    let isPurged = false;
    const purged = trial.purge({ pairsMs: 500 }).then(() => (isPurged = true));
    await until(async () => isPurged || (await database.isAnyoneWaiting(other)));
    await other.run('commit');
    await purged;
    expect(await other.run(`select event_id from card_payment_delivery where handler_id <> ''`)).toEqual([]);
  });

  test('a purge under way holds up no event of another payment', async () => {
    const handlerId = await trial.handler('payment.succeeded');
    const old = await trial.insert({ state: 'failed', finalizedAt: at(0) });
    const { event: its } = await trial.publish(await trial.insert(), 'succeeded', at(60_000));
    trial.moveTo(60_000);
    await lock('card_payment_version', { conversation_id: old.conversationId });
    const purged = trial.purge({ paymentsMs: 1_000 });
    await until(() => database.isAnyoneWaiting(other, '%delete%version%'));
    const delivered = eventIds(await trial.take(handlerId));
    await other.run('commit');
    expect(delivered).toEqual([its.eventId]);
    expect(await purged).toEqual({ payments: 1, events: 0, unheard: 0 });
  });

  test('payments are opened, changed and settled beside one, and beside its keys: no gap is locked', async () => {
    // Rows before, between and after those of others, in every index.
    const holder = await trial.insert({ conversationId: 'M', reference: 'M', referenceLock: 'M', idempotencyKey: 'M' });
    const { account } = trial;
    await other.run('begin');
    await other.run(`update card_payment set version = 2 where account = '${account}' and conversation_id = 'M'`);
    await other.run(`insert into card_payment_name values ('${account}', 'lock:P', 'elsewhere', null)`);
    const began = performance.now();
    for (const name of ['A', 'L', 'N', 'O', 'Q', 'Z']) {
      const keys = { conversationId: name, reference: name, referenceLock: name, idempotencyKey: name };
      const opened = await trial.insert({ ...keys, tokenHash: name });
      await trial.publish(await trial.replace(opened, { referenceLock: null, idempotencyKey: null }), 'failed', at(1));
    }
    expect(performance.now() - began).toBeLessThan(4_000);
    await other.run('rollback');
    expect(await store.replace(trial.next(holder, { state: 'authorizing' }), holder)).toBe('replaced');
  });
});
