import { Injectable, Logger } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-store.error.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { maskCards } from '../payment/card-mask.js';
import { PaymentClock } from '../payment/clock.js';
import type { Payment } from '../payment/payment.js';
import { tidy } from '../flows/result-changes.js';
import { type Delivery, PaymentStore } from '../store/payment-store.js';
import type { PaymentHandler } from './handler-finder.js';
import type { PaymentEvent } from '../payment/payment-event.js';
import { PlainEvents } from './plain-events.js';

/** How long a caller waits for handlers, so that the buyer finds the order paid; they go on behind its back. */
const MAX_CALLER_WAIT_MS = 2_000;
const MAX_AT_ONCE = 20;
/** How many calls of handlers one pass waits for, lest a busy shop's pass never ends. */
const MAX_CALLS_PER_PASS = 1_000;
/** A handler that takes longer counts as failed; its delivery's lease is longer still. */
const HANDLER_LIMIT_MS = 60_000;
const LEASE_MS = 120_000;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 3_600_000;
/** Tries before a delivery is parked: about four hours. */
export const MAX_TRIES = 15;
const MAX_ERROR_LENGTH = 300;

/** Brings events to the host: plain ones at once, awaited ones out of the store's outbox, each handler acknowledged for itself. */
@Injectable()
export class EventDispatcher {
  private readonly logger = new Logger('PaymentModule');
  private handlers: readonly PaymentHandler[] = [];
  private isDelivering = false;
  private leasing: Promise<void> | null = null;
  private isAskedAgain = false;
  private started = 0;
  private readonly running = new Map<string, Promise<void>>();
  private readonly waiting = new Map<string, { left: Set<string>; done: () => void }>();

  constructor(
    private readonly store: PaymentStore,
    private readonly plain: PlainEvents,
    private readonly clock: PaymentClock,
    private readonly settings: PaymentSettings,
  ) {}

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
    this.isDelivering = true;
  }

  /** Takes no further deliveries and waits for those that run. */
  async stop(): Promise<void> {
    this.isDelivering = false;
    await this.leasing;
    await Promise.all(this.running.values());
  }

  /** Called once an event is in the store. Resolves when this process has delivered it, after two seconds at the latest. Never rejects. */
  async raised(event: PaymentEvent): Promise<void> {
    this.plain.emit(event);
    const concerned = this.handlers.filter((handler) => handler.types.includes(event.type));
    if (!this.isDelivering || concerned.length === 0) return;
    const patience = new AbortController();
    const delivered = new Promise<void>((done) => {
      this.waiting.set(event.eventId, { left: new Set(concerned.map((handler) => handler.id)), done });
    });
    void this.leaseMore();
    await Promise.race([delivered, this.clock.sleep(MAX_CALLER_WAIT_MS, patience.signal)]);
    patience.abort();
    this.waiting.delete(event.eventId);
  }

  /** Looks for what is due and does not wait for it. */
  wake(): void {
    if (this.isDelivering) void this.leaseMore();
  }

  /** Delivers what is due and waits for it. @returns how many handlers were called */
  async deliverDue(): Promise<number> {
    const before = this.started;
    let startedEarlier;
    do {
      startedEarlier = this.started;
      await this.leaseMore();
      await Promise.all(this.running.values());
    } while (this.started > startedEarlier && this.started - before < MAX_CALLS_PER_PASS);
    return this.started - before;
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
    try {
      return await this.store.leaseDeliveries({
        account,
        handlerIds,
        now,
        until: new Date(now.getTime() + LEASE_MS),
        limit,
      });
    } catch {
      return [];
    }
  }

  private begin(delivery: Delivery): void {
    const key = `${delivery.handlerId} ${delivery.event.eventId}`;
    if (this.running.has(key)) return;
    this.started += 1;
    const run = this.deliver(delivery).finally(() => {
      this.running.delete(key);
      this.tell(delivery);
      this.wake();
    });
    this.running.set(key, run);
  }

  private async deliver(delivery: Delivery): Promise<void> {
    const { account, handlerId, event } = delivery;
    const handler = this.handlers.find((one) => one.id === handlerId);
    const failure = handler ? await this.call(handler, event) : 'this instance has no such handler';
    try {
      if (failure === null) await this.store.acknowledge(account, handlerId, event.eventId);
      else await this.store.postpone(this.postponed(delivery, failure));
    } catch {
      this.logger.error(
        `Event ${event.eventId}: the store did not take the delivery to ${handlerId}; it will come again.`,
      );
    }
  }

  /** @returns what failed, or null */
  private async call(handler: PaymentHandler, event: PaymentEvent): Promise<string | null> {
    const limit = new AbortController();
    const late = this.clock.sleep(HANDLER_LIMIT_MS, limit.signal).then(() => 'took longer than 60 seconds');
    const call = Promise.resolve()
      .then(() => handler.handle(event))
      .then(
        () => null,
        (error: unknown) => failureText(error, event.payment),
      );
    const failure = await Promise.race([call, late]);
    limit.abort();
    return failure;
  }

  private postponed(delivery: Delivery, error: string): Delivery {
    const attempts = delivery.attempts + 1;
    const parked = attempts >= MAX_TRIES;
    const wait = Math.min(MIN_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS);
    const { handlerId, event } = delivery;
    if (parked) {
      this.logger.error(
        `Event ${event.eventId}: ${handlerId} failed ${attempts} times and is parked until it is replayed.`,
      );
    } else {
      this.logger.warn(`Event ${event.eventId}: ${handlerId} failed (try ${attempts}); it is tried again.`);
    }
    return { ...delivery, attempts, parked, error, dueAt: new Date(this.clock.now().getTime() + wait) };
  }

  private tell({ event, handlerId }: Delivery): void {
    const waiting = this.waiting.get(event.eventId);
    waiting?.left.delete(handlerId);
    if (waiting?.left.size === 0) waiting.done();
  }
}

function failureText(error: unknown, payment: Payment): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'threw something that is no Error';
  return tidy(text, MAX_ERROR_LENGTH, (line) => maskCards(line, payment));
}
