import { jest } from '@jest/globals';
import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import type { Settlement } from '../../lib/settlement/outcomes.js';
import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { factsOf, type PaymentState, SALE_STATES } from '../../lib/payment/states.js';
import { advance } from '../../lib/payment/transitions.js';
import type { RefusedKey } from '../../lib/store/payment-store.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { NO_HOLD, RULES } from '../operations/assembled-flows.js';
import { logLines } from '../operations/log-lines.js';
import { isOver, quiet } from '../operations/test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const PUBLISHED = ['succeeded', 'failed', 'expired', 'unknown', 'review'] as const;
const TYPES = PUBLISHED.map((state) => `payment.${state}` as const);
/** The arrows of the table of states, which test/payment writes out a second time. */
const MOVES = SALE_STATES.flatMap((from) =>
  Object.keys(factsOf(from).to).map((to) => [from, to as PaymentState] as const),
);
const CHARGING = aPaymentRecord({ state: 'charging', version: 1 });
const ID = CHARGING.conversationId;
const LINE = `Payment ${ID} of order-1, 149.90 TRY:`;
const succeed: Settlement = (record, now) =>
  record.state === 'succeeded' ? null : advance(record, 'succeeded', { code: 'B0000' }, now);
const note: Settlement = (record, now) => advance(record, record.state, { inquiries: 1 }, now);
const review: Settlement = (record, now) => advance(record, 'review', { reason: 'moved_after_all' }, now);

describe('PaymentWriter', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let owed: OwedWrites;
  let writer: PaymentWriter;
  let published: string[];
  /** Resolves when the handlers of a published event have run. */
  let publishing: Promise<void>;

  beforeEach(async () => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    publishing = Promise.resolve();
    owed = new OwedWrites(clock, NO_HOLD);
    const publish = ({ eventId, type }: PaymentEvent) => (published.push(`${eventId} ${type}`), publishing);
    writer = new PaymentWriter(store, clock, { publish }, owed, RULES);
    await store.announce(
      'default',
      TYPES.map((type) => ({ handlerId: 'handler', type })),
    );
  });

  /** Expects these events, in the store, for handlers, and published in this process. */
  async function expectEvents(...events: string[]): Promise<void> {
    await store.fanOut('default', 10);
    const lease = { account: 'default', handlerId: 'handler', types: TYPES, lease: 'lease', leaseMs: 1, limit: 10 };
    const stored = await store.leaseDeliveries(lease);
    expect(stored.map(({ event }) => `${event.eventId} ${event.type}`)).toEqual(events);
    expect(published).toEqual(events);
  }

  async function add(state: PaymentState, more: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    const record = aPaymentRecord({ state, version: 1, ...more });
    expect(await store.insert(record)).toBeNull();
    return record;
  }

  const stored = (conversationId = ID) => store.find('default', conversationId);

  /** Makes the next calls of `replace` fail. */
  function failReplace(times: number): void {
    const replace = store.replace.bind(store);
    let left = times;
    store.replace = (...given) => ((left -= 1) >= 0 ? Promise.reject(new Error('password=secret')) : replace(...given));
  }

  it.each(MOVES)('moves a payment from %s to %s, with its event if it has one', async (from, to) => {
    const record = await add(from);
    const { outcome, record: moved } = await writer.move(record, to, { reason: 'interrupted' });
    expect([outcome, moved.state, moved.version]).toEqual(['replaced', to, 2]);
    expect(await stored()).toEqual(moved);
    await expectEvents(...PUBLISHED.filter((state) => state === to).map((state) => `${ID}:2 payment.${state}`));
    expect(log).toEqual([expect.stringContaining(`${LINE} ${to} (interrupted)`)]);
  });

  it('does not overwrite a record that another writer has changed, and publishes nothing', async () => {
    const record = await add('charging');
    const changed = advance(record, 'succeeded', {}, clock.now());
    await store.replace(changed, record);
    expect(await writer.move(record, 'unknown')).toEqual({ outcome: 'stale', record });
    expect(await stored()).toEqual(changed);
    expect([published, log]).toEqual([[], []]);
  });

  it.each<[string, PaymentRecord | null, RefusedKey | null]>([
    ['that is under way', null, null],
    ['unless a key is taken', { ...CHARGING, reference: 'order-2' }, 'conversationId'],
  ])('opens a payment %s, without event and log line', async (_what, before, taken) => {
    if (before) await store.insert(before);
    expect(await writer.open(CHARGING)).toBe(taken);
    expect(await stored()).toEqual(before ?? CHARGING);
    await expectEvents();
    expect(log).toEqual([]);
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['open', 'opening the payment', () => writer.open(CHARGING)],
    [
      'claim',
      'claiming the payment',
      () => writer.claim({ ...CHARGING, kind: '3d', state: 'awaiting' }, { dueAt: clock.now(), attemptId: 'one' }),
    ],
    ['move', 'moving the payment on', () => writer.move(CHARGING, 'unknown')],
    ['decide', 'writing the decision', () => writer.decide(CHARGING, succeed)],
  ])('%s throws PAYMENT_STORE without details when the store fails while %s', async (name, doing, write) => {
    store.insert = () => Promise.reject(new Error('password=secret'));
    failReplace(1);
    await expect(write()).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
      message: `The payment store failed while ${doing}. No money was moved by this call.`,
    });
    expect(published).toEqual([]);
    // What was not confirmed may have been applied: it is fenced.
    expect(owed.count).toBe(name === 'open' || name === 'claim' ? 1 : 0);
  });

  it.each(['decide', 'settle'] as const)('%s publishes what it stores, and waits for the handlers', async (method) => {
    const record = await add('charging');
    let handled!: () => void;
    publishing = new Promise((resolve) => (handled = resolve));
    const writing = writer[method](record, succeed);
    expect(await isOver(writing)).toBe(false);
    await expectEvents(`${ID}:2 payment.succeeded`);
    handled();
    const written = { state: 'succeeded', version: 2 };
    expect(await writing).toMatchObject(method === 'decide' ? written : { record: written, isStored: true });
  });

  it('decides nothing if the record no longer allows it', async () => {
    const record = await add('charging');
    await store.replace(advance(record, 'succeeded', {}, clock.now()), record);
    expect(await writer.decide(record, succeed)).toBeNull();
    expect(published).toEqual([]);
  });

  const SETTLED = [`${ID}:3 payment.succeeded`];
  it.each<[string, Partial<PaymentRecord>, Settlement, Partial<PaymentRecord>, string[], string[]]>([
    [
      'the current version',
      { inquiries: 1 },
      succeed,
      { state: 'succeeded', version: 3, inquiries: 1 },
      SETTLED,
      ['log'],
    ],
    ['nothing that is settled that way', { state: 'succeeded' }, succeed, { state: 'succeeded', version: 2 }, [], []],
    ['what changes no state, without an event', {}, note, { state: 'charging', version: 3, inquiries: 1 }, [], ['log']],
    [
      'nothing that is in a state of a newer release, and logs the outcome',
      { state: 'preauthorized' as PaymentState },
      succeed,
      { state: 'preauthorized' as PaymentState, version: 2 },
      [],
      ['error .* succeeded \\(B0000\\): not written, since a newer release has changed it meanwhile'],
    ],
  ])('settles %s', async (_what, meanwhile, settle, becomes, events, lines) => {
    const record = await add('charging');
    await store.replace({ ...record, version: 2, ...meanwhile }, record);
    expect(await writer.settle(record, settle)).toMatchObject({ record: becomes, isStored: true });
    expect(await stored()).toMatchObject(becomes);
    await expectEvents(...events);
    expect(log).toEqual(lines.map((line) => expect.stringMatching(line) as string));
  });

  it('owes an outcome that the store does not accept, logs it, and publishes it once when it is stored', async () => {
    const record = await add('charging');
    failReplace(3);
    expect(await writer.settle(record, succeed)).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
    expect(await stored()).toEqual(record);
    // Its only record, if the process ends before it can be stored.
    const line = `error ${LINE} succeeded (B0000): the store did not accept this; the module keeps trying.`;
    expect(log).toEqual([line]);
    expect([await owed.writeAll(), await owed.writeAll(), published]).toEqual([0, 0, []]);
    // What else is owed does not wait for its handlers.
    publishing = new Promise(() => undefined);
    expect([await owed.writeAll(), await owed.writeAll()]).toEqual([1, 0]);
    expect(await stored()).toMatchObject({ state: 'succeeded' });
    await expectEvents(`${ID}:2 payment.succeeded`);
  });

  it('returns after five seconds at most, and still publishes a write that was only slow', async () => {
    const record = await add('charging');
    const replace = store.replace.bind(store);
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    store.replace = (...given) => ((store.replace = replace), held.then(() => replace(...given)));
    const settling = writer.settle(record, succeed);
    await clock.advance(4_999);
    expect(await isOver(settling)).toBe(false);
    await clock.advance(1);
    expect(await settling).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
    expect(published).toEqual([]);
    release();
    await quiet();
    expect(await stored()).toMatchObject({ state: 'succeeded', version: 2 });
    await owed.writeAll();
    await expectEvents(`${ID}:2 payment.succeeded`);
  });

  it('does not throw even if the payment has been deleted from the store, and owes nothing', async () => {
    store.replace = () => Promise.resolve('stale');
    store.find = () => Promise.resolve(null);
    expect(await writer.settle(CHARGING, succeed)).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
    expect(log).toEqual([`error ${LINE} succeeded (B0000): it has been deleted from the store meanwhile.`]);
    expect(owed.count).toBe(0);
  });

  it('tries as often as another writer is first', async () => {
    const record = await add('charging');
    const replace = store.replace.bind(store);
    let others = 0;
    store.replace = async (next, previous, event) => {
      if (others < 5) {
        others += 1;
        const current = (await stored())!;
        await replace({ ...current, inquiries: others, version: current.version + 1 }, current);
      }
      return replace(next, previous, event);
    };
    expect((await writer.settle(record, succeed)).record).toMatchObject({ state: 'succeeded', version: 7 });
    expect(await stored()).toMatchObject({ inquiries: 5 });
  });

  describe('when another payment holds the order', () => {
    const other = { conversationId: 'HOLDER', idempotencyKey: null };

    it('stores that money moved, and pins the reference for good', async () => {
      await add('charging', other);
      const record = await add('failed');
      expect(await writer.settle(record, review)).toMatchObject({ record: { state: 'review' }, isStored: true });
      await expectEvents(`${ID}:2 payment.review`);
      const pinned = { referenceLock: null, pinsReference: true };
      expect(await stored()).toMatchObject({ state: 'review', version: 2, ...pinned });
      expect(await stored('HOLDER')).toMatchObject({ state: 'charging', referenceLock: 'order-1' });

      const replace = jest.spyOn(store, 'replace');
      const resolved = await writer.settle((await stored())!, succeed);
      expect(resolved).toMatchObject({ record: { state: 'succeeded' }, isStored: true });
      expect(replace).toHaveBeenCalledTimes(1);
      expect(await stored()).toMatchObject({ state: 'succeeded', ...pinned });
    });

    it('still moves the holder of a reference that is pinned, but lets no other payment claim it', async () => {
      const holder = await add('charging', other);
      const free = { conversationId: 'WAITS', idempotencyKey: null, kind: '3d', referenceLock: null } as const;
      const waiting = await add('awaiting', free);
      await writer.settle(await add('failed'), review);

      expect(await writer.move(holder, 'unknown', { reason: 'interrupted' })).toMatchObject({ outcome: 'replaced' });
      expect(await stored('HOLDER')).toMatchObject({ state: 'unknown' });
      expect(await writer.claim(waiting, { dueAt: clock.now(), attemptId: 'one' })).toMatchObject({
        outcome: 'locked',
      });
      expect(await stored('WAITS')).toMatchObject({ state: 'awaiting', version: 1 });
    });

    it('owes what the store does not take even with the pin, and never reports it as stored', async () => {
      const record = await add('failed');
      store.replace = () => Promise.resolve('locked');
      const { isStored } = await writer.settle(record, review);
      expect([isStored, owed.count, published]).toEqual([false, 1, []]);
      expect(log).toEqual([expect.stringContaining('the store did not accept this')]);
    });
  });

  it('takes a free reference without pinning it', async () => {
    await writer.settle(await add('failed'), review);
    const { referenceLock, pinsReference } = (await stored())!;
    expect([referenceLock, pinsReference]).toEqual(['order-1', undefined]);
  });

  describe('fences an opening that is not confirmed', () => {
    const nonce = '0123456789af';
    const opening = { ...CHARGING, idempotencyKey: 'key', hostIdNonce: nonce };
    const purged = { state: 'failed', finalizedAt: new Date(0), dueAt: null, referenceLock: null } as const;
    const unsent = { state: 'failed', reason: 'not_sent' } as const;

    it.each<[string, Partial<PaymentRecord> | null, Partial<PaymentRecord> | null]>([
      ['and was not applied: it is stored as not sent', null, { ...unsent, version: 1 }],
      ['and was applied: it ends as not sent', {}, { ...unsent, version: 2 }],
      ['without changing another attempt', { attemptId: 'another' }, { state: 'charging', version: 1 }],
      ['unless a deleted payment had the id, when it cannot be applied, either', purged, null],
    ])('%s', async (_what, before, becomes) => {
      if (before) await store.insert({ ...opening, ...before });
      if (before === purged) await store.purge('default', { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 });
      const insert = store.insert.bind(store);
      store.insert = () => Promise.reject(new Error('down'));
      await expect(writer.open(opening)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
      store.insert = insert;
      expect([await owed.writeAll(), owed.count]).toEqual([1, 0]);
      expect(await stored()).toEqual(becomes && expect.objectContaining(becomes));
      const isFenced = becomes?.reason === 'not_sent';
      await expectEvents(...(isFenced ? [`${ID}:${becomes.version}-${nonce} payment.failed`] : []));
      expect(await store.insert(opening)).toBe('conversationId');
    });
  });
});
