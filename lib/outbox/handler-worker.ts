import type { PaymentClock } from '../payment/clock.js';
import type { Randomness } from '../payment/randomness.js';
import type { Delivery } from '../store/payment-outbox.js';
import type { PaymentStore } from '../store/payment-store.js';
import type { DeliveryFailures } from './delivery-failures.js';
import { DELIVERY_LEASE_MS, HandlerCall } from './handler-call.js';
import type { PaymentHandler } from './handler-finder.js';

/** A call that has been running for longer than a minute. */
export interface LongRun {
  readonly handlerId: string;
  readonly eventId: string;
  readonly runningMs: number;
}

/** Calls one handler, with places of its own: however slow or stuck it is, the others do not notice. */
export class HandlerWorker {
  private readonly running = new Map<string, HandlerCall>();
  private looking: Promise<void> | null = null;
  private isAskedAgain = false;
  private begun = 0;
  private isActive = false;

  constructor(
    readonly handler: PaymentHandler,
    private readonly store: PaymentStore,
    private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly failures: DeliveryFailures,
    /** Called when a call of the handler is over. */
    private readonly onHandled: (eventId: string, handlerId: string) => void,
  ) {}

  /** How many calls were begun so far. */
  get calls(): number {
    return this.begun;
  }

  get longRuns(): LongRun[] {
    return [...this.running.values()].flatMap(({ eventId, longRunMs }) =>
      longRunMs === null ? [] : [{ handlerId: this.handler.id, eventId, runningMs: longRunMs }],
    );
  }

  /** From now on a call that ends is followed by a look for the next. */
  start(): void {
    this.isActive = true;
  }

  /** Begins no further calls by itself. */
  stop(): void {
    this.isActive = false;
  }

  /** Takes what is due as long as there are places. Resolves when nothing more can be taken now; never rejects. */
  look(): Promise<void> {
    this.isAskedAgain = true;
    this.looking ??= this.takeDue();
    return this.looking;
  }

  /** Resolves when the look that is under way, if one is, has taken what it can. */
  async looked(): Promise<void> {
    await this.looking;
  }

  /** Whether the handler runs with this event now. */
  isCalling(eventId: string): boolean {
    return this.running.has(eventId);
  }

  /** Resolves when every call that runs now is over. */
  async finished(): Promise<void> {
    await this.looking;
    await Promise.all(Array.from(this.running.values(), (call) => call.done));
  }

  /** Stops renewing leases: what still runs may be taken over by another instance. */
  letGo(): void {
    for (const call of this.running.values()) call.letGo();
  }

  private async takeDue(): Promise<void> {
    // The first step waits until `looking` is set, so that the last can clear it.
    await Promise.resolve();
    while (this.isAskedAgain && this.running.size < this.handler.concurrency) {
      this.isAskedAgain = false;
      const lease = this.random.bytes(16).toString('base64url');
      const places = this.handler.concurrency - this.running.size;
      const deliveries = await this.lease(lease, places);
      for (const delivery of deliveries) this.begin(delivery, lease);
      if (deliveries.length === places) this.isAskedAgain = true;
    }
    // In the same turn as the last look at `isAskedAgain`: nobody's call goes unheard in between.
    this.looking = null;
  }

  private async lease(lease: string, limit: number): Promise<Delivery[]> {
    const { id: handlerId, account, types } = this.handler;
    try {
      const request = { account, handlerId, types, lease, leaseMs: DELIVERY_LEASE_MS, limit };
      const deliveries = await this.store.leaseDeliveries(request);
      this.failures.succeeded('lease', handlerId);
      return deliveries;
    } catch {
      this.failures.failed('lease', handlerId);
      return [];
    }
  }

  private begin(delivery: Delivery, lease: string): void {
    const { eventId } = delivery.event;
    // A lease that could not be renewed ran out while the call goes on here: no second call beside it.
    if (this.running.has(eventId)) return;
    this.begun += 1;
    const call = new HandlerCall(delivery, lease, this.handler, this.store, this.clock, this.failures);
    this.running.set(eventId, call);
    void call.done.then(() => {
      this.running.delete(eventId);
      this.onHandled(eventId, this.handler.id);
      if (this.isActive) void this.look();
    });
  }
}
