import type { PaymentEventType } from '../../payment/payment-event.js';
import type { Delivery } from '../payment-outbox.js';
import { byDate, DueQueue } from './due-queue.js';

export interface StoredDelivery extends Delivery {
  /** The text that identifies the lease, which lasts until `dueAt`; null if there is none. */
  readonly lease: string | null;
}

type IsAlive = (type: PaymentEventType) => boolean;

/** The deliveries to one handler. */
export class HandlerDeliveries {
  /** By conversationId, lowest version first. */
  private readonly payments = new Map<string, StoredDelivery[]>();
  /**
   * The first delivery of each payment that is not parked, by its type. No other can be leased, unless a pair is
   * orphaned.
   */
  private readonly firsts = new Map<PaymentEventType, DueQueue>();

  all(): StoredDelivery[] {
    return [...this.payments.values()].flat();
  }

  has(conversationId: string): boolean {
    return this.payments.has(conversationId);
  }

  find(eventId: string): StoredDelivery | undefined {
    const conversationId = eventId.slice(0, eventId.lastIndexOf(':'));
    return this.of(conversationId).find((delivery) => delivery.event.eventId === eventId);
  }

  /** Adds a delivery, or replaces the one of the same event. */
  save(delivery: StoredDelivery): void {
    const deliveries = [...this.othersThan(delivery), delivery];
    this.set(
      delivery,
      deliveries.sort((one, other) => versionOf(one) - versionOf(other)),
    );
  }

  delete(delivery: StoredDelivery): void {
    this.set(delivery, this.othersThan(delivery));
  }

  /**
   * The deliveries that can be leased now, the longest due first, at most one for each payment. The caller saves them
   * as leased.
   */
  takeDue(types: readonly PaymentEventType[], limit: number, now: Date, isAlive: IsAlive): StoredDelivery[] {
    const hasOrphans = [...this.firsts].some(([type, queue]) => queue.size > 0 && !isAlive(type));
    return hasOrphans ? this.pastOrphans(types, limit, now, isAlive) : this.inTurn(types, limit, now);
  }

  private inTurn(types: readonly PaymentEventType[], limit: number, now: Date): StoredDelivery[] {
    const due: StoredDelivery[] = [];
    while (due.length < limit) {
      const queues = types.flatMap((type) => this.firsts.get(type) ?? []);
      const [next] = queues.sort((one, other) => one.firstDueAt - other.firstDueAt);
      const first = firstOf(this.of(next?.take(now) ?? ''));
      if (!first) break;
      due.push(first);
    }
    return due;
  }

  /** Looks at every payment, since a version behind an orphaned one may be due at any time. */
  private pastOrphans(
    types: readonly PaymentEventType[],
    limit: number,
    now: Date,
    isAlive: IsAlive,
  ): StoredDelivery[] {
    const nextOf = (deliveries: readonly StoredDelivery[]): StoredDelivery | undefined => {
      for (const delivery of deliveries.filter(({ parked }) => !parked)) {
        const { dueAt, lease, event } = delivery;
        if (dueAt <= now && types.includes(event.type)) return delivery;
        if ((lease !== null && dueAt > now) || isAlive(event.type)) return undefined;
      }
      return undefined;
    };
    return [...this.payments.values()]
      .flatMap((deliveries) => nextOf(deliveries) ?? [])
      .sort(byDate((delivery) => delivery.dueAt))
      .slice(0, limit);
  }

  private set({ event }: StoredDelivery, deliveries: StoredDelivery[]): void {
    const { conversationId } = event.payment;
    const [before, first] = [firstOf(this.of(conversationId)), firstOf(deliveries)];
    if (deliveries.length > 0) this.payments.set(conversationId, deliveries);
    else this.payments.delete(conversationId);
    if (first === before) return;
    if (before) this.firstsOf(before).delete(conversationId);
    if (first) this.firstsOf(first).set(conversationId, first.dueAt);
  }

  private firstsOf({ event }: StoredDelivery): DueQueue {
    const queue = this.firsts.get(event.type) ?? new DueQueue();
    this.firsts.set(event.type, queue);
    return queue;
  }

  private of(conversationId: string): StoredDelivery[] {
    return this.payments.get(conversationId) ?? [];
  }

  private othersThan({ event }: StoredDelivery): StoredDelivery[] {
    return this.of(event.payment.conversationId).filter((other) => other.event.eventId !== event.eventId);
  }
}

function firstOf(deliveries: readonly StoredDelivery[]): StoredDelivery | undefined {
  return deliveries.find(({ parked }) => !parked);
}

function versionOf({ event }: StoredDelivery): number {
  return event.payment.version;
}
