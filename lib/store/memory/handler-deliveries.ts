import type { LedgerEvent, LedgerEventType } from '../../payment/ledger-event.js';
import type { Delivery } from '../payment-store.js';
import { byDate, DueQueue } from './due-queue.js';

export interface StoredDelivery extends Delivery {
  /** The text that identifies the lease, which lasts until `dueAt`; null if there is none. */
  readonly lease: string | null;
}

type IsAlive = (type: LedgerEventType) => boolean;

/** The deliveries to one handler. */
export class HandlerDeliveries {
  /** By the id of the record, lowest version first. */
  private readonly records = new Map<string, StoredDelivery[]>();
  /**
   * The first delivery of each record that is not parked, by its type. No other can be leased, unless a pair is
   * orphaned.
   */
  private readonly firsts = new Map<LedgerEventType, DueQueue>();

  all(): StoredDelivery[] {
    return [...this.records.values()].flat();
  }

  has(recordId: string): boolean {
    return this.records.has(recordId);
  }

  find(eventId: string): StoredDelivery | undefined {
    const recordId = eventId.slice(0, eventId.lastIndexOf(':'));
    return this.of(recordId).find((delivery) => delivery.event.eventId === eventId);
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
   * The deliveries that can be leased now, the longest due first, at most one for each record. The caller saves them
   * as leased.
   */
  takeDue(types: readonly LedgerEventType[], limit: number, now: Date, isAlive: IsAlive): StoredDelivery[] {
    const hasOrphans = [...this.firsts].some(([type, queue]) => queue.size > 0 && !isAlive(type));
    return hasOrphans ? this.pastOrphans(types, limit, now, isAlive) : this.inTurn(types, limit, now);
  }

  private inTurn(types: readonly LedgerEventType[], limit: number, now: Date): StoredDelivery[] {
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

  /** Looks at every record, since a version behind an orphaned one may be due at any time. */
  private pastOrphans(types: readonly LedgerEventType[], limit: number, now: Date, isAlive: IsAlive): StoredDelivery[] {
    const nextOf = (deliveries: readonly StoredDelivery[]): StoredDelivery | undefined => {
      for (const delivery of deliveries.filter(({ parked }) => !parked)) {
        const { dueAt, lease, event } = delivery;
        if (dueAt <= now && types.includes(event.type)) return delivery;
        if ((lease !== null && dueAt > now) || isAlive(event.type)) return undefined;
      }
      return undefined;
    };
    return [...this.records.values()]
      .flatMap((deliveries) => nextOf(deliveries) ?? [])
      .sort(byDate((delivery) => delivery.dueAt))
      .slice(0, limit);
  }

  private set({ event }: StoredDelivery, deliveries: StoredDelivery[]): void {
    const { id } = recordIn(event);
    const [before, first] = [firstOf(this.of(id)), firstOf(deliveries)];
    if (deliveries.length > 0) this.records.set(id, deliveries);
    else this.records.delete(id);
    if (first === before) return;
    if (before) this.firstsOf(before).delete(id);
    if (first) this.firstsOf(first).set(id, first.dueAt);
  }

  private firstsOf({ event }: StoredDelivery): DueQueue {
    const queue = this.firsts.get(event.type) ?? new DueQueue();
    this.firsts.set(event.type, queue);
    return queue;
  }

  private of(recordId: string): StoredDelivery[] {
    return this.records.get(recordId) ?? [];
  }

  private othersThan({ event }: StoredDelivery): StoredDelivery[] {
    return this.of(recordIn(event).id).filter((other) => other.event.eventId !== event.eventId);
  }
}

function firstOf(deliveries: readonly StoredDelivery[]): StoredDelivery | undefined {
  return deliveries.find(({ parked }) => !parked);
}

function versionOf({ event }: StoredDelivery): number {
  return recordIn(event).version;
}

/** Which record an event is of, and of which version: the refund's, where it shows a refund and its payment. */
export function recordIn(event: LedgerEvent): { readonly id: string; readonly version: number } {
  if ('refund' in event) return { id: event.refund.refundId, version: event.refund.version };
  return { id: event.payment.conversationId, version: event.payment.version };
}
