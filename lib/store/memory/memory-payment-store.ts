import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentHistoryEntry, PaymentRecord, PaymentState } from '../../payment/payment.js';
import {
  type Delivery,
  type HandlerAnnouncement,
  type LeaseRequest,
  PaymentStore,
  type PurgeCounts,
  type ReplaceOutcome,
  type UniqueKey,
} from '../payment-store.js';
import { AccountDeliveries } from './account-deliveries.js';
import { AccountPayments } from './account-payments.js';

interface AccountData {
  readonly payments: AccountPayments;
  readonly deliveries: AccountDeliveries;
}

/** Keeps payments in this process: gone when it ends, and seen by no other. For tests and first steps. */
export class MemoryPaymentStore extends PaymentStore {
  private readonly accounts = new Map<string, AccountData>();

  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    const { payments } = this.dataOf(record.account);
    const isTaken = payments.version(record.conversationId) !== undefined;
    const taken = isTaken ? 'conversationId' : payments.takenKey(record);
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
    return Promise.resolve(this.dataOf(account).payments.findBy('tokenHash', tokenHash));
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | null> {
    return Promise.resolve(this.dataOf(account).payments.findBy('idempotencyKey', idempotencyKey));
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

  leaseDue({ account, now, until, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const { payments } = this.dataOf(account);
    const due = payments.dueBy(now, limit);
    for (const id of due) payments.setDueAt(id, until);
    return Promise.resolve(due.flatMap((id) => payments.find(id) ?? []));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    const { payments } = this.dataOf(account);
    if (payments.version(conversationId) === version) payments.setDueAt(conversationId, dueAt);
    return Promise.resolve();
  }

  announceHandlers(account: string, handlers: readonly HandlerAnnouncement[], at: Date): Promise<void> {
    this.dataOf(account).deliveries.announce(handlers, at);
    return Promise.resolve();
  }

  leaseDeliveries(lease: LeaseRequest & { readonly handlerIds: readonly string[] }): Promise<Delivery[]> {
    const { account, handlerIds, now, until, limit } = lease;
    return Promise.resolve(this.dataOf(account).deliveries.lease(handlerIds, now, until, limit));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    const { deliveries } = this.dataOf(account);
    const delivery = deliveries.find(handlerId, eventId);
    if (delivery) deliveries.delete(delivery);
    return Promise.resolve();
  }

  postpone({ account, handlerId, event, attempts, parked, error, dueAt }: Delivery): Promise<void> {
    const { deliveries } = this.dataOf(account);
    const delivery = deliveries.find(handlerId, event.eventId);
    if (delivery) deliveries.save({ ...delivery, attempts, parked, error, dueAt });
    return Promise.resolve();
  }

  listParked(account: string, limit: number): Promise<Delivery[]> {
    return Promise.resolve(this.dataOf(account).deliveries.parked(limit));
  }

  replay(account: string, handlerId: string, eventId: string, now: Date): Promise<boolean> {
    const { deliveries } = this.dataOf(account);
    const delivery = deliveries.find(handlerId, eventId);
    if (!delivery?.parked) return Promise.resolve(false);
    deliveries.save({ ...delivery, attempts: 0, error: null, parked: false, dueAt: now });
    return Promise.resolve(true);
  }

  purge(account: string, before: Date, handlersBefore: Date): Promise<PurgeCounts> {
    const { payments, deliveries } = this.dataOf(account);
    deliveries.forgetHandlers(handlersBefore);
    const counts = { payments: 0, events: 0 };
    for (const id of payments.finalizedBefore(before)) {
      if (deliveries.hasOpen(id)) continue;
      payments.delete(id);
      counts.payments += 1;
      counts.events += deliveries.deleteEvents(id);
    }
    return Promise.resolve(counts);
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
