import type { PaymentEvent, PaymentEventType } from '../../payment/payment-event.js';
import type { Delivery, HandlerAnnouncement } from '../payment-store.js';
import { eventFromJson, eventToJson } from '../record-json.js';
import { byDate } from './by-date.js';

/** The handlers of one account, its events, and the deliveries that are still open. */
export class AccountDeliveries {
  private readonly handlers = new Map<string, { types: readonly PaymentEventType[]; at: Date }>();
  private readonly events = new Map<string, PaymentEvent[]>();
  /** Events of a type that no handler is known for. */
  private readonly waiting = new Set<PaymentEvent>();
  /** By handler, then by conversationId: the open deliveries, lowest version first. */
  private readonly open = new Map<string, Map<string, Delivery[]>>();

  announce(handlers: readonly HandlerAnnouncement[], at: Date): void {
    for (const { id, types } of handlers) this.handlers.set(id, { types: [...types], at: new Date(at) });
    const announced = handlers.map(({ id }) => id);
    for (const event of this.waiting) {
      if (this.deliver(event, announced)) this.waiting.delete(event);
    }
  }

  /** Forgets handlers that nobody has announced since, with their deliveries. */
  forgetHandlers(since: Date): void {
    for (const [id, { at }] of this.handlers) {
      if (at >= since) continue;
      this.handlers.delete(id);
      this.open.delete(id);
    }
  }

  /** Stores an event, with a delivery to each handler of its type. */
  add(event: PaymentEvent): void {
    const stored = copyEvent(event);
    const { conversationId } = stored.payment;
    this.events.set(conversationId, [...(this.events.get(conversationId) ?? []), stored]);
    if (!this.deliver(stored, [...this.handlers.keys()])) this.waiting.add(stored);
  }

  lease(handlerIds: readonly string[], now: Date, until: Date, limit: number): Delivery[] {
    const due = [...new Set(handlerIds)]
      .flatMap((id) => [...(this.open.get(id)?.values() ?? [])])
      .flatMap((deliveries) => deliveries.find((delivery) => !delivery.parked) ?? [])
      .filter((delivery) => delivery.dueAt <= now)
      .sort(byDate((delivery) => delivery.event.occurredAt))
      .slice(0, limit);
    return due.map((delivery) => {
      const leased = { ...delivery, dueAt: until };
      this.save(leased);
      return copyDelivery(leased);
    });
  }

  find(handlerId: string, eventId: string): Delivery | undefined {
    const conversationId = eventId.slice(0, eventId.lastIndexOf(':'));
    return this.openOf(handlerId, conversationId).find((delivery) => delivery.event.eventId === eventId);
  }

  parked(limit: number): Delivery[] {
    return [...this.open.values()]
      .flatMap((payments) => [...payments.values()].flat())
      .filter((delivery) => delivery.parked)
      .sort(byDate((delivery) => delivery.event.occurredAt))
      .slice(0, limit)
      .map(copyDelivery);
  }

  /** Writes a delivery over that of the same handler and event. */
  save(delivery: Delivery): void {
    this.delete(delivery);
    const { handlerId, event } = delivery;
    const { conversationId } = event.payment;
    const deliveries = [
      ...this.openOf(handlerId, conversationId),
      { ...delivery, dueAt: new Date(delivery.dueAt) },
    ].sort((one, other) => one.event.payment.version - other.event.payment.version);
    const payments = this.open.get(handlerId) ?? new Map<string, Delivery[]>();
    this.open.set(handlerId, payments.set(conversationId, deliveries));
  }

  delete({ handlerId, event }: Delivery): void {
    const { conversationId } = event.payment;
    const left = this.openOf(handlerId, conversationId).filter((other) => other.event.eventId !== event.eventId);
    if (left.length > 0) this.open.get(handlerId)?.set(conversationId, left);
    else this.open.get(handlerId)?.delete(conversationId);
  }

  hasOpen(conversationId: string): boolean {
    return [...this.open.values()].some((payments) => payments.has(conversationId));
  }

  /** @returns how many there were */
  deleteEvents(conversationId: string): number {
    const events = this.events.get(conversationId) ?? [];
    for (const event of events) this.waiting.delete(event);
    this.events.delete(conversationId);
    return events.length;
  }

  /** @returns whether any of the handlers takes events of this type */
  private deliver(event: PaymentEvent, handlerIds: readonly string[]): boolean {
    const takers = handlerIds.filter((id) => this.handlers.get(id)?.types.includes(event.type));
    const delivery = { account: event.payment.account, event, attempts: 0, parked: false, error: null };
    for (const handlerId of takers) this.save({ ...delivery, handlerId, dueAt: event.occurredAt });
    return takers.length > 0;
  }

  private openOf(handlerId: string, conversationId: string): Delivery[] {
    return this.open.get(handlerId)?.get(conversationId) ?? [];
  }
}

/** Through JSON, as durable stores do it: nothing that is stored is shared with a caller. */
function copyEvent(event: PaymentEvent): PaymentEvent {
  return eventFromJson(eventToJson(event));
}

function copyDelivery(delivery: Delivery): Delivery {
  return { ...delivery, dueAt: new Date(delivery.dueAt), event: copyEvent(delivery.event) };
}
