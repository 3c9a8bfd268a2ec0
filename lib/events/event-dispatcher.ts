import { Inject, Injectable } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock, withTimeout } from '../runtime/clock.js';
import type { LedgerEvent } from '../payment/payment-event.js';
import { Randomness } from '../runtime/randomness.js';
import { PAYMENT_STORE, type PaymentStore } from '../store/payment-store.js';
import { CallerWaits } from './caller-waits.js';
import { DeliveryFailures } from './delivery-failures.js';
import type { PaymentHandler } from './handler-finder.js';
import { HandlerWorker, type LongRun } from './handler-worker.js';
import { PlainEvents } from './plain-events.js';

/** How many payments' events are fanned out in one step. */
const FAN_OUT_STEP = 100;
/** A pass waits for at most this many handler calls, so that it ends even in a busy shop. */
const MAX_CALLS_PER_PASS = 1_000;
/** Soon enough for a caller that waits for another process's handler, and rare enough to cost little. */
const WAKE_SOON_MS = 50;
/** How long a pass or a shutdown waits for running handlers. */
const MAX_HANDLER_WAIT_MS = 30_000;

/**
 * Delivers events to the host: plain ones at once, those of `@OnPayment` and `@OnRefund` from the store's outbox. Each
 * handler has a worker of its own and acknowledges for itself.
 */
@Injectable()
export class EventDispatcher {
  private readonly callers: CallerWaits;
  private readonly failures: DeliveryFailures;
  private workers: readonly HandlerWorker[] = [];
  private isStarted = false;
  private fanningOut: Promise<void> | null = null;
  /** Those that are to lease once events have been fanned out. */
  private readonly asked = new Set<HandlerWorker>();
  private isWakingSoon = false;

  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly plain: PlainEvents,
    private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {
    this.callers = new CallerWaits(clock);
    this.failures = new DeliveryFailures(clock, settings);
  }

  /** How often in a row the store has failed to fan out, lease or renew deliveries; 0 when it succeeds. */
  get failuresInRow(): number {
    return this.failures.count;
  }

  /** Handler calls that have been running for more than a minute. */
  get longRuns(): LongRun[] {
    return this.workers.flatMap((worker) => worker.longRuns);
  }

  /** Announces this application's handlers to the store, so that no instance without them can lose their events. */
  async announce(handlers: readonly PaymentHandler[]): Promise<void> {
    const onHandled = (eventId: string, handlerId: string): void => this.callers.handled(eventId, handlerId);
    this.workers = handlers.map(
      (handler) => new HandlerWorker(handler, this.store, this.clock, this.random, this.failures, onHandled),
    );
    await this.plain.connect();
    await this.renew();
  }

  /**
   * Announces again. A pair that is not announced for ten minutes no longer delays others; after 30 days it is
   * forgotten.
   */
  async renew(): Promise<void> {
    const pairs = this.workers.flatMap(({ handler: { id, types } }) => types.map((type) => ({ handlerId: id, type })));
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

  /** Stops leasing and waits up to half a minute for running handlers, then lets their leases run out. */
  async stop(): Promise<void> {
    this.isStarted = false;
    for (const worker of this.workers) worker.stop();
    await this.finished();
    for (const worker of this.workers) worker.stopRenewing();
  }

  /**
   * Call this once an event is stored. Resolves when this process's handlers have been called, after two seconds at the
   * latest. Never rejects.
   */
  async publish(event: LedgerEvent): Promise<void> {
    this.plain.emit(event);
    const takers = this.workers.filter(({ handler }) => handler.types.includes(event.type));
    if (!this.isStarted || takers.length === 0) return;
    const ids = takers.map(({ handler }) => handler.id);
    const handled = this.callers.until(event.eventId, ids);
    void this.deliverHere(event.eventId, takers);
    await handled;
  }

  private async deliverHere(eventId: string, takers: readonly HandlerWorker[]): Promise<void> {
    await this.fanOutTo(takers);
    for (const worker of takers) {
      await worker.leasingEnded();
      if (!worker.isCalling(eventId) && this.callers.waitBriefly(eventId, worker.handler.id)) this.wakeSoon();
    }
  }

  /**
   * Only one process fans out at a time. Another one may have finished before this process's event was stored, and then
   * the event is not fanned out yet.
   */
  private wakeSoon(): void {
    if (this.isWakingSoon) return;
    this.isWakingSoon = true;
    this.clock.timer(WAKE_SOON_MS, () => {
      this.isWakingSoon = false;
      this.wake();
    });
  }

  /** Starts fanning out and leasing what is due, without waiting for it. */
  wake(): void {
    if (!this.isStarted) return;
    void this.fanOutTo(this.workers);
  }

  /**
   * Delivers what is due and waits for it, up to half a minute for slow handlers.
   *
   * @returns how many handler calls were begun
   */
  async deliverDue(): Promise<number> {
    const made = (): number => this.sumOf('deliveries');
    const [before, calls] = [made(), this.sumOf('calls')];
    let earlier;
    let isOver;
    do {
      earlier = made();
      await this.fanOutTo(this.workers);
      await Promise.all(this.workers.map((worker) => worker.leaseDue()));
      isOver = await this.finished();
    } while (isOver && made() > earlier && made() - before < MAX_CALLS_PER_PASS);
    return this.sumOf('calls') - calls;
  }

  /** @returns false when handlers still run after half a minute */
  private finished(): Promise<boolean> {
    const running = () => Promise.all(this.workers.map((worker) => worker.finished()));
    return withTimeout(MAX_HANDLER_WAIT_MS, running, this.clock).then(
      () => true,
      () => false,
    );
  }

  private sumOf(count: 'deliveries' | 'calls'): number {
    return this.workers.reduce((sum, worker) => sum + worker[count], 0);
  }

  private fanOutTo(workers: readonly HandlerWorker[]): Promise<void> {
    for (const worker of workers) this.asked.add(worker);
    this.fanningOut ??= this.fanOutUntilDone();
    return this.fanningOut;
  }

  /** @returns how many events were fanned out; 0 when the store failed, which is tried again within seconds */
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

  /**
   * Fans out in bounded steps and lets the workers lease after each, so that a long backlog is delivered while it is
   * fanned out.
   */
  private async fanOutUntilDone(): Promise<void> {
    await Promise.resolve();
    while (this.asked.size > 0) {
      const workers = [...this.asked];
      this.asked.clear();
      const events = await this.fanOut();
      // Fewer events than were asked for means that none are left.
      if (events >= FAN_OUT_STEP) for (const worker of workers) this.asked.add(worker);
      if (this.isStarted) for (const worker of workers) void worker.leaseDue();
    }
    this.fanningOut = null;
  }
}
