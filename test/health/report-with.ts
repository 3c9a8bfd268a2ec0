import type { PaymentHealthReport } from '../../lib/health/payment-health.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';

const NOW = new Date('2026-03-01T09:00:00Z');
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);
const { states, refunds } = await new MemoryPaymentStore().counts('default');

/** What the store of a shop in trouble gives. */
export const COUNTS: NonNullable<PaymentHealthReport['counts']> = {
  states: { ...states, unknown: { count: 2, oldest: ago(90_000) } },
  refunds: { ...refunds, unknown: { count: 1, oldest: ago(30_000) }, review: { count: 4, oldest: ago(5_000) } },
  deliveries: { waiting: 7, open: 4, orphaned: 6, parked: 5, oldest: ago(1_000) },
  otherGateway: 0,
};

/** The report of a shop that is up and has every trouble. */
export function reportWith(more: Partial<PaymentHealthReport> = {}): PaymentHealthReport {
  return {
    account: 'default',
    at: NOW,
    store: 'up',
    counts: COUNTS,
    oldestUnknownMs: 90_000,
    oldestUnknownRefundMs: 30_000,
    owedWrites: 7,
    longRuns: [{ handlerId: 'mail', eventId: 'ONE:1', runningMs: 61_000 }],
    clockOffsetMs: -2_500,
    background: 'running',
    backgroundIdleMs: 0,
    unheardEvents: 0,
    ...more,
  };
}
