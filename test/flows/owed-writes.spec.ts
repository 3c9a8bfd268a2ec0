import { OwedWrites } from '../../lib/flows/owed-writes.js';
import { ProcessHold } from '../../lib/flows/process-hold.js';
import { PaymentChanges } from '../../lib/flows/payment-changes.js';
import type { Settlement } from '../../lib/flows/settlement.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/states.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';
import { logLines } from './log-lines.js';
import { isOver } from './test-shop.js';

const succeed: Settlement = (record, now) =>
  record.state === 'succeeded' ? null : advance(record, 'succeeded', {}, now);

describe('OwedWrites', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let owed: OwedWrites;
  let published: string[];
  let isDown: boolean;

  beforeEach(() => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    isDown = true;
    const replace = store.replace.bind(store);
    store.replace = (...given) => (isDown ? Promise.reject(new Error('down')) : replace(...given));
    const events = { publish: ({ eventId }: { eventId: string }) => Promise.resolve(void published.push(eventId)) };
    const changes = new PaymentChanges(store, clock, events);
    owed = new OwedWrites(changes, clock, new ProcessHold());
    owe = async (conversationId) => {
      const free = { idempotencyKey: null, reference: null, referenceLock: null };
      const record = aPaymentRecord({ state: 'charging', conversationId, version: 1, ...free });
      await store.insert(record);
      owed.add({ conversationId, write: () => changes.settle(record, succeed) });
      return record;
    };
  });

  let owe: (conversationId: string) => Promise<PaymentRecord>;

  it('are written by themselves once the store is back, and published', async () => {
    await owe('ONE');
    await owe('TWO');
    await clock.advance(60_000);
    expect([owed.count, published]).toEqual([2, []]);
    isDown = false;
    await clock.advance(5_000);
    expect([owed.count, published]).toEqual([0, ['ONE:2', 'TWO:2']]);
    expect(await store.find('default', 'ONE')).toMatchObject({ state: 'succeeded' });
  });

  it('are tried again within seconds, however long the store was down, and later ones as well', async () => {
    await owe('ONE');
    await clock.advance(3 * 3_600_000);
    isDown = false;
    await clock.advance(5_000);
    expect(owed.count).toBe(0);
    isDown = true;
    await owe('TWO');
    isDown = false;
    await clock.advance(1_000);
    expect([owed.count, published]).toEqual([0, ['ONE:2', 'TWO:2']]);
  });

  it('can be asked for at once; a store that still fails is asked for one of them only', async () => {
    await owe('ONE');
    await owe('TWO');
    let asked = 0;
    const { replace } = store;
    store.replace = (...given) => ((asked += 1), replace(...given));
    expect([await owed.writeAll(), asked]).toEqual([0, 1]);
    isDown = false;
    expect(await owed.writeAll()).toBe(2);
    expect(await owed.writeAll()).toBe(0);
  });

  it('are not held up by one that the store never takes', async () => {
    owed.add({ conversationId: 'NEVER', write: () => Promise.reject(new Error('a key is taken')) });
    await owe('ONE');
    await owe('TWO');
    isDown = false;
    await clock.advance(30_000);
    expect([owed.count, published]).toEqual([1, ['ONE:2', 'TWO:2']]);
  });

  it('are written, and published by nobody here, where someone else wrote the outcome meanwhile', async () => {
    const record = await owe('ONE');
    isDown = false;
    await store.replace(advance(record, 'succeeded', {}, clock.now()), 1);
    expect(await owed.writeAll()).toBe(1);
    expect(published).toEqual([]);
    expect(await store.find('default', 'ONE')).toMatchObject({ version: 2 });
  });

  it('are counted and published once when two write at a time', async () => {
    await owe('ONE');
    isDown = false;
    expect(await Promise.all([owed.writeAll(), owed.writeAll()])).toEqual([1, 1]);
    expect(published).toEqual(['ONE:2']);
  });

  it('say in the log that the store is still owed', async () => {
    await owe('ONE');
    await clock.advance(1_000);
    expect(log).toContain('warn 1 writes are still owed to the payment store.');
  });

  describe('at shutdown', () => {
    it('are waited for while the store comes back', async () => {
      await owe('ONE');
      const closing = owed.close();
      expect(await isOver(closing)).toBe(false);
      isDown = false;
      await clock.advance(1_000);
      await closing;
      expect([owed.count, published]).toEqual([0, ['ONE:2']]);
    });

    it('are given up after ten seconds, by name', async () => {
      await owe('ONE');
      await owe('TWO');
      const closing = owed.close();
      await clock.advance(11_000);
      await closing;
      expect(log.at(-1)).toBe('error This process ends while the store has not taken what is known of: ONE, TWO.');
    });

    it('hold up nothing where there are none', async () => {
      expect(await isOver(owed.close())).toBe(true);
    });
  });
});
