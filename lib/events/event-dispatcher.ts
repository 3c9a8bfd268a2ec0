import { Injectable } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-store.error.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock } from '../payment/clock.js';
import type { PaymentEvent } from '../payment/payment-event.js';
import { type Delivery, PaymentStore } from '../store/payment-store.js';
import { CallerWaits } from './caller-waits.js';
import { DeliveryRunner } from './delivery-runner.js';
import type { PaymentHandler } from './handler-finder.js';
import { PlainEvents } from './plain-events.js';

const MAX_AT_ONCE = 20;
/** How many calls of handlers one pass waits for, lest a busy shop's pass never ends. */
const MAX_CALLS_PER_PASS = 1_000;
/** Longer than a handler may take. */
const DELIVERY_LEASE_MS = 120_000;

/**
 * Brings events to the host: plain ones at once, awaited ones out of the store's outbox, each handler acknowledged for
 * itself.
 */
@Injectable()
export class EventDispatcher {
  private readonly runner: DeliveryRunner;
  private readonly callers: CallerWaits;
  private handlers: readonly PaymentHandler[] = [];
  private isStarted = false;
  private leasing: Promise<void> | null = null;
  private isAskedAgain = false;
  private calls = 0;
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly store: PaymentStore,
    private readonly plain: PlainEvents,
    private readonly clock: PaymentClock,
    private readonly settings: PaymentSettings,
  ) {
    this.runner = new DeliveryRunner(store, clock);
    this.callers = new CallerWaits(clock);
  }

  /** Makes this application's handlers known to the store, so that no instance without them can swallow an event. */
  async announce(handlers: readonly PaymentHandler[]): Promise<void> {
    this.handlers = handlers;
    await this.plain.connect();
    await this.renew();
  }

  /** Announces again: the store forgets handlers that nobody has announced for long. */
  async renew(): Promise<void> {
    if (this.handlers.length === 0) return;
    const announcements = this.handlers.map(({ id, types }) => ({ id, types }));
    try {
      await this.store.announceHandlers(this.settings.account, announcements, this.clock.now());
    } catch {
      throw new PaymentStoreError('announcing the handlers of events');
    }
  }

  start(): void {
    this.isStarted = true;
  }

  /** Takes no further deliveries and waits for those that run. */
  async stop(): Promise<void> {
    this.isStarted = false;
    await this.leasing;
    await Promise.all(this.running.values());
  }

  /**
   * Called once an event is stored. Resolves when it was delivered here, after two seconds at the latest. Never
   * rejects.
   */
  async publish(event: PaymentEvent): Promise<void> {
    this.plain.emit(event);
    const handlers = this.handlers.filter((handler) => handler.types.includes(event.type)).map(({ id }) => id);
    if (!this.isStarted || handlers.length === 0) return;
    const handled = this.callers.until(event.eventId, handlers);
    void this.leaseMore();
    await handled;
  }

  /** Looks for what is due and does not wait for it. */
  wake(): void {
    if (this.isStarted) void this.leaseMore();
  }

  /** Delivers what is due and waits for it. @returns how many handlers were called */
  async deliverDue(): Promise<number> {
    const before = this.calls;
    let earlier;
    do {
      earlier = this.calls;
      await this.leaseMore();
      await Promise.all(this.running.values());
    } while (this.calls > earlier && this.calls - before < MAX_CALLS_PER_PASS);
    return this.calls - before;
  }

  private leaseMore(): Promise<void> {
    this.isAskedAgain = true;
    this.leasing ??= this.leaseUntilEmpty();
    return this.leasing;
  }

  private async leaseUntilEmpty(): Promise<void> {
    // The first step waits until `leasing` is set, so that the last can clear it.
    await Promise.resolve();
    while (this.isAskedAgain && this.running.size < MAX_AT_ONCE && this.handlers.length > 0) {
      this.isAskedAgain = false;
      const deliveries = await this.lease(MAX_AT_ONCE - this.running.size);
      for (const delivery of deliveries) this.begin(delivery);
      if (deliveries.length > 0) this.isAskedAgain = true;
    }
    this.leasing = null;
  }

  private async lease(limit: number): Promise<Delivery[]> {
    const { account } = this.settings;
    const handlerIds = this.handlers.map((handler) => handler.id);
    const now = this.clock.now();
    const until = new Date(now.getTime() + DELIVERY_LEASE_MS);
    try {
      return await this.store.leaseDeliveries({ account, handlerIds, now, until, limit });
    } catch {
      return [];
    }
  }

  private begin(delivery: Delivery): void {
    const { handlerId, event } = delivery;
    const key = `${handlerId} ${event.eventId}`;
    if (this.running.has(key)) return;
    this.calls += 1;
    const handler = this.handlers.find(({ id }) => id === handlerId);
    const run = this.runner.run(delivery, handler).finally(() => {
      this.running.delete(key);
      this.callers.handled(event.eventId, handlerId);
      this.wake();
    });
    this.running.set(key, run);
  }
}
