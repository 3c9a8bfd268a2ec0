import { jest } from '@jest/globals';
import { PaymentChanges } from '../../../lib/flows/settling/payment-changes.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { PaymentState } from '../../../lib/payment/payment-state.js';
import type { PaymentEventType } from '../../../lib/payment/payment-event.js';
import { advance } from '../../../lib/payment/transitions.js';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../../../lib/testing/a-payment.js';
import { logLines } from '../log-lines.js';

const TYPES = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payment.unknown',
  'payment.review',
] as const satisfies PaymentEventType[];

/** Every way a payment can go, and the event of it, if there is one. */
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
  ['unknown', 'succeeded', 'payment.succeeded'],
  ['unknown', 'failed', 'payment.failed'],
  ['unknown', 'review', 'payment.review'],
  ['review', 'succeeded', 'payment.succeeded'],
  ['review', 'failed', 'payment.failed'],
  ['failed', 'review', 'payment.review'],
  ['expired', 'review', 'payment.review'],
];
const STATES = [...new Set(MOVES.flatMap(([from, to]) => [from, to]))];
const NO_MOVES = STATES.flatMap((from) => STATES.map((to) => [from, to] as const)).filter(
  ([from, to]) => from !== to && !MOVES.some((move) => move[0] === from && move[1] === to),
);

describe('PaymentChanges', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let changes: PaymentChanges;
  let published: string[];

  beforeEach(async () => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    changes = new PaymentChanges(store, clock, {
      publish: ({ eventId }) => Promise.resolve(void published.push(eventId)),
    });
    await store.announce(
      'default',
      TYPES.map((type) => ({ handlerId: 'handler', type })),
    );
  });

  /** Events that the store holds for handlers, wherever the process ends. */
  async function waiting(): Promise<string[]> {
    await store.fanOut('default', 10);
    const lease = { account: 'default', handlerId: 'handler', types: TYPES, lease: 'lease', leaseMs: 1, limit: 10 };
    return (await store.leaseDeliveries(lease)).map(({ event }) => `${event.eventId} ${event.type}`);
  }

  async function opened(state: PaymentRecord['state']): Promise<PaymentRecord> {
    const record = aPaymentRecord({ state, version: 1 });
    await store.insert(record);
    return record;
  }

  it.each(MOVES)('from %s to %s are written with the event %s, which is published', async (from, to, type) => {
    const record = await opened(from);
    const id = `${record.conversationId}:2`;
    expect(await changes.replace(record, advance(record, to, {}, clock.now()))).toBe('replaced');
    expect(await waiting()).toEqual(type === null ? [] : [`${id} ${type}`]);
    expect(published).toEqual(type === null ? [] : [id]);
  });

  it.each(NO_MOVES)('from %s to %s are not made', (from, to) => {
    expect(() => advance(aPaymentRecord({ state: from }), to, {}, clock.now())).toThrow('cannot go');
  });

  it('without another state are written without an event', async () => {
    const record = await opened('unknown');
    const settled = await changes.settle(record, (current, now) => advance(current, 'unknown', {}, now));
    expect(settled).toMatchObject({ payment: { state: 'unknown', version: 2 } });
    expect(settled.event).toBeUndefined();
    expect(await waiting()).toEqual([]);
  });

  it('are not made of what a newer release has changed meanwhile; an outcome is in the log', async () => {
    const record = await opened('charging');
    const taken = { ...record, state: 'pending' as PaymentState, version: 2 };
    await store.replace(taken, 1);
    const approve = (current: PaymentRecord, now: Date): PaymentRecord => advance(current, 'succeeded', {}, now);
    const { payment, event } = await changes.settle(record, approve);
    expect([payment.state, payment.settled, event]).toEqual(['pending', false, undefined]);
    expect(await store.find('default', record.conversationId)).toEqual(taken);
    expect(log).toEqual([expect.stringMatching(/^error Payment .*: succeeded.*: not written, since a newer release/)]);
  });

  it('are logged, but for what only opens', async () => {
    await changes.insert(aPaymentRecord({ state: 'charging', conversationId: 'OPENS', version: 1 }));
    expect(log).toEqual([]);
    const refused = { state: 'failed', reason: 'reference_taken', referenceLock: null } as const;
    await changes.insert(aPaymentRecord({ ...refused, conversationId: 'REFUSED', idempotencyKey: null, version: 1 }));
    expect(log).toEqual([expect.stringMatching(/^log Payment REFUSED .*failed \(reference_taken/)]);
    expect(await waiting()).toEqual(['REFUSED:1 payment.failed']);
  });

  it('of a payment whose reference another has pinned go on; one that only now wants it gets no claim', async () => {
    const holder = aPaymentRecord({ state: 'charging', conversationId: 'HOLDER', idempotencyKey: null, version: 1 });
    await store.insert(holder);
    const waits = { state: 'awaiting', conversationId: 'WAITS', idempotencyKey: null, version: 1 } as const;
    const later = aPaymentRecord({ ...waits, kind: '3d', referenceLock: null });
    await store.insert(later);
    const failed = await opened('failed');
    await changes.settle(failed, (current, now) => advance(current, 'review', {}, now));

    const unknown = advance(holder, 'unknown', { reason: 'interrupted' }, clock.now());
    expect(await changes.replace(holder, unknown)).toBe('replaced');
    expect(await store.find('default', 'HOLDER')).toMatchObject({ state: 'unknown', pinsReference: true });
    expect(await changes.replace(later, advance(later, 'authorizing', {}, clock.now()))).toBe('locked');
    expect(await store.find('default', 'WAITS')).toMatchObject({ state: 'awaiting', version: 1 });
  });

  it('of a settlement are written with their event; publishing it is left to the caller', async () => {
    const record = await opened('charging');
    const settled = await changes.settle(record, (current, now) => advance(current, 'failed', {}, now));
    expect(settled).toMatchObject({ payment: { state: 'failed' }, event: { type: 'payment.failed' } });
    expect(await waiting()).toEqual([`${record.conversationId}:2 payment.failed`]);
    expect(published).toEqual([]);
    await changes.publish(settled);
    expect(published).toEqual([`${record.conversationId}:2`]);
  });

  it('of a settlement are tried as often as someone else is first', async () => {
    const record = await opened('charging');
    const replace = store.replace.bind(store);
    let others = 0;
    store.replace = async (next, expected, event) => {
      if (others < 5) {
        others += 1;
        const current = (await store.find('default', record.conversationId))!;
        await replace({ ...current, inquiries: others, version: current.version + 1 }, current.version);
      }
      return replace(next, expected, event);
    };
    const { payment } = await changes.settle(record, (current, now) => advance(current, 'succeeded', {}, now));
    expect(payment).toMatchObject({ state: 'succeeded', version: 7 });
    expect(await store.find('default', record.conversationId)).toMatchObject({ inquiries: 5 });
  });

  it('of a settlement are written with their event when another payment holds the reference, and pin that', async () => {
    await store.insert(aPaymentRecord({ state: 'charging', conversationId: 'HOLDER', version: 1 }));
    const record = await opened('failed');
    const reason = 'moved_after_all';
    const settled = await changes.settle(record, (current, now) => advance(current, 'review', { reason }, now));
    expect(settled).toMatchObject({ payment: { state: 'review', reason }, event: { type: 'payment.review' } });
    expect(await waiting()).toEqual([`${record.conversationId}:2 payment.review`]);
    const review = await store.find('default', record.conversationId);
    expect(review).toMatchObject({ state: 'review', version: 2, referenceLock: null, pinsReference: true });

    const replace = jest.spyOn(store, 'replace');
    const resolved = await changes.settle(review!, (current, now) => advance(current, 'succeeded', {}, now));
    expect(resolved).toMatchObject({ payment: { state: 'succeeded' }, event: { type: 'payment.succeeded' } });
    expect(replace).toHaveBeenCalledTimes(1);
    const paid = await store.find('default', record.conversationId);
    expect(paid).toMatchObject({ state: 'succeeded', referenceLock: null, pinsReference: true });
  });

  it('of a settlement say so where a store refuses even the pin, and are never taken for written', async () => {
    const record = await opened('failed');
    store.replace = () => Promise.resolve('locked');
    await expect(changes.settle(record, (current, now) => advance(current, 'review', {}, now))).rejects.toThrow(
      'The store refused to write a payment that pins its reference.',
    );
    expect(log).toEqual([]);
  });

  it('of a settlement take the reference where it is free, and pin nothing', async () => {
    const record = await opened('failed');
    await changes.settle(record, (current, now) => advance(current, 'review', {}, now));
    const review = await store.find('default', record.conversationId);
    expect(review?.referenceLock).toBe(record.reference);
    expect(review?.pinsReference).toBeUndefined();
  });

  describe('that fence an opening', () => {
    const opening = aPaymentRecord({
      state: 'charging',
      version: 1,
      idempotencyKey: 'key',
      hostIdNonce: '0123456789af',
    });
    const eventId = `${opening.conversationId}:1-0123456789af`;

    it('write the payment as not sent where the opening is not there, with its event', async () => {
      const settled = await changes.fenceOpening(opening);
      expect(settled).toMatchObject({
        payment: { state: 'failed', reason: 'not_sent', version: 1 },
        event: { eventId },
      });
      expect(await waiting()).toEqual([`${eventId} payment.failed`]);
      expect(await store.insert(opening)).toBe('conversationId');
    });

    it('end the opening where it is there, with its event', async () => {
      await store.insert(opening);
      const settled = await changes.fenceOpening(opening);
      expect(settled).toMatchObject({ payment: { state: 'failed', reason: 'not_sent', version: 2 } });
      expect(await waiting()).toEqual([`${opening.conversationId}:2-0123456789af payment.failed`]);
    });

    it('leave another attempt under the same conversationId alone', async () => {
      await store.insert({ ...opening, attemptId: 'another' });
      expect(await changes.fenceOpening(opening)).toMatchObject({ payment: { state: 'charging', version: 1 } });
      expect(await waiting()).toEqual([]);
    });

    it('end where the conversationId was that of a payment that is gone: the opening cannot land either', async () => {
      const gone = { state: 'failed', finalizedAt: new Date(0), dueAt: null, referenceLock: null } as const;
      await store.insert({ ...opening, ...gone });
      await store.purge('default', { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 });
      const insert = jest.spyOn(store, 'insert');
      insert.mockImplementation((...given) => {
        if (insert.mock.calls.length > 5) throw new Error('tried for ever');
        return MemoryPaymentStore.prototype.insert.apply(store, given);
      });
      const fenced = await changes.fenceOpening(opening);
      expect(fenced).toMatchObject({ payment: { state: 'failed', reason: 'not_sent', stored: false } });
      expect(fenced.event).toBeUndefined();
      expect(await waiting()).toEqual([]);
      expect(await store.insert(opening)).toBe('conversationId');
    });
  });

  it('leave what a settlement finds settled as it is', async () => {
    const record = await opened('succeeded');
    expect(await changes.settle(record, () => null)).toMatchObject({ payment: { state: 'succeeded', version: 1 } });
    expect(await waiting()).toEqual([]);
  });

  it('reject with what the store throws', async () => {
    const record = await opened('charging');
    store.replace = () => Promise.reject(new Error('down'));
    await expect(changes.replace(record, advance(record, 'failed', {}, clock.now()))).rejects.toThrow('down');
    await expect(changes.settle(record, (current, now) => advance(current, 'failed', {}, now))).rejects.toThrow('down');
    expect(published).toEqual([]);
  });
});
