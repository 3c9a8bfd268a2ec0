import { jest } from '@jest/globals';
import { PaymentChanges } from '../../../lib/flows/settling/payment-changes.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { PaymentState } from '../../../lib/payment/payment-state.js';
import type { PaymentEventType } from '../../../lib/payment/payment-event.js';
import { advance } from '../../../lib/payment/transitions.js';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../../lib/testing/test-clock.js';
import { logLines } from '../log-lines.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

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

  it.each(MOVES)(
    'replace stores the change from %s to %s with the event %s, and publishes it',
    async (from, to, type) => {
      const record = await addPayment(from);
      const id = `${record.conversationId}:2`;
      expect(await changes.replace(record, advance(record, to, {}, clock.now()))).toBe('replaced');
      expect(await storedEvents()).toEqual(type === null ? [] : [`${id} ${type}`]);
      expect(published).toEqual(type === null ? [] : [id]);
    },
  );

  it.each(FORBIDDEN_MOVES)('refuses the change from %s to %s', (from, to) => {
    expect(() => advance(aPaymentRecord({ state: from }), to, {}, clock.now())).toThrow('cannot go');
  });

  it('stores no event if the state does not change', async () => {
    const record = await addPayment('unknown');
    const settled = await changes.settle(record, (current, now) => advance(current, 'unknown', {}, now));
    expect(settled).toMatchObject({ record: { state: 'unknown', version: 2 } });
    expect(settled.event).toBeUndefined();
    expect(await storedEvents()).toEqual([]);
  });

  it('does not overwrite a payment in a state of a newer release, and logs the outcome', async () => {
    const record = await addPayment('charging');
    const newer = { ...record, state: 'preauthorized' as PaymentState, version: 2 };
    await store.replace(newer, record);
    const approve = (current: PaymentRecord, now: Date): PaymentRecord => advance(current, 'succeeded', {}, now);
    const { record: kept, event } = await changes.settle(record, approve);
    expect([kept.state, event]).toEqual(['preauthorized', undefined]);
    expect(await store.find('default', record.conversationId)).toEqual(newer);
    expect(log).toEqual([expect.stringMatching(/^error Payment .*: succeeded.*: not written, since a newer release/)]);
  });

  it('logs every change except an opening', async () => {
    await changes.insert(aPaymentRecord({ state: 'charging', conversationId: 'OPENS', version: 1 }));
    expect(log).toEqual([]);
    const ended = { state: 'failed', reason: 'not_sent', referenceLock: null } as const;
    await changes.insert(aPaymentRecord({ ...ended, conversationId: 'ENDED', idempotencyKey: null, version: 1 }));
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
    await changes.settle(failed, (current, now) => advance(current, 'review', {}, now));

    const unknown = advance(holder, 'unknown', { reason: 'interrupted' }, clock.now());
    expect(await changes.replace(holder, unknown)).toBe('replaced');
    expect(await store.find('default', 'HOLDER')).toMatchObject({ state: 'unknown' });
    expect(await changes.replace(waiting, advance(waiting, 'authorizing', {}, clock.now()))).toBe('locked');
    expect(await store.find('default', 'WAITS')).toMatchObject({ state: 'awaiting', version: 1 });
  });

  it('settle stores the change with its event, which the caller publishes', async () => {
    const record = await addPayment('charging');
    const settled = await changes.settle(record, (current, now) => advance(current, 'failed', {}, now));
    expect(settled).toMatchObject({ record: { state: 'failed' }, event: { type: 'payment.failed' } });
    expect(await storedEvents()).toEqual([`${record.conversationId}:2 payment.failed`]);
    expect(published).toEqual([]);
    await changes.publish(settled);
    expect(published).toEqual([`${record.conversationId}:2`]);
  });

  it('settle retries as often as another writer is first', async () => {
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
    const { record: settled } = await changes.settle(record, (current, now) => advance(current, 'succeeded', {}, now));
    expect(settled).toMatchObject({ state: 'succeeded', version: 7 });
    expect(await store.find('default', record.conversationId)).toMatchObject({ inquiries: 5 });
  });

  it('settle stores the change with its event and pins the reference if another payment holds it', async () => {
    await store.insert(aPaymentRecord({ state: 'charging', conversationId: 'HOLDER', version: 1 }));
    const record = await addPayment('failed');
    const reason = 'moved_after_all';
    const settled = await changes.settle(record, (current, now) => advance(current, 'review', { reason }, now));
    expect(settled).toMatchObject({ record: { state: 'review', reason }, event: { type: 'payment.review' } });
    expect(await storedEvents()).toEqual([`${record.conversationId}:2 payment.review`]);
    const review = await store.find('default', record.conversationId);
    expect(review).toMatchObject({ state: 'review', version: 2, referenceLock: null, pinsReference: true });

    const replace = jest.spyOn(store, 'replace');
    const resolved = await changes.settle(review!, (current, now) => advance(current, 'succeeded', {}, now));
    expect(resolved).toMatchObject({ record: { state: 'succeeded' }, event: { type: 'payment.succeeded' } });
    expect(replace).toHaveBeenCalledTimes(1);
    const paid = await store.find('default', record.conversationId);
    expect(paid).toMatchObject({ state: 'succeeded', referenceLock: null, pinsReference: true });
  });

  it('settle fails when the store refuses even the pin, and never reports the payment as stored', async () => {
    const record = await addPayment('failed');
    store.replace = () => Promise.resolve('locked');
    await expect(changes.settle(record, (current, now) => advance(current, 'review', {}, now))).rejects.toThrow(
      'The store refused to write a record that takes no lock.',
    );
    expect(log).toEqual([]);
  });

  it('settle takes a free reference without pinning it', async () => {
    const record = await addPayment('failed');
    await changes.settle(record, (current, now) => advance(current, 'review', {}, now));
    const review = await store.find('default', record.conversationId);
    expect(review?.referenceLock).toBe(record.reference);
    expect(review?.pinsReference).toBeUndefined();
  });

  describe('fenceOpening', () => {
    const opening = aPaymentRecord({
      state: 'charging',
      version: 1,
      idempotencyKey: 'key',
      hostIdNonce: '0123456789af',
    });
    const eventId = `${opening.conversationId}:1-0123456789af`;

    it('stores the payment as not sent, with its event, if it was not opened', async () => {
      const settled = await changes.fenceOpening(opening);
      expect(settled).toMatchObject({
        record: { state: 'failed', reason: 'not_sent', version: 1 },
        event: { eventId },
      });
      expect(await storedEvents()).toEqual([`${eventId} payment.failed`]);
      expect(await store.insert(opening)).toBe('conversationId');
    });

    it('fails the payment as not sent, with its event, if it was opened', async () => {
      await store.insert(opening);
      const settled = await changes.fenceOpening(opening);
      expect(settled).toMatchObject({ record: { state: 'failed', reason: 'not_sent', version: 2 } });
      expect(await storedEvents()).toEqual([`${opening.conversationId}:2-0123456789af payment.failed`]);
    });

    it('does not change another attempt under the same conversationId', async () => {
      await store.insert({ ...opening, attemptId: 'another' });
      expect(await changes.fenceOpening(opening)).toMatchObject({ record: { state: 'charging', version: 1 } });
      expect(await storedEvents()).toEqual([]);
    });

    it('ends if a deleted payment had the conversationId, since the opening cannot be applied either', async () => {
      const purged = { state: 'failed', finalizedAt: new Date(0), dueAt: null, referenceLock: null } as const;
      await store.insert({ ...opening, ...purged });
      await store.purge('default', { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 });
      const insert = jest.spyOn(store, 'insert');
      insert.mockImplementation((...given) => {
        if (insert.mock.calls.length > 5) throw new Error('endless loop');
        return MemoryPaymentStore.prototype.insert.apply(store, given);
      });
      const fenced = await changes.fenceOpening(opening);
      expect(fenced).toMatchObject({ record: { state: 'failed', reason: 'not_sent' }, isStored: false });
      expect(fenced.event).toBeUndefined();
      expect(await storedEvents()).toEqual([]);
      expect(await store.insert(opening)).toBe('conversationId');
    });
  });

  it('settle does not change a payment that is already settled', async () => {
    const record = await addPayment('succeeded');
    expect(await changes.settle(record, () => null)).toMatchObject({ record: { state: 'succeeded', version: 1 } });
    expect(await storedEvents()).toEqual([]);
  });

  it('replace and settle reject with the error of the store', async () => {
    const record = await addPayment('charging');
    store.replace = () => Promise.reject(new Error('down'));
    await expect(changes.replace(record, advance(record, 'failed', {}, clock.now()))).rejects.toThrow('down');
    await expect(changes.settle(record, (current, now) => advance(current, 'failed', {}, now))).rejects.toThrow('down');
    expect(published).toEqual([]);
  });
});
