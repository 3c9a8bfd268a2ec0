import type { PaymentClock } from '../runtime/clock.js';
import type { Randomness } from '../runtime/randomness.js';
import type { Delivery, PaymentStore } from '../store/payment-store.js';
import type { DeliveryFailures } from './delivery-failures.js';
import { DELIVERY_LEASE_MS, HandlerCall } from './handler-call.js';
import type { PaymentHandler } from './handler-finder.js';

/** A handler call that has been running for more than a minute. */
export interface LongRun {
  readonly handlerId: string;
  readonly eventId: string;
  readonly runningMs: number;
}

/** Calls one handler, within its own concurrency limit: other handlers are not affected if it is slow or hangs. */
export class HandlerWorker {
  private readonly running = new Map<string, HandlerCall>();
  private leasing: Promise<void> | null = null;
  private isAskedAgain = false;
  private begun = 0;
  private untold = 0;
  private isActive = false;

  constructor(
    readonly handler: PaymentHandler,
    private readonly store: PaymentStore,
    private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly failures: DeliveryFailures,
    /** Called when a call of the handler has ended. */
    private readonly onHandled: (eventId: string, handlerId: string) => void,
  ) {}

  /** How many deliveries have been made so far. */
  get deliveries(): number {
    return this.begun;
  }

  /** The same, without those that were kept from the handler. */
  get calls(): number {
    return this.begun - this.untold;
  }

  get longRuns(): LongRun[] {
    return [...this.running.values()].flatMap(({ eventId, longRunMs }) =>
      longRunMs === null ? [] : [{ handlerId: this.handler.id, eventId, runningMs: longRunMs }],
    );
  }

  /** From now on, when a call ends, the next delivery is leased. */
  start(): void {
    this.isActive = true;
  }

  /** From now on, when a call ends, nothing more is leased. */
  stop(): void {
    this.isActive = false;
  }

  /** Leases what is due, up to the handler's concurrency. Resolves when no more can be leased now; never rejects. */
  leaseDue(): Promise<void> {
    this.isAskedAgain = true;
    this.leasing ??= this.leaseUntilFull();
    return this.leasing;
  }

  /** Resolves when the leasing that is under way, if any, has ended. */
  async leasingEnded(): Promise<void> {
    await this.leasing;
  }

  /** Whether the handler is running with this event. */
  isCalling(eventId: string): boolean {
    return this.running.has(eventId);
  }

  /** Resolves when every call that is running now has ended. */
  async finished(): Promise<void> {
    await this.leasing;
    await Promise.all(Array.from(this.running.values(), (call) => call.done));
  }

  /** Stops renewing leases: another instance may take over the deliveries that still run. */
  stopRenewing(): void {
    for (const call of this.running.values()) call.stopRenewing();
  }

  private async leaseUntilFull(): Promise<void> {
    // Wait until `leasing` is set, so that it can be cleared at the end.
    await Promise.resolve();
    while (this.isAskedAgain && this.running.size < this.handler.concurrency) {
      this.isAskedAgain = false;
      const lease = this.random.bytes(16).toString('base64url');
      const places = this.handler.concurrency - this.running.size;
      const deliveries = await this.lease(lease, places);
      for (const delivery of deliveries) this.begin(delivery, lease);
      if (deliveries.length === places) this.isAskedAgain = true;
    }
    // In the same turn as the last check of `isAskedAgain`, so that no request gets lost in between.
    this.leasing = null;
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
    // The lease could not be renewed and ran out, but the first call still runs here: do not start a second one.
    if (this.running.has(eventId)) return;
    this.begun += 1;
    const call = new HandlerCall(delivery, lease, this.handler, this.store, this.clock, this.failures);
    this.running.set(eventId, call);
    void call.done.then(() => {
      this.running.delete(eventId);
      if (call.isUntold) this.untold += 1;
      this.onHandled(eventId, this.handler.id);
      if (this.isActive) void this.leaseDue();
    });
  }
}
