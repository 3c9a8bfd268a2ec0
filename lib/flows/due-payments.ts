import { Injectable } from '@nestjs/common';
import { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentRecord } from '../payment/payment.js';
import { PaymentStore, type PurgeCounts } from '../store/payment-store.js';
import { callStore } from './store-call.js';

/** Longer than it takes to work through one batch. */
const LEASE_MS = 600_000;
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
    return callStore('reading', () => this.store.leaseDue({ account, leaseMs: LEASE_MS, limit }));
  }

  /** Gives a leased payment back, to be due then. */
  handBack({ account, conversationId, version }: PaymentRecord, dueAt: Date): Promise<void> {
    return callStore('handing work back', () => this.store.handBack(account, conversationId, version, dueAt));
  }

  /** Deletes old settled payments, and forgets old handlers and keys. */
  purge(): Promise<PurgeCounts> {
    const { account, retentionMs, idempotencyTtlMs } = this.settings;
    const retention = { paymentsMs: retentionMs, pairsMs: PAIR_MEMORY_MS, keysMs: idempotencyTtlMs };
    return callStore('deleting old payments', () => this.store.purge(account, retention));
  }
}
