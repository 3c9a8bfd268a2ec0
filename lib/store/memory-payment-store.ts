import type { PaymentEvent, PaymentEventType } from '../payment/payment-event.js';
import type { PaymentHistoryEntry, PaymentRecord, PaymentState } from '../payment/payment.js';
import {
  type Delivery,
  type HandlerAnnouncement,
  type LeaseRequest,
  PaymentStore,
  type PurgeCounts,
  type ReplaceOutcome,
  type UniqueKey,
} from './payment-store.js';
import { eventFromJson, eventToJson, historyEntryOf, recordFromJson, recordToJson } from './record-json.js';

interface StoredPayment {
  record: PaymentRecord;
  readonly history: PaymentHistoryEntry[];
  readonly events: PaymentEvent[];
}

/** What one account has. The maps from a key to a conversationId are the unique keys. */
class AccountData {
  readonly payments = new Map<string, StoredPayment>();
  readonly idempotencyKey = new Map<string, string>();
  readonly tokenHash = new Map<string, string>();
  readonly referenceLock = new Map<string, string>();
  readonly byReference = new Map<string, Set<string>>();
  /** Those that have a `dueAt`. */
  readonly due = new Set<string>();
  readonly handlers = new Map<string, { types: readonly PaymentEventType[]; at: Date }>();
  /** Events that nobody has announced a handler for. */
  readonly waiting = new Set<PaymentEvent>();
  /** By handler, then by conversationId: the open deliveries, lowest version first. */
  readonly deliveries = new Map<string, Map<string, Delivery[]>>();
}

const KEYS = ['idempotencyKey', 'tokenHash', 'referenceLock'] as const satisfies UniqueKey[];

/** Keeps payments in this process: they are gone when it ends, and no other process sees them. For tests and first steps. */
export class MemoryPaymentStore extends PaymentStore {
  private readonly shelves = new Map<string, AccountData>();

  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    const shelf = this.shelf(record.account);
    if (shelf.payments.has(record.conversationId)) return Promise.resolve('conversationId');
    const taken = KEYS.find((key) => record[key] !== null && shelf[key].has(record[key]));
    if (taken) return Promise.resolve(taken);
    this.write(shelf, { record, history: [], events: [] }, record, event);
    return Promise.resolve(null);
  }

  replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    const shelf = this.shelf(record.account);
    const payment = shelf.payments.get(record.conversationId);
    if (payment?.record.version !== expectedVersion) return Promise.resolve('stale');
    const taken = KEYS.find((key) => {
      const holder = record[key] === null ? undefined : shelf[key].get(record[key]);
      return holder !== undefined && holder !== record.conversationId;
    });
    if (taken === 'referenceLock') return Promise.resolve('locked');
    if (taken) return Promise.reject(new Error(`Another payment has this ${taken}.`));
    this.write(shelf, payment, record, event);
    return Promise.resolve('replaced');
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    const payment = this.shelf(account).payments.get(conversationId);
    return Promise.resolve(payment ? copyRecord(payment.record) : null);
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return this.find(account, this.shelf(account).tokenHash.get(tokenHash) ?? '');
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | null> {
    return this.find(account, this.shelf(account).idempotencyKey.get(idempotencyKey) ?? '');
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    const shelf = this.shelf(account);
    const found = recordsOf(shelf, shelf.byReference.get(reference) ?? []);
    return Promise.resolve(found.sort(byDate((record) => record.createdAt)).map(copyRecord));
  }

  listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    const shelf = this.shelf(account);
    const found = recordsOf(shelf, shelf.payments.keys()).filter((record) => states.includes(record.state));
    return Promise.resolve(
      found
        .sort(byDate((record) => record.updatedAt))
        .slice(0, limit)
        .map(copyRecord),
    );
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const history = this.shelf(account).payments.get(conversationId)?.history ?? [];
    return Promise.resolve(history.map((entry) => ({ ...entry, at: new Date(entry.at) })));
  }

  leaseDue({ account, now, until, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const shelf = this.shelf(account);
    const due = recordsOf(shelf, shelf.due)
      .filter((record) => record.dueAt !== null && record.dueAt <= now)
      .sort(byDate((record) => record.dueAt))
      .slice(0, limit);
    for (const record of due) setDueAt(shelf, record.conversationId, until);
    return Promise.resolve(
      recordsOf(
        shelf,
        due.map((record) => record.conversationId),
      ).map(copyRecord),
    );
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    const shelf = this.shelf(account);
    if (shelf.payments.get(conversationId)?.record.version === version) setDueAt(shelf, conversationId, dueAt);
    return Promise.resolve();
  }

  announceHandlers(account: string, handlers: readonly HandlerAnnouncement[], at: Date): Promise<void> {
    const shelf = this.shelf(account);
    for (const { id, types } of handlers) shelf.handlers.set(id, { types: [...types], at: new Date(at) });
    const announced = handlers.map(({ id }) => id);
    for (const event of shelf.waiting) {
      if (deliver(shelf, event, announced)) shelf.waiting.delete(event);
    }
    return Promise.resolve();
  }

  leaseDeliveries(lease: LeaseRequest & { readonly handlerIds: readonly string[] }): Promise<Delivery[]> {
    const shelf = this.shelf(lease.account);
    const due = [...new Set(lease.handlerIds)]
      .flatMap((id) => [...(shelf.deliveries.get(id)?.values() ?? [])])
      .flatMap((open) => open.find((delivery) => !delivery.parked) ?? [])
      .filter((delivery) => delivery.dueAt <= lease.now)
      .sort(byDate((delivery) => delivery.event.occurredAt))
      .slice(0, lease.limit);
    return Promise.resolve(
      due.map((delivery) => copyDelivery(keepDelivery(shelf, { ...delivery, dueAt: lease.until }))),
    );
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    const shelf = this.shelf(account);
    const delivery = findDelivery(shelf, handlerId, eventId);
    if (delivery) remove(shelf, delivery);
    return Promise.resolve();
  }

  postpone({ account, handlerId, event, attempts, parked, error, dueAt }: Delivery): Promise<void> {
    const shelf = this.shelf(account);
    const delivery = findDelivery(shelf, handlerId, event.eventId);
    if (delivery) keepDelivery(shelf, { ...delivery, attempts, parked, error, dueAt });
    return Promise.resolve();
  }

  listParked(account: string, limit: number): Promise<Delivery[]> {
    const parked = [...this.shelf(account).deliveries.values()]
      .flatMap((payments) => [...payments.values()].flat())
      .filter((delivery) => delivery.parked)
      .sort(byDate((delivery) => delivery.event.occurredAt));
    return Promise.resolve(parked.slice(0, limit).map(copyDelivery));
  }

  replay(account: string, handlerId: string, eventId: string, now: Date): Promise<boolean> {
    const shelf = this.shelf(account);
    const delivery = findDelivery(shelf, handlerId, eventId);
    if (!delivery?.parked) return Promise.resolve(false);
    keepDelivery(shelf, { ...delivery, attempts: 0, error: null, parked: false, dueAt: now });
    return Promise.resolve(true);
  }

  purge(account: string, before: Date, handlersBefore: Date): Promise<PurgeCounts> {
    const shelf = this.shelf(account);
    for (const [id, { at }] of shelf.handlers) {
      if (at < handlersBefore) {
        shelf.handlers.delete(id);
        shelf.deliveries.delete(id);
      }
    }
    let payments = 0;
    let events = 0;
    for (const [id, payment] of shelf.payments) {
      const { finalizedAt } = payment.record;
      if (finalizedAt === null || finalizedAt >= before || hasOpenDelivery(shelf, id)) continue;
      forget(shelf, payment);
      payments += 1;
      events += payment.events.length;
    }
    return Promise.resolve({ payments, events });
  }

  private shelf(account: string): AccountData {
    let shelf = this.shelves.get(account);
    if (!shelf) this.shelves.set(account, (shelf = new AccountData()));
    return shelf;
  }

  private write(shelf: AccountData, payment: StoredPayment, record: PaymentRecord, event?: PaymentEvent): void {
    const { conversationId } = record;
    for (const key of KEYS) {
      const old = payment.record[key];
      if (old !== null && old !== record[key] && shelf[key].get(old) === conversationId) shelf[key].delete(old);
      if (record[key] !== null) shelf[key].set(record[key], conversationId);
    }
    unlist(shelf, payment.record);
    payment.record = copyRecord(record);
    payment.history.push(historyEntryOf(payment.record));
    shelf.payments.set(conversationId, payment);
    if (record.reference !== null) {
      const siblings = shelf.byReference.get(record.reference) ?? new Set();
      shelf.byReference.set(record.reference, siblings.add(conversationId));
    }
    setDueAt(shelf, conversationId, record.dueAt);
    if (!event) return;
    const kept = copyEvent(event);
    payment.events.push(kept);
    if (!deliver(shelf, kept, [...shelf.handlers.keys()])) shelf.waiting.add(kept);
  }
}

function recordsOf(shelf: AccountData, ids: Iterable<string>): PaymentRecord[] {
  return [...ids].flatMap((id) => shelf.payments.get(id)?.record ?? []);
}

function setDueAt(shelf: AccountData, id: string, dueAt: Date | null): void {
  const payment = shelf.payments.get(id);
  if (!payment) return;
  payment.record = { ...payment.record, dueAt: dueAt && new Date(dueAt) };
  if (dueAt) shelf.due.add(id);
  else shelf.due.delete(id);
}

function unlist(shelf: AccountData, { reference, conversationId }: PaymentRecord): void {
  if (reference === null) return;
  const siblings = shelf.byReference.get(reference);
  siblings?.delete(conversationId);
  if (siblings?.size === 0) shelf.byReference.delete(reference);
}

/** Deletes a payment, all but its referenceLock: that is nobody's from then on. */
function forget(shelf: AccountData, { record, events }: StoredPayment): void {
  if (record.referenceLock !== null) shelf.referenceLock.set(record.referenceLock, '');
  shelf.payments.delete(record.conversationId);
  shelf.due.delete(record.conversationId);
  unlist(shelf, record);
  if (record.idempotencyKey !== null) shelf.idempotencyKey.delete(record.idempotencyKey);
  if (record.tokenHash !== null) shelf.tokenHash.delete(record.tokenHash);
  for (const event of events) shelf.waiting.delete(event);
}

/** @returns whether any of the handlers takes events of this type */
function deliver(shelf: AccountData, event: PaymentEvent, handlerIds: readonly string[]): boolean {
  const takers = handlerIds.filter((id) => shelf.handlers.get(id)?.types.includes(event.type));
  const { account } = event.payment;
  for (const handlerId of takers) {
    keepDelivery(shelf, {
      account,
      handlerId,
      event,
      attempts: 0,
      parked: false,
      error: null,
      dueAt: event.occurredAt,
    });
  }
  return takers.length > 0;
}

function openDeliveries(shelf: AccountData, handlerId: string, conversationId: string): Delivery[] {
  return shelf.deliveries.get(handlerId)?.get(conversationId) ?? [];
}

function findDelivery(shelf: AccountData, handlerId: string, eventId: string): Delivery | undefined {
  const conversationId = eventId.slice(0, eventId.lastIndexOf(':'));
  return openDeliveries(shelf, handlerId, conversationId).find((delivery) => delivery.event.eventId === eventId);
}

/** Writes a delivery over the one of the same handler and event. */
function keepDelivery(shelf: AccountData, delivery: Delivery): Delivery {
  remove(shelf, delivery);
  const { handlerId, event } = delivery;
  const { conversationId } = event.payment;
  const kept = { ...delivery, dueAt: new Date(delivery.dueAt) };
  const open = [...openDeliveries(shelf, handlerId, conversationId), kept];
  open.sort((one, other) => one.event.payment.version - other.event.payment.version);
  const payments = shelf.deliveries.get(handlerId) ?? new Map<string, Delivery[]>();
  shelf.deliveries.set(handlerId, payments.set(conversationId, open));
  return kept;
}

function remove(shelf: AccountData, { handlerId, event }: Delivery): void {
  const { conversationId } = event.payment;
  const left = openDeliveries(shelf, handlerId, conversationId).filter(
    (other) => other.event.eventId !== event.eventId,
  );
  if (left.length > 0) shelf.deliveries.get(handlerId)?.set(conversationId, left);
  else shelf.deliveries.get(handlerId)?.delete(conversationId);
}

function hasOpenDelivery(shelf: AccountData, conversationId: string): boolean {
  return [...shelf.deliveries.values()].some((payments) => payments.has(conversationId));
}

function byDate<T>(dateOf: (one: T) => Date | null): (one: T, other: T) => number {
  return (one, other) => Number(dateOf(one)) - Number(dateOf(other));
}

// Through JSON, as the durable stores do it: nothing that is told or kept is shared with a caller.
function copyRecord(record: PaymentRecord): PaymentRecord {
  return recordFromJson(recordToJson(record));
}

function copyEvent(event: PaymentEvent): PaymentEvent {
  return eventFromJson(eventToJson(event));
}

function copyDelivery(delivery: Delivery): Delivery {
  return { ...delivery, dueAt: new Date(delivery.dueAt), event: copyEvent(delivery.event) };
}
