import { Logger } from '@nestjs/common';
import { OwedOutcomes } from '../../lib/flows/owed-outcomes.js';
import { PaymentChanges, type Settlement } from '../../lib/flows/payment-changes.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/states.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

const succeed: Settlement = (record, now) =>
  record.state === 'succeeded' ? null : advance(record, 'succeeded', {}, now);

describe('OwedOutcomes', () => {
  let store: MemoryPaymentStore;
  let owed: OwedOutcomes;
  let published: string[];
  let down: Set<string>;

  beforeEach(() => {
    Logger.overrideLogger(false);
    store = new MemoryPaymentStore();
    published = [];
    down = new Set();
    const replace = store.replace.bind(store);
    store.replace = (record, ...given) =>
      down.has(record.conversationId) ? Promise.reject(new Error('down')) : replace(record, ...given);
    const events = { publish: ({ eventId }: { eventId: string }) => Promise.resolve(void published.push(eventId)) };
    owed = new OwedOutcomes(new PaymentChanges(store, new TestClock(), events));
  });

  async function owe(conversationId: string): Promise<PaymentRecord> {
    const free = { idempotencyKey: null, reference: null, referenceLock: null };
    const record = aPaymentRecord({ state: 'charging', conversationId, version: 1, ...free });
    await store.insert(record);
    owed.add({ record, settle: succeed });
    return record;
  }

  it('writes and publishes each that the store takes, and keeps the others', async () => {
    down.add('ONE');
    await owe('ONE');
    await owe('TWO');
    expect(await owed.write()).toBe(1);
    expect(published).toEqual(['TWO:2']);
    down.clear();
    expect(await owed.write()).toBe(1);
    expect(published).toEqual(['TWO:2', 'ONE:2']);
    expect(await store.find('default', 'ONE')).toMatchObject({ state: 'succeeded' });
    expect(await owed.write()).toBe(0);
  });

  it('is even, and publishes nothing, where someone else wrote the outcome meanwhile', async () => {
    const record = await owe('ONE');
    await store.replace(advance(record, 'succeeded', {}, new Date()), 1);
    expect(await owed.write()).toBe(1);
    expect(published).toEqual([]);
    expect(await store.find('default', 'ONE')).toMatchObject({ version: 2 });
  });

  it('counts an outcome once when two write at a time', async () => {
    await owe('ONE');
    const counts = await Promise.all([owed.write(), owed.write()]);
    expect(counts.sort()).toEqual([0, 1]);
    expect(published).toEqual(['ONE:2']);
  });
});
