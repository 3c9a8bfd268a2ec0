import { Inject, Injectable } from '@nestjs/common';
import { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentRecord } from '../payment/payment.js';
import { PAYMENT_STORE, type PaymentStore, type PurgeCounts } from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';

/** Longer than expiring a batch and asking about most of it takes. */
export const PAYMENT_LEASE_MS = 600_000;
/** How long a handler that is no longer announced is remembered: 30 days. */
const PAIR_MEMORY_MS = 30 * 86_400_000;

/** Leases payments that are due, so that no other instance works on them. Every method throws PaymentStoreError. */
@Injectable()
export class DuePayments {
  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly settings: PaymentSettings,
  ) {}

  /** Leases payments and refunds that are due, for ten minutes. */
  lease(limit: number): Promise<PaymentRecord[]> {
    const { account } = this.settings;
    return callStore('reading', () => this.store.leaseDue({ account, leaseMs: PAYMENT_LEASE_MS, limit }));
  }

  /** Returns a leased payment, to be due at `dueAt`. */
  handBack({ account, conversationId, version }: PaymentRecord, dueAt: Date): Promise<void> {
    return callStore('handing work back', () => this.store.handBack(account, conversationId, version, dueAt));
  }

  /** Deletes old settled payments with their refunds, and handlers and keys that have been remembered long enough. */
  purge(): Promise<PurgeCounts> {
    const { account, retentionMs, idempotencyTtlMs } = this.settings;
    const retention = { paymentsMs: retentionMs, pairsMs: PAIR_MEMORY_MS, keysMs: idempotencyTtlMs };
    return callStore('deleting old payments', () => this.store.purge(account, retention));
  }
}

/**
 * Works on all items in their order, several at a time. Throws only when all of them have ended: a shutdown must not
 * close the store while some still run.
 */
export async function sideBySide<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const workOn = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, workOn));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason as Error;
}
