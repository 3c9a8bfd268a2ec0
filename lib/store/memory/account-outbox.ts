import type { LedgerEvent, LedgerEventType } from '../../payment/ledger-event.js';
import {
  type Delivery,
  type DeliveryPage,
  type DeliveryPlace,
  type ReplayOutcome,
  type DeliveryLeaseRequest,
  type HandlerPair,
  type LeasedDelivery,
  PAIR_ALIVE_MS,
  type Postponement,
} from '../payment-store.js';
import { copyEvent } from '../record-json.js';
import { HandlerDeliveries, recordIn, type StoredDelivery } from './handler-deliveries.js';

/** The outbox of one account: its handlers, events and deliveries. It takes and returns copies. */
export class AccountOutbox {
  /** When each pair was last announced, by type and then by handler. */
  private readonly pairs = new Map<LedgerEventType, Map<string, Date>>();
  /** By the id of their record, in the order of their versions. */
  private readonly events = new Map<string, LedgerEvent[]>();
  /** Events that are not fanned out yet, by type, then by the id of their record, in the order of their versions. */
  private readonly waiting = new Map<LedgerEventType, Map<string, LedgerEvent[]>>();
  private readonly handlers = new Map<string, HandlerDeliveries>();

  constructor(private readonly account: string) {}

  announce(pairs: readonly HandlerPair[], now: Date): void {
    for (const { handlerId, type } of pairs) {
      const handlers = this.pairs.get(type) ?? new Map<string, Date>();
      this.pairs.set(type, handlers.set(handlerId, now));
    }
  }

  /** Deletes pairs that have not been announced since then, with their deliveries. */
  forgetPairs(since: Date): void {
    for (const [type, handlers] of this.pairs) {
      for (const [handlerId, announcedAt] of handlers) {
        if (announcedAt >= since) continue;
        handlers.delete(handlerId);
        const deliveries = this.deliveriesTo(handlerId);
        for (const delivery of deliveries.all()) if (delivery.event.type === type) deliveries.delete(delivery);
      }
    }
  }

  /** Stores an event that is to be fanned out. */
  add(event: LedgerEvent): void {
    const stored = copyEvent(event);
    const { id } = recordIn(stored);
    this.events.set(id, [...(this.events.get(id) ?? []), stored]);
    const ofType = this.waitingOf(stored.type);
    this.waiting.set(stored.type, ofType.set(id, [...(ofType.get(id) ?? []), stored]));
  }

  /**
   * Creates deliveries for the events of at most `limit` records, taking the known types in turn.
   * @returns how many events were fanned out
   */
  fanOut(limit: number, now: Date): number {
    const backlogs = this.knownTypes().map((type) => this.waitingOf(type).keys());
    let [records, events] = [0, 0];
    for (let turn = 0; records < limit && backlogs.length > 0; turn += 1) {
      const place = turn % backlogs.length;
      const next = backlogs[place]?.next();
      if (!next || next.done) {
        backlogs.splice(place, 1);
      } else {
        records += 1;
        events += this.fanOutRecord(next.value, now);
      }
    }
    return events;
  }

  lease({ handlerId, types, lease, leaseMs, limit }: DeliveryLeaseRequest, now: Date): Delivery[] {
    const due = this.deliveriesTo(handlerId).takeDue(types, limit, now, (type) => this.isAlive(handlerId, type, now));
    return due.map((delivery) => {
      const leased = { ...delivery, lease, dueAt: later(now, leaseMs) };
      this.save(leased);
      return copyDelivery(leased);
    });
  }

  /** @returns false when another lease has taken its place */
  renew(delivery: LeasedDelivery, leaseMs: number, now: Date): boolean {
    const stored = this.leased(delivery);
    if (stored) this.save({ ...stored, dueAt: later(now, leaseMs) });
    return stored !== undefined;
  }

  acknowledge(handlerId: string, eventId: string): void {
    const deliveries = this.deliveriesTo(handlerId);
    const delivery = deliveries.find(eventId);
    if (delivery) deliveries.delete(delivery);
  }

  postpone(delivery: LeasedDelivery, { attempts, error, parked, retryInMs }: Postponement, now: Date): void {
    const stored = this.leased(delivery);
    if (stored) this.save({ ...stored, attempts, error, parked, lease: null, dueAt: later(now, retryInMs) });
  }

  list({ parked, after, limit }: DeliveryPage): Delivery[] {
    return this.all()
      .filter(
        (delivery) => delivery.parked === parked && (after === null || comparePlaces(placeOf(delivery), after) > 0),
      )
      .sort((one, other) => comparePlaces(placeOf(one), placeOf(other)))
      .slice(0, limit)
      .map(copyDelivery);
  }

  replay(handlerId: string, eventId: string, now: Date): ReplayOutcome {
    const delivery = this.deliveriesTo(handlerId).find(eventId);
    if (!delivery?.parked) return 'absent';
    this.save({ ...delivery, attempts: 0, error: null, parked: false, dueAt: now });
    return 'replayed';
  }

  /** Whether the record has a delivery, or an event that waits to be fanned out to a known pair. */
  isBusyWith(recordId: string): boolean {
    const isOpen = [...this.handlers.values()].some((deliveries) => deliveries.has(recordId));
    return isOpen || this.knownTypes().some((type) => this.waitingOf(type).has(recordId));
  }

  /** @returns how many events there were */
  deleteEvents(recordId: string): number {
    const count = this.events.get(recordId)?.length ?? 0;
    this.events.delete(recordId);
    for (const records of this.waiting.values()) records.delete(recordId);
    return count;
  }

  counts(now: Date) {
    const deliveries = this.all();
    const open = deliveries.filter(({ parked }) => !parked);
    return {
      waitingEvents: [...this.waiting.values()].flatMap((records) => [...records.values()].flat()).length,
      openDeliveries: open.length,
      parkedDeliveries: deliveries.length - open.length,
      orphanedDeliveries: open.filter(({ handlerId, event }) => !this.isAlive(handlerId, event.type, now)).length,
    };
  }

  private isAlive(handlerId: string, type: LedgerEventType, now: Date): boolean {
    const announcedAt = this.pairs.get(type)?.get(handlerId);
    return announcedAt !== undefined && now.getTime() - announcedAt.getTime() < PAIR_ALIVE_MS;
  }

  /** Creates deliveries for a record's waiting events of known types. @returns how many events there were */
  private fanOutRecord(recordId: string, now: Date): number {
    const { account } = this;
    const events = this.knownTypes().flatMap((type) => this.waitingOf(type).get(recordId) ?? []);
    for (const event of events) {
      this.waitingOf(event.type).delete(recordId);
      for (const handlerId of this.pairs.get(event.type)?.keys() ?? []) {
        const fresh = { account, handlerId, event, attempts: 0, parked: false, error: null, lease: null };
        this.save({ ...fresh, dueAt: now });
      }
    }
    return events.length;
  }

  private waitingOf(type: LedgerEventType): Map<string, LedgerEvent[]> {
    return this.waiting.get(type) ?? new Map<string, LedgerEvent[]>();
  }

  private knownTypes(): LedgerEventType[] {
    return [...this.pairs].flatMap(([type, handlers]) => (handlers.size > 0 ? [type] : []));
  }

  private leased({ handlerId, eventId, lease }: LeasedDelivery): StoredDelivery | undefined {
    const delivery = this.deliveriesTo(handlerId).find(eventId);
    return delivery?.lease === lease ? delivery : undefined;
  }

  private save(delivery: StoredDelivery): void {
    const deliveries = this.deliveriesTo(delivery.handlerId);
    this.handlers.set(delivery.handlerId, deliveries);
    deliveries.save(delivery);
  }

  private deliveriesTo(handlerId: string): HandlerDeliveries {
    return this.handlers.get(handlerId) ?? new HandlerDeliveries();
  }

  private all(): StoredDelivery[] {
    return [...this.handlers.values()].flatMap((deliveries) => deliveries.all());
  }
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

function copyDelivery({ lease: _lease, ...delivery }: StoredDelivery): Delivery {
  return { ...delivery, dueAt: new Date(delivery.dueAt), event: copyEvent(delivery.event) };
}

function placeOf({ event: { occurredAt, eventId }, handlerId }: Delivery): DeliveryPlace {
  return { occurredAt, eventId, handlerId };
}

function comparePlaces(one: DeliveryPlace, other: DeliveryPlace): number {
  const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return (
    one.occurredAt.getTime() - other.occurredAt.getTime() ||
    bytes(one.eventId, other.eventId) ||
    bytes(one.handlerId, other.handlerId)
  );
}
