import { jest } from '@jest/globals';
import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentState } from '../../lib/payment/states.js';
import type { PaymentEvent, PaymentEventType } from '../../lib/payment/payment-event.js';
import { advance } from '../../lib/payment/transitions.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { NO_HOLD, RULES } from '../operations/assembled-flows.js';
import { logLines } from '../operations/log-lines.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const TYPES = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payment.unknown',
  'payment.review',
] as const satisfies PaymentEventType[];

/** Every transition between states, with its event, if it has one. */
const MOVES: readonly (readonly [PaymentState, PaymentState, PaymentEventType | null])[] = [
  ['charging', 'succeeded', 'payment.succeeded'],
  ['charging', 'failed', 'payment.failed'],
  ['charging', 'unknown', 'payment.unknown'],
  ['charging', 'review', 'payment.review'],
  ['initiating', 'awaiting', null],
  ['initiating', 'failed', 'payment.failed'],
  ['initiating', 'expired', 'payment.expired'],
  ['awaiting', 'authorizing', null],
  ['awaiting', 'expired', 'payment.expired'],
  ['awaiting', 'failed', 'payment.failed'],
  ['authorizing', 'succeeded', 'payment.succeeded'],
  ['authorizing', 'failed', 'payment.failed'],
  ['authorizing', 'unknown', 'payment.unknown'],
  ['authorizing', 'review', 'payment.review'],
  ['initiating', 'pending', null],
  ['pending', 'succeeded', 'payment.succeeded'],
  ['pending', 'expired', 'payment.expired'],
  ['pending', 'unknown', 'payment.unknown'],
  ['pending', 'review', 'payment.review'],
  ['unknown', 'succeeded', 'payment.succeeded'],
  ['unknown', 'expired', 'payment.expired'],
  ['unknown', 'failed', 'payment.failed'],
  ['unknown', 'review', 'payment.review'],
  ['review', 'succeeded', 'payment.succeeded'],
  ['review', 'failed', 'payment.failed'],
  ['failed', 'review', 'payment.review'],
  ['expired', 'review', 'payment.review'],
];
const STATES = [...new Set(MOVES.flatMap(([from, to]) => [from, to]))];
const FORBIDDEN_MOVES = STATES.flatMap((from) => STATES.map((to) => [from, to] as const)).filter(
  ([from, to]) => from !== to && !MOVES.some((move) => move[0] === from && move[1] === to),
);

describe('a change of a payment', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let owed: OwedWrites;
  let writer: PaymentWriter;
  let published: string[];

  beforeEach(async () => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    owed = new OwedWrites(clock, NO_HOLD);
    const events = { publish: ({ eventId }: PaymentEvent) => Promise.resolve(void published.push(eventId)) };
    writer = new PaymentWriter(store, clock, events, owed, RULES);
    await store.announce(
      'default',
      TYPES.map((type) => ({ handlerId: 'handler', type })),
    );
  });

  /** The events that the store holds for handlers. */
  async function storedEvents(): Promise<string[]> {
    await store.fanOut('default', 10);
    const lease = { account: 'default', handlerId: 'handler', types: TYPES, lease: 'lease', leaseMs: 1, limit: 10 };
    return (await store.leaseDeliveries(lease)).map(({ event }) => `${event.eventId} ${event.type}`);
  }

  async function addPayment(state: PaymentRecord['state']): Promise<PaymentRecord> {
    const record = aPaymentRecord({ state, version: 1 });
    await store.insert(record);
    return record;
  }

  it.each(MOVES)('from %s to %s is stored with the event %s, which is published', async (from, to, type) => {
    const record = await addPayment(from);
    const id = `${record.conversationId}:2`;
    expect(await writer.move(record, to)).toMatchObject({ outcome: 'replaced', record: { state: to } });
    expect(await storedEvents()).toEqual(type === null ? [] : [`${id} ${type}`]);
    expect(published).toEqual(type === null ? [] : [id]);
  });

  it.each(FORBIDDEN_MOVES)('from %s to %s is refused', (from, to) => {
    expect(() => advance(aPaymentRecord({ state: from }), to, {}, clock.now())).toThrow('cannot go');
  });

  it('stores no event if the state does not change', async () => {
    const record = await addPayment('unknown');
    const settled = await writer.settle(record, (current, now) => advance(current, 'unknown', {}, now));
    expect(settled).toMatchObject({ record: { state: 'unknown', version: 2 } });
    expect([await storedEvents(), published]).toEqual([[], []]);
  });

  it('does not overwrite a payment in a state of a newer release, and logs the outcome', async () => {
    const record = await addPayment('charging');
    const newer = { ...record, state: 'preauthorized' as PaymentState, version: 2 };
    await store.replace(newer, record);
    const { record: kept } = await writer.settle(record, (current, now) => advance(current, 'succeeded', {}, now));
    expect([kept.state, published]).toEqual(['preauthorized', []]);
    expect(await store.find('default', record.conversationId)).toEqual(newer);
    expect(log).toEqual([expect.stringMatching(/^error Payment .*: succeeded.*: not written, since a newer release/)]);
  });

  it('is logged, unless it is an opening', async () => {
    await writer.open(aPaymentRecord({ state: 'charging', conversationId: 'OPENS', version: 1 }));
    expect(log).toEqual([]);
    const ended = { state: 'failed', reason: 'not_sent', referenceLock: null } as const;
    await writer.open(aPaymentRecord({ ...ended, conversationId: 'ENDED', idempotencyKey: null, version: 1 }));
    expect(log).toEqual([expect.stringMatching(/^log Payment ENDED .*failed \(not_sent/)]);
    expect(await storedEvents()).toEqual(['ENDED:1 payment.failed']);
  });

  it('still moves the holder of a reference that another payment has pinned, but lets no other payment claim it', async () => {
    const holder = aPaymentRecord({ state: 'charging', conversationId: 'HOLDER', idempotencyKey: null, version: 1 });
    await store.insert(holder);
    const later = { state: 'awaiting', conversationId: 'WAITS', idempotencyKey: null, version: 1 } as const;
    const waiting = aPaymentRecord({ ...later, kind: '3d', referenceLock: null });
    await store.insert(waiting);
    const failed = await addPayment('failed');
    await writer.settle(failed, (current, now) => advance(current, 'review', {}, now));

    expect(await writer.move(holder, 'unknown', { reason: 'interrupted' })).toMatchObject({ outcome: 'replaced' });
    expect(await store.find('default', 'HOLDER')).toMatchObject({ state: 'unknown' });
    expect(await writer.claim(waiting, { dueAt: clock.now(), attemptId: 'one' })).toMatchObject({ outcome: 'locked' });
    expect(await store.find('default', 'WAITS')).toMatchObject({ state: 'awaiting', version: 1 });
  });

  it('is tried as often as another writer is first', async () => {
    const record = await addPayment('charging');
    const replace = store.replace.bind(store);
    let others = 0;
    store.replace = async (next, previous, event) => {
      if (others < 5) {
        others += 1;
        const current = (await store.find('default', record.conversationId))!;
        await replace({ ...current, inquiries: others, version: current.version + 1 }, current);
      }
      return replace(next, previous, event);
    };
    const settled = await writer.settle(record, (current, now) => advance(current, 'succeeded', {}, now));
    expect(settled.record).toMatchObject({ state: 'succeeded', version: 7 });
    expect(await store.find('default', record.conversationId)).toMatchObject({ inquiries: 5 });
  });

  it('is stored with its event and pins the reference if another payment holds it', async () => {
    await store.insert(aPaymentRecord({ state: 'charging', conversationId: 'HOLDER', version: 1 }));
    const record = await addPayment('failed');
    const reason = 'moved_after_all';
    const settled = await writer.settle(record, (current, now) => advance(current, 'review', { reason }, now));
    expect(settled).toMatchObject({ record: { state: 'review', reason }, isStored: true });
    expect(await storedEvents()).toEqual([`${record.conversationId}:2 payment.review`]);
    const review = await store.find('default', record.conversationId);
    expect(review).toMatchObject({ state: 'review', version: 2, referenceLock: null, pinsReference: true });

    const replace = jest.spyOn(store, 'replace');
    const resolved = await writer.settle(review!, (current, now) => advance(current, 'succeeded', {}, now));
    expect(resolved).toMatchObject({ record: { state: 'succeeded' }, isStored: true });
    expect(replace).toHaveBeenCalledTimes(1);
    const paid = await store.find('default', record.conversationId);
    expect(paid).toMatchObject({ state: 'succeeded', referenceLock: null, pinsReference: true });
  });

  it('is owed when the store refuses even the pin, and never reported as stored', async () => {
    const record = await addPayment('failed');
    store.replace = () => Promise.resolve('locked');
    const settled = await writer.settle(record, (current, now) => advance(current, 'review', {}, now));
    expect([settled.isStored, owed.count, published]).toEqual([false, 1, []]);
    expect(log).toEqual([expect.stringContaining('the store did not accept this')]);
  });

  it('takes a free reference without pinning it', async () => {
    const record = await addPayment('failed');
    await writer.settle(record, (current, now) => advance(current, 'review', {}, now));
    const review = await store.find('default', record.conversationId);
    expect(review?.referenceLock).toBe(record.reference);
    expect(review?.pinsReference).toBeUndefined();
  });

  describe('an opening that is not confirmed', () => {
    const nonce = '0123456789af';
    const opening = aPaymentRecord({ state: 'charging', version: 1, idempotencyKey: 'key', hostIdNonce: nonce });
    const ID = opening.conversationId;

    /** Opens it while the store confirms nothing; then the store works again, and the fence is written. */
    async function fenceIt(): Promise<void> {
      const insert = store.insert.bind(store);
      store.insert = () => Promise.reject(new Error('down'));
      await expect(writer.open(opening)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
      store.insert = insert;
      expect(await owed.writeAll()).toBe(1);
      expect(owed.count).toBe(0);
    }

    it('is stored as not sent, with its event, if it was not applied', async () => {
      await fenceIt();
      expect(await store.find('default', ID)).toMatchObject({ state: 'failed', reason: 'not_sent', version: 1 });
      expect(await storedEvents()).toEqual([`${ID}:1-${nonce} payment.failed`]);
      expect(published).toEqual([`${ID}:1-${nonce}`]);
      expect(await store.insert(opening)).toBe('conversationId');
    });

    it('fails as not sent, with its event, if it was applied', async () => {
      await store.insert(opening);
      await fenceIt();
      expect(await store.find('default', ID)).toMatchObject({ state: 'failed', reason: 'not_sent', version: 2 });
      expect(await storedEvents()).toEqual([`${ID}:2-${nonce} payment.failed`]);
    });

    it('does not change another attempt under the same conversationId', async () => {
      await store.insert({ ...opening, attemptId: 'another' });
      await fenceIt();
      expect(await store.find('default', ID)).toMatchObject({ state: 'charging', version: 1 });
      expect(await storedEvents()).toEqual([]);
    });

    it('needs no fence if a deleted payment had the conversationId, since it cannot be applied either', async () => {
      const purged = { state: 'failed', finalizedAt: new Date(0), dueAt: null, referenceLock: null } as const;
      await store.insert({ ...opening, ...purged });
      await store.purge('default', { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 });
      await fenceIt();
      expect(await storedEvents()).toEqual([]);
      expect(await store.insert(opening)).toBe('conversationId');
    });
  });

  it('is none if the payment is already settled', async () => {
    const record = await addPayment('succeeded');
    expect(await writer.settle(record, () => null)).toMatchObject({ record: { state: 'succeeded', version: 1 } });
    expect(await storedEvents()).toEqual([]);
  });
});
