import type { PaymentEventType } from '../../payment/payment-event.js';
import type { Delivery } from '../payment-outbox.js';
import { byDate } from './by-date.js';
import { DueQueue } from './due-queue.js';

export interface StoredDelivery extends Delivery {
  /** Who has it leased; null while nobody has. The lease is good until `dueAt`. */
  readonly lease: string | null;
}

type IsAlive = (type: PaymentEventType) => boolean;

/** The deliveries to one handler. */
export class HandlerDeliveries {
  /** By conversationId, lowest version first. */
  private readonly payments = new Map<string, StoredDelivery[]>();
  /** Of each payment the first that is not parked, by its type: the only one that can be leased, orphans aside. */
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

  /** Writes a delivery over the one of the same event. */
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

  /** Those that can be leased now, the longest due first, of a payment at most one. They are to be saved as leased. */
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

  /** Looks at every payment: which versions an orphan lets pass is no matter of when they are due. */
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
