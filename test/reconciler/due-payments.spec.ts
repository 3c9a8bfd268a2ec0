import { DuePayments } from '../../lib/reconciler/due-payments.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const DAY_MS = 86_400_000;
const LEASE_MS = 600_000;
const SETTINGS = { account: 'default', retentionMs: DAY_MS, idempotencyTtlMs: 3 * DAY_MS } as PaymentSettings;

describe('DuePayments', () => {
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let due: DuePayments;

  beforeEach(() => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    due = new DuePayments(store, SETTINGS);
  });

  async function add(conversationId: string, inMs: number): Promise<void> {
    const dueAt = new Date(clock.now().getTime() + inMs);
    const free = { idempotencyKey: null, reference: null, referenceLock: null };
    await store.insert(aPaymentRecord({ state: 'unknown', conversationId, dueAt, ...free }));
  }

  async function leased(limit = 10): Promise<string[]> {
    return (await due.lease(limit)).map(({ conversationId }) => conversationId);
  }

  it('leases a payment for ten minutes', async () => {
    await add('ONE', 0);
    expect(await leased()).toEqual(['ONE']);
    await clock.advance(LEASE_MS - 1);
    expect(await leased()).toEqual([]);
    await clock.advance(1);
    expect(await leased()).toEqual(['ONE']);
  });

  it('deletes settled payments after retentionMs, but keeps their keys for idempotencyTtlMs', async () => {
    const settled = { referenceLock: null, reference: null, dueAt: null };
    await store.insert(
      aPaymentRecord({ state: 'succeeded', conversationId: 'ONE', idempotencyKey: 'key', ...settled }),
    );
    const find = () => store.findByIdempotencyKey('default', 'payment', 'key');
    await clock.advance(DAY_MS + 1);
    expect((await due.purge()).payments).toBe(1);
    await clock.advance(2 * DAY_MS);
    await due.purge();
    expect(await find()).toBe('purged');
    await clock.advance(DAY_MS + 1);
    await due.purge();
    expect(await find()).toBeNull();
  });
});
