import { Injectable } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock } from '../payment/clock.js';
import { withTimeout } from '../payment/with-timeout.js';
import type { PaymentEvent } from '../payment/payment-event.js';
import { Randomness } from '../payment/randomness.js';
import { PaymentStore } from '../store/payment-store.js';
import { CallerWaits } from './caller-waits.js';
import { DeliveryFailures } from './delivery-failures.js';
import type { PaymentHandler } from './handler-finder.js';
import { HandlerWorker, type LongRun } from './handler-worker.js';
import { PlainEvents } from './plain-events.js';

/** Payments whose events are fanned out in one step. */
const FAN_OUT_STEP = 100;
/** How many calls of handlers one pass waits for, lest a busy shop's pass never ends. */
const MAX_CALLS_PER_PASS = 1_000;
/** Often enough for a caller who waits for a handler elsewhere, seldom enough to cost nothing. */
const WAKE_SOON_MS = 50;
/** How long a pass or a shutdown waits for handlers that run. */
const MAX_HANDLER_WAIT_MS = 30_000;

/**
 * Brings events to the host: plain ones at once, awaited ones out of the store's outbox, each handler by a worker of
 * its own and acknowledged for itself.
 */
@Injectable()
export class EventDispatcher {
  private readonly callers: CallerWaits;
  private readonly failures: DeliveryFailures;
  private workers: readonly HandlerWorker[] = [];
  private isStarted = false;
  private fanningOut: Promise<void> | null = null;
  private isAskedAgain = false;
  private isWakingSoon = false;

  constructor(
    private readonly store: PaymentStore,
    private readonly plain: PlainEvents,
    private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {
    this.callers = new CallerWaits(clock);
    this.failures = new DeliveryFailures(clock, settings);
  }

  /** How often in a row the store has failed where deliveries are made, taken or renewed; 0 while all is well. */
  get failuresInRow(): number {
    return this.failures.count;
  }

  /** Calls of handlers that have been running for longer than a minute. */
  get longRuns(): LongRun[] {
    return this.workers.flatMap((worker) => worker.longRuns);
  }

  /** Makes this application's handlers known to the store, so that no instance without them can swallow an event. */
  async announce(handlers: readonly PaymentHandler[]): Promise<void> {
    const onHandled = (eventId: string, handlerId: string): void => this.callers.handled(eventId, handlerId);
    this.workers = handlers.map(
      (handler) => new HandlerWorker(handler, this.store, this.clock, this.random, this.failures, onHandled),
    );
    await this.plain.connect();
    await this.renew();
  }

  /**
   * Announces again: a pair that nobody has announced for ten minutes holds up nothing, and is forgotten after 30 days.
   */
  async renew(): Promise<void> {
    const pairs = this.workers.flatMap(({ handler }) => handler.types.map((type) => ({ handlerId: handler.id, type })));
    if (pairs.length === 0) return;
    try {
      await this.store.announce(this.settings.account, pairs);
    } catch {
      throw new PaymentStoreError('announcing the handlers of events');
    }
  }

  start(): void {
    this.isStarted = true;
    for (const worker of this.workers) worker.start();
  }

  /** Takes no further deliveries and waits half a minute for those that run; then lets their leases run out. */
  async stop(): Promise<void> {
    this.isStarted = false;
    for (const worker of this.workers) worker.stop();
    await this.finished();
    for (const worker of this.workers) worker.letGo();
  }

  /**
   * Called once an event is stored. Resolves when it was delivered here, after two seconds at the latest. Never
   * rejects.
   */
  async publish(event: PaymentEvent): Promise<void> {
    this.plain.emit(event);
    const handlers = this.workers.flatMap(({ handler }) => (handler.types.includes(event.type) ? [handler.id] : []));
    if (!this.isStarted || handlers.length === 0) return;
    const handled = this.callers.until(event.eventId, handlers);
    void this.takeUp(event.eventId);
    await handled;
  }

  private async takeUp(eventId: string): Promise<void> {
    await this.fanOutAll();
    for (const worker of this.workers) {
      await worker.looked();
      if (!worker.isCalling(eventId) && this.callers.elsewhere(eventId, worker.handler.id)) this.wakeSoon();
    }
  }

  /**
   * A store gives way where another process is fanning out, which may have looked before this process's event was there:
   * then nobody has it.
   */
  private wakeSoon(): void {
    if (this.isWakingSoon) return;
    this.isWakingSoon = true;
    this.clock.timer(WAKE_SOON_MS, () => {
      this.isWakingSoon = false;
      this.wake();
    });
  }

  /** Looks for what is to be fanned out and what is due, and does not wait for it. */
  wake(): void {
    if (!this.isStarted) return;
    void this.fanOutAll();
  }

  /**
   * Delivers what is due and waits for it, half a minute for calls that take long. @returns how many calls were begun
   */
  async deliverDue(): Promise<number> {
    const before = this.calls;
    let earlier;
    let isOver;
    do {
      earlier = this.calls;
      await this.fanOutAll();
      await Promise.all(this.workers.map((worker) => worker.look()));
      isOver = await this.finished();
    } while (isOver && this.calls > earlier && this.calls - before < MAX_CALLS_PER_PASS);
    return this.calls - before;
  }

  /** @returns false when calls still run after half a minute */
  private finished(): Promise<boolean> {
    const running = () => Promise.all(this.workers.map((worker) => worker.finished()));
    return withTimeout(MAX_HANDLER_WAIT_MS, running, this.clock).then(
      () => true,
      () => false,
    );
  }

  private get calls(): number {
    return this.workers.reduce((sum, worker) => sum + worker.calls, 0);
  }

  private fanOutAll(): Promise<void> {
    this.isAskedAgain = true;
    this.fanningOut ??= this.fanOutUntilDone();
    return this.fanningOut;
  }

  /** @returns how many events were fanned out; 0 when the store failed, which is looked at again in seconds */
  private async fanOut(): Promise<number> {
    try {
      const events = await this.store.fanOut(this.settings.account, FAN_OUT_STEP);
      this.failures.succeeded('fanOut');
      return events;
    } catch {
      this.failures.failed('fanOut');
      return 0;
    }
  }

  /** In bounded steps, each with a look by the workers, so that a long backlog is worked on while it is fanned out. */
  private async fanOutUntilDone(): Promise<void> {
    await Promise.resolve();
    while (this.isAskedAgain && this.workers.length > 0) {
      this.isAskedAgain = false;
      const events = await this.fanOut();
      // Each payment has an event at least: with fewer, nothing is left.
      if (events >= FAN_OUT_STEP) this.isAskedAgain = true;
      if (!this.isStarted) continue;
      for (const worker of this.workers) void worker.look();
    }
    this.fanningOut = null;
  }
}
