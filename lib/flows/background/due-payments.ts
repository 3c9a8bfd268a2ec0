import { Injectable } from '@nestjs/common';
import { PaymentSettings } from '../../options/payment-settings.js';
import { isKnown, type PaymentRecord } from '../../payment/payment.js';
import { PaymentStore, type PurgeCounts } from '../../store/payment-store.js';
import { sideBySide } from './side-by-side.js';
import { callStore } from '../../store/store-call.js';

/** Longer than it takes to expire one batch, and to ask about most of it. */
export const PAYMENT_LEASE_MS = 600_000;
const REVIVED_AT_ONCE = 4;
/** How long handlers that nobody announces are remembered: 30 days. */
const PAIR_MEMORY_MS = 30 * 86_400_000;

/**
 * Payments whose time has come, leased so that no other instance works on them. Every method throws PaymentStoreError.
 */
@Injectable()
export class DuePayments {
  constructor(
    private readonly store: PaymentStore,
    private readonly settings: PaymentSettings,
  ) {}

  /** Takes payments that the background work is to look at; nobody else gets them for ten minutes. */
  lease(limit: number): Promise<PaymentRecord[]> {
    const { account } = this.settings;
    return callStore('reading', () => this.store.leaseDue({ account, leaseMs: PAYMENT_LEASE_MS, limit }));
  }

  /** Gives a leased payment back, to be due then. */
  handBack({ account, conversationId, version }: PaymentRecord, dueAt: Date): Promise<void> {
    return callStore('handing work back', () => this.store.handBack(account, conversationId, version, dueAt));
  }

  /**
   * Makes payments due at `dueAt` that are unknown and that nobody is scheduled to ask about, the longest unchanged
   * first. @returns how many, and whether there may be more
   */
  async revive(limit: number, dueAt: Date): Promise<{ readonly revived: number; readonly hasMore: boolean }> {
    const { account } = this.settings;
    const unknown = await callStore('reading', () => this.store.listByState(account, ['unknown'], limit));
    const left = unknown.filter((record) => record.dueAt === null && isKnown(record));
    await sideBySide(left, REVIVED_AT_ONCE, (record) => this.handBack(record, dueAt));
    return { revived: left.length, hasMore: unknown.length === limit };
  }

  /** Deletes old settled payments, and forgets old handlers and keys. */
  purge(): Promise<PurgeCounts> {
    const { account, retentionMs, idempotencyTtlMs } = this.settings;
    const retention = { paymentsMs: retentionMs, pairsMs: PAIR_MEMORY_MS, keysMs: idempotencyTtlMs };
    return callStore('deleting old payments', () => this.store.purge(account, retention));
  }
}
