import { Injectable } from '@nestjs/common';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock } from '../payment/clock.js';
import type { PaymentRecord } from '../payment/payment.js';
import { PaymentStore } from '../store/payment-store.js';
import { callStore } from './store-call.js';

/** Longer than it takes to work through one batch. */
const WORK_LEASE_MS = 600_000;

/**
 * Payments whose time has come, leased so that no other instance works on them. Every method throws PaymentStoreError.
 */
@Injectable()
export class DuePayments {
  constructor(
    private readonly store: PaymentStore,
    private readonly clock: PaymentClock,
    private readonly settings: PaymentSettings,
  ) {}

  /** Takes payments that the background work is to look at; nobody else gets them for ten minutes. */
  lease(limit: number): Promise<PaymentRecord[]> {
    const { account } = this.settings;
    const now = this.clock.now();
    const until = new Date(now.getTime() + WORK_LEASE_MS);
    return callStore('reading', () => this.store.leaseDue({ account, now, until, limit }));
  }

  /** Gives a leased payment back, to be due then. */
  handBack({ account, conversationId, version }: PaymentRecord, dueAt: Date): Promise<void> {
    return callStore('handing work back', () => this.store.handBack(account, conversationId, version, dueAt));
  }

  /** Deletes old settled payments and forgets old handlers. @returns how many payments */
  async purge(before: Date, handlersBefore: Date): Promise<number> {
    const purge = () => this.store.purge(this.settings.account, before, handlersBefore);
    return (await callStore('deleting old payments', purge)).payments;
  }
}
