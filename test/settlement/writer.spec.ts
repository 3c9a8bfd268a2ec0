import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import { NO_HOLD, RULES } from '../operations/assembled-flows.js';
import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import type { Settlement } from '../../lib/settlement/outcomes.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/transitions.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { isOver, quiet } from '../operations/test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const CHARGING = aPaymentRecord({ state: 'charging', version: 1 });
const ID = CHARGING.conversationId;
const succeed: Settlement = (record, now) =>
  record.state === 'charging' ? advance(record, 'succeeded', { code: 'B0000' }, now) : null;

describe('PaymentWriter', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let owed: OwedWrites;
  let writer: PaymentWriter;
  let published: string[];
  /** Resolves when the handlers of a published event have run. */
  let publishing: Promise<void>;

  beforeEach(() => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    publishing = Promise.resolve();
    const events = {
      publish: ({ eventId, type }: PaymentEvent): Promise<void> => {
        published.push(`${eventId} ${type}`);
        return publishing;
      },
    };
    owed = new OwedWrites(clock, NO_HOLD);
    writer = new PaymentWriter(store, clock, events, owed, RULES);
  });

  /** Makes the next calls of `replace` fail. */
  function failReplace(times: number): void {
    const replace = store.replace.bind(store);
    let left = times;
    store.replace = (...given) => {
      left -= 1;
      return left >= 0 ? Promise.reject(new Error('password=secret')) : replace(...given);
    };
  }

  /** Holds the next call of `replace` until the returned function is called. */
  function holdReplace(): () => void {
    const replace = store.replace.bind(store);
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    store.replace = async (...given) => {
      store.replace = replace;
      await held;
      return replace(...given);
    };
    return release;
  }

  /** Another writer replaces the record first. */
  async function replaceMeanwhile(record: PaymentRecord): Promise<void> {
    const stored = await store.find(record.account, record.conversationId);
    expect(await store.replace(record, stored!)).toBe('replaced');
  }

  describe('open', () => {
    it('stores a payment that is under way, without an event', async () => {
      expect(await writer.open(CHARGING)).toBeNull();
      expect(await store.find('default', ID)).toEqual(CHARGING);
      expect(published).toEqual([]);
    });

    it('publishes a payment that is opened as failed', async () => {
      expect(await writer.open(aPaymentRecord({ state: 'failed', version: 1 }))).toBeNull();
      expect(published).toEqual([`${ID}:1 payment.failed`]);
    });

    it('returns the key that is taken, and publishes nothing', async () => {
      await store.insert(CHARGING);
      expect(await writer.open(aPaymentRecord({ state: 'failed', version: 1 }))).toBe('conversationId');
      expect(published).toEqual([]);
    });
  });

  describe('move', () => {
    it('writes the next version and publishes its state', async () => {
      await store.insert(CHARGING);
      const { outcome, record } = await writer.move(CHARGING, 'unknown', { reason: 'interrupted' });
      expect([outcome, record.state, record.version]).toEqual(['replaced', 'unknown', 2]);
      expect(await store.find('default', ID)).toEqual(record);
      expect(published).toEqual([`${ID}:2 payment.unknown`]);
      expect(log).toEqual([`warn Payment ${ID} of order-1, 149.90 TRY: unknown (interrupted) after 10800 s`]);
    });

    it('does not overwrite a record that another writer has changed, and publishes nothing', async () => {
      await store.insert(CHARGING);
      await replaceMeanwhile(advance(CHARGING, 'succeeded', {}, clock.now()));
      expect(await writer.move(CHARGING, 'unknown')).toEqual({ outcome: 'stale', record: CHARGING });
      expect(await store.find('default', ID)).toMatchObject({ state: 'succeeded' });
      expect([published, log]).toEqual([[], []]);
    });
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
  ])('%s throws PAYMENT_STORE without details when the store fails while %s', async (_name, doing, write) => {
    store.insert = () => Promise.reject(new Error('password=secret'));
    failReplace(1);
    await expect(write()).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
      message: `The payment store failed while ${doing}. No money was moved by this call.`,
    });
    expect(published).toEqual([]);
  });

  describe('decide', () => {
    beforeEach(() => store.insert(CHARGING));

    it('stores the decision of an operator, publishes it, and waits for the handlers', async () => {
      let handled!: () => void;
      publishing = new Promise((resolve) => (handled = resolve));
      const deciding = writer.decide(CHARGING, succeed);
      expect(await isOver(deciding)).toBe(false);
      expect(published).toEqual([`${ID}:2 payment.succeeded`]);
      handled();
      expect(await deciding).toMatchObject({ state: 'succeeded' });
    });

    it('changes nothing if the record no longer allows the decision', async () => {
      await replaceMeanwhile(advance(CHARGING, 'unknown', {}, clock.now()));
      expect(await writer.decide(CHARGING, succeed)).toBeNull();
      expect(published).toEqual([]);
    });

    it('throws when the store fails, and owes nothing', async () => {
      failReplace(1);
      await expect(writer.decide(CHARGING, succeed)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
      expect(await owed.writeAll()).toBe(0);
      expect(await store.find('default', ID)).toEqual(CHARGING);
    });
  });

  describe('settle', () => {
    beforeEach(() => store.insert(CHARGING));

    it('stores an outcome, publishes it, and waits for the handlers', async () => {
      let handled!: () => void;
      publishing = new Promise((resolve) => (handled = resolve));
      const settling = writer.settle(CHARGING, succeed);
      expect(await isOver(settling)).toBe(false);
      expect(published).toEqual([`${ID}:2 payment.succeeded`]);
      handled();
      expect(await settling).toMatchObject({ record: { state: 'succeeded', version: 2 }, isStored: true });
      expect(log).toEqual([`log Payment ${ID} of order-1, 149.90 TRY: succeeded (B0000) after 10800 s`]);
    });

    it('returns and logs an outcome that the store does not take, since the line may be its only record', async () => {
      failReplace(1);
      expect(await writer.settle(CHARGING, succeed)).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
      expect(await store.find('default', ID)).toEqual(CHARGING);
      expect(published).toEqual([]);
      expect(log).toEqual([
        `error Payment ${ID} of order-1, 149.90 TRY: succeeded (B0000): the store did not accept this; ` +
          'the module keeps trying.',
      ]);
    });

    it('owes an outcome that the store did not accept, and publishes it once when it is stored', async () => {
      failReplace(3);
      await writer.settle(CHARGING, succeed);
      expect([await owed.writeAll(), await owed.writeAll(), published]).toEqual([0, 0, []]);
      expect(await owed.writeAll()).toBe(1);
      expect(await store.find('default', ID)).toMatchObject({ state: 'succeeded' });
      expect(published).toEqual([`${ID}:2 payment.succeeded`]);
      expect([await owed.writeAll(), published.length]).toEqual([0, 1]);
    });

    it('returns after five seconds at most, and still publishes a write that was only slow', async () => {
      const release = holdReplace();
      const settling = writer.settle(CHARGING, succeed);
      await clock.advance(4_999);
      expect(await isOver(settling)).toBe(false);
      await clock.advance(1);
      expect(await settling).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
      expect(published).toEqual([]);
      release();
      await quiet();
      expect(await store.find('default', ID)).toMatchObject({ state: 'succeeded', version: 2 });
      expect(published).toEqual([`${ID}:2 payment.succeeded`]);
      await owed.writeAll();
      expect(published).toHaveLength(1);
    });

    it('settles the current version of the record', async () => {
      await replaceMeanwhile({ ...CHARGING, inquiries: 1, version: 2 });
      expect(await writer.settle(CHARGING, succeed)).toMatchObject({ record: { state: 'succeeded', version: 3 } });
      expect(await store.find('default', ID)).toMatchObject({ inquiries: 1, version: 3 });
      expect(published).toEqual([`${ID}:3 payment.succeeded`]);
    });

    it('stores and publishes nothing if the payment is already settled that way', async () => {
      await replaceMeanwhile(advance(CHARGING, 'succeeded', {}, clock.now()));
      expect(await writer.settle(CHARGING, succeed)).toMatchObject({
        record: { state: 'succeeded', version: 2 },
        isStored: true,
      });
      expect(published).toEqual([]);
    });

    it('publishes nothing if the state does not change', async () => {
      const noted: Settlement = (record, now) => advance(record, record.state, { inquiries: 1 }, now);
      await writer.settle(CHARGING, noted);
      expect(await store.find('default', ID)).toMatchObject({ inquiries: 1, version: 2 });
      expect(published).toEqual([]);
    });

    it('stores and publishes that money moved even if another payment holds the order', async () => {
      await replaceMeanwhile({ ...CHARGING, referenceLock: null, version: 2 });
      await store.insert(aPaymentRecord({ state: 'succeeded', conversationId: 'FIRST', idempotencyKey: null }));
      const replace = store.replace.bind(store);
      let tries = 0;
      // Retrying for ever would hang the test as well.
      store.replace = (...given) => ((tries += 1) > 10 ? Promise.reject(new Error('again?')) : replace(...given));
      expect(await writer.settle(CHARGING, succeed)).toMatchObject({ record: { state: 'succeeded' }, isStored: true });
      expect(await store.find('default', ID)).toMatchObject({ state: 'succeeded', referenceLock: null });
      expect(await store.find('default', 'FIRST')).toMatchObject({ referenceLock: 'order-1' });
      expect(published).toEqual([`${ID}:3 payment.succeeded`]);
    });

    it('does not throw even if the payment has been deleted from the store', async () => {
      store.replace = () => Promise.resolve('stale');
      store.find = () => Promise.resolve(null);
      expect(await writer.settle(CHARGING, succeed)).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
      expect(log.at(-1)).toBe(
        `error Payment ${ID} of order-1, 149.90 TRY: succeeded (B0000): it has been deleted from the store meanwhile.`,
      );
      // The write is not owed, since the payment no longer exists.
      expect(owed.count).toBe(0);
    });
  });
});
