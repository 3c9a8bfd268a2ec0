import { merchantAccountOf, refundsAccountOf } from '../../payment/account.js';
import { type PaymentClock, SystemClock } from '../../payment/clock.js';
import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { LedgerState } from '../../payment/payment-state.js';
import {
  type Delivery,
  type DeliveryPage,
  type ListPage,
  type ReplayOutcome,
  type DeliveryLeaseRequest,
  type HandlerPair,
  type LeasedDelivery,
  type LeaseRequest,
  type PaymentStore,
  type Postponement,
  type PurgeCounts,
  type ReplaceOutcome,
  type Retention,
  type SettledPage,
  STORE_MARK,
  type StoreCounts,
  type UniqueKey,
} from '../payment-store.js';
import { AccountOutbox } from './account-outbox.js';
import { AccountLedger } from './account-ledger.js';

interface AccountData {
  readonly ledger: AccountLedger;
  readonly outbox: AccountOutbox;
}

export interface MemoryStoreOptions {
  /** Where the store's time comes from: this process's clock, unless a test gives its own. */
  readonly clock?: PaymentClock;
}

/**
 * Keeps payments in the memory of this process: they are gone when it ends, and no other process sees them. For tests
 * and first steps; give it to the option `store`. It remembers the last 100,000 idempotency keys and conversationIds of
 * purged payments.
 */
export class MemoryPaymentStore implements PaymentStore {
  readonly [STORE_MARK] = true;
  private readonly accounts = new Map<string, AccountData>();
  private readonly clock: PaymentClock;

  constructor({ clock = new SystemClock() }: MemoryStoreOptions = {}) {
    this.clock = clock;
  }

  open(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  now(): Promise<Date> {
    return Promise.resolve(this.clock.now());
  }

  insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    const ledger = this.ledgerOf(record.account);
    const taken = ledger.isIdTaken(record) ? 'conversationId' : ledger.takenKey(record);
    if (!taken) this.write(record, event);
    return Promise.resolve(taken ?? null);
  }

  replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const ledger = this.ledgerOf(record.account);
    if (ledger.version(record.conversationId) !== previous.version) return Promise.resolve('stale');
    const taken = ledger.takenKey(record);
    if (taken === 'referenceLock') return Promise.resolve('locked');
    if (taken) return Promise.reject(new Error(`Another payment has this ${taken}.`));
    this.write(record, event);
    return Promise.resolve('replaced');
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return Promise.resolve(this.ledgerOf(account).find(conversationId));
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return Promise.resolve(this.ledgerOf(account).findByTokenHash(tokenHash));
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    return Promise.resolve(this.ledgerOf(account).findByIdempotencyKey(idempotencyKey));
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return Promise.resolve(this.ledgerOf(account).ofReference(reference));
  }

  listByState(account: string, states: readonly LedgerState[], limit: number): Promise<PaymentRecord[]> {
    return Promise.resolve(this.ledgerOf(account).inStates(states, limit));
  }

  list(page: ListPage): Promise<PaymentRecord[]> {
    return Promise.resolve(this.ledgerOf(page.account).list(page));
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    return Promise.resolve(this.ledgerOf(account).history(conversationId));
  }

  leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const ledger = this.ledgerOf(account);
    return Promise.resolve(ledger.leaseDue(this.clock.now(), this.fromNow(leaseMs), limit));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    const ledger = this.ledgerOf(account);
    if (ledger.version(conversationId) === version) ledger.setDueAt(conversationId, dueAt);
    return Promise.resolve();
  }

  announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    this.outboxOf(account).announce(pairs, this.clock.now());
    return Promise.resolve();
  }

  fanOut(account: string, limit: number): Promise<number> {
    return Promise.resolve(this.outboxOf(account).fanOut(limit, this.clock.now()));
  }

  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]> {
    return Promise.resolve(this.outboxOf(lease.account).lease(lease, this.clock.now()));
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return Promise.resolve(this.outboxOf(delivery.account).renew(delivery, leaseMs, this.clock.now()));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    this.outboxOf(account).acknowledge(handlerId, eventId);
    return Promise.resolve();
  }

  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void> {
    this.outboxOf(delivery.account).postpone(delivery, to, this.clock.now());
    return Promise.resolve();
  }

  listDeliveries(page: DeliveryPage): Promise<Delivery[]> {
    return Promise.resolve(this.outboxOf(page.account).list(page));
  }

  replay(account: string, handlerId: string, eventId: string): Promise<ReplayOutcome> {
    return Promise.resolve(this.outboxOf(account).replay(handlerId, eventId, this.clock.now()));
  }

  purge(account: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const { ledger, outbox } = this.dataOf(account);
    const refunds = this.dataOf(refundsAccountOf(account));
    outbox.forgetPairs(this.fromNow(-pairsMs));
    ledger.forgetKeysBefore(this.fromNow(-keysMs));
    const counts = { payments: 0, events: 0 };
    // Refunds are deleted with their payments only.
    const isPurged = paymentsMs !== null && merchantAccountOf(account) === account;
    for (const id of isPurged ? ledger.finalizedBefore(this.fromNow(-paymentsMs)) : []) {
      const refundIds = refunds.ledger.idsOf(id);
      const isNeeded = (refundId: string) => !refunds.ledger.isSettled(refundId) || refunds.outbox.isBusyWith(refundId);
      if (outbox.isBusyWith(id) || refundIds.some(isNeeded)) continue;
      counts.payments += 1;
      counts.events += this.delete(account, id);
      for (const refundId of refundIds) counts.events += this.delete(refundsAccountOf(account), refundId);
    }
    return Promise.resolve(counts);
  }

  counts(account: string): Promise<StoreCounts> {
    const { ledger, outbox } = this.dataOf(account);
    return Promise.resolve({ states: ledger.stateCounts(), ...outbox.counts(this.clock.now()) });
  }

  listSettled(page: SettledPage): Promise<PaymentRecord[]> {
    return Promise.resolve(this.ledgerOf(page.account).settled(page));
  }

  private fromNow(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  private write(record: PaymentRecord, event?: LedgerEvent): void {
    const { ledger, outbox } = this.dataOf(record.account);
    ledger.write(record);
    if (event) outbox.add(event);
  }

  /** @returns how many events the record had */
  private delete(account: string, conversationId: string): number {
    const { ledger, outbox } = this.dataOf(account);
    ledger.delete(conversationId, this.clock.now());
    return outbox.deleteEvents(conversationId);
  }

  private ledgerOf(account: string): AccountLedger {
    return this.dataOf(account).ledger;
  }

  private outboxOf(account: string): AccountOutbox {
    return this.dataOf(account).outbox;
  }

  private dataOf(account: string): AccountData {
    const data = this.accounts.get(account) ?? { ledger: new AccountLedger(), outbox: new AccountOutbox(account) };
    this.accounts.set(account, data);
    return data;
  }
}
