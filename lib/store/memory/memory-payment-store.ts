import { type PaymentClock, SystemClock } from '../../payment/clock.js';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { PaymentState } from '../../payment/payment-state.js';
import type { LeaseRequest, ReplaceOutcome, UniqueKey } from '../payment-ledger.js';
import type { Delivery, DeliveryLeaseRequest, HandlerPair, LeasedDelivery, Postponement } from '../payment-outbox.js';
import { PaymentStore, type PurgeCounts, type Retention, type StoreCounts } from '../payment-store.js';
import { AccountDeliveries } from './account-deliveries.js';
import { AccountPayments } from './account-payments.js';

interface AccountData {
  readonly payments: AccountPayments;
  readonly deliveries: AccountDeliveries;
}

export interface MemoryStoreOptions {
  /** Where the store's time comes from: this process's clock, unless a test gives its own. */
  readonly clock?: PaymentClock;
}

/**
 * Keeps payments in this process: they are gone when it ends, and no other process sees them. For tests and first
 * steps. Of payments that were purged it remembers the last 100,000 idempotency keys and conversationIds.
 */
export class MemoryPaymentStore extends PaymentStore {
  private readonly accounts = new Map<string, AccountData>();
  private readonly clock: PaymentClock;

  constructor({ clock = new SystemClock() }: MemoryStoreOptions = {}) {
    super();
    this.clock = clock;
  }

  now(): Promise<Date> {
    return Promise.resolve(this.clock.now());
  }

  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    const { payments } = this.dataOf(record.account);
    const taken = payments.isIdTaken(record) ? 'conversationId' : payments.takenKey(record);
    if (!taken) this.write(record, event);
    return Promise.resolve(taken ?? null);
  }

  replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    const { payments } = this.dataOf(record.account);
    if (payments.version(record.conversationId) !== expectedVersion) return Promise.resolve('stale');
    const taken = payments.takenKey(record);
    if (taken === 'referenceLock') return Promise.resolve('locked');
    if (taken) return Promise.reject(new Error(`Another payment has this ${taken}.`));
    this.write(record, event);
    return Promise.resolve('replaced');
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return Promise.resolve(this.dataOf(account).payments.find(conversationId));
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return Promise.resolve(this.dataOf(account).payments.findByTokenHash(tokenHash));
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    return Promise.resolve(this.dataOf(account).payments.findByIdempotencyKey(idempotencyKey));
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return Promise.resolve(this.dataOf(account).payments.ofReference(reference));
  }

  listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    return Promise.resolve(this.dataOf(account).payments.inStates(states, limit));
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    return Promise.resolve(this.dataOf(account).payments.history(conversationId));
  }

  leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const { payments } = this.dataOf(account);
    return Promise.resolve(payments.leaseDue(this.clock.now(), this.fromNow(leaseMs), limit));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    const { payments } = this.dataOf(account);
    if (payments.version(conversationId) === version) payments.setDueAt(conversationId, dueAt);
    return Promise.resolve();
  }

  announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    this.dataOf(account).deliveries.announce(pairs, this.clock.now());
    return Promise.resolve();
  }

  fanOut(account: string, limit: number): Promise<number> {
    return Promise.resolve(this.dataOf(account).deliveries.fanOut(limit, this.clock.now()));
  }

  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]> {
    return Promise.resolve(this.dataOf(lease.account).deliveries.lease(lease, this.clock.now()));
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return Promise.resolve(this.dataOf(delivery.account).deliveries.renew(delivery, leaseMs, this.clock.now()));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    this.dataOf(account).deliveries.acknowledge(handlerId, eventId);
    return Promise.resolve();
  }

  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void> {
    this.dataOf(delivery.account).deliveries.postpone(delivery, to, this.clock.now());
    return Promise.resolve();
  }

  listParked(account: string, limit: number): Promise<Delivery[]> {
    return Promise.resolve(this.dataOf(account).deliveries.parked(limit));
  }

  replay(account: string, handlerId: string, eventId: string): Promise<boolean> {
    return Promise.resolve(this.dataOf(account).deliveries.replay(handlerId, eventId, this.clock.now()));
  }

  purge(account: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const { payments, deliveries } = this.dataOf(account);
    deliveries.forgetPairs(this.fromNow(-pairsMs));
    payments.forgetKeysBefore(this.fromNow(-keysMs));
    const counts = { payments: 0, events: 0 };
    for (const id of paymentsMs === null ? [] : payments.finalizedBefore(this.fromNow(-paymentsMs))) {
      if (deliveries.isBusyWith(id)) continue;
      payments.delete(id, this.clock.now());
      counts.payments += 1;
      counts.events += deliveries.deleteEvents(id);
    }
    return Promise.resolve(counts);
  }

  counts(account: string): Promise<StoreCounts> {
    const { payments, deliveries } = this.dataOf(account);
    return Promise.resolve({ states: payments.stateCounts(), ...deliveries.counts(this.clock.now()) });
  }

  private fromNow(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  private write(record: PaymentRecord, event?: PaymentEvent): void {
    const { payments, deliveries } = this.dataOf(record.account);
    payments.write(record);
    if (event) deliveries.add(event);
  }

  private dataOf(account: string): AccountData {
    let data = this.accounts.get(account);
    if (!data)
      this.accounts.set(account, (data = { payments: new AccountPayments(), deliveries: new AccountDeliveries() }));
    return data;
  }
}
