import { Inject, Injectable } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock, withTimeout } from '../runtime/clock.js';
import type { LedgerEvent } from '../payment/payment-event.js';
import { CoalescedWork } from '../runtime/coalesced-work.js';
import { Randomness } from '../runtime/randomness.js';
import { PAYMENT_STORE, type PaymentStore } from '../store/payment-store.js';
import type { PaymentHandler } from './handler-finder.js';
import { DeliveryFailures, HandlerWorker, type LongRun } from './handler-worker.js';
import { PlainEvents } from './plain-events.js';

/** How many payments' events are fanned out in one step. */
const FAN_OUT_STEP = 100;
/** A pass waits for at most this many handler calls, so that it ends even in a busy shop. */
const MAX_CALLS_PER_PASS = 1_000;
/** How long a caller waits for handlers, so that the buyer finds the order paid. They go on after that. */
const MAX_CALLER_WAIT_MS = 2_000;
const WAKE_SOON_MS = 50;
/** How long a pass or a shutdown waits for running handlers. */
const MAX_HANDLER_WAIT_MS = 30_000;

/**
 * Delivers events to the host: plain ones at once, those of `@OnPayment` and `@OnRefund` from the store's outbox. Each
 * handler has a worker of its own and acknowledges for itself.
 */
@Injectable()
export class EventDispatcher {
  private readonly failures: DeliveryFailures;
  private workers: readonly HandlerWorker[] = [];
  private isStarted = false;
  private isWakingSoon = false;
  /** Those that are to lease once events have been fanned out. */
  private readonly asked = new Set<HandlerWorker>();
  private readonly fanningOut = new CoalescedWork(() => this.fanOutStep());

  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly plain: PlainEvents,
    private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {
    this.failures = new DeliveryFailures(clock, settings.account);
  }

  /** Handler calls that have been running for more than a minute. */
  get longRuns(): LongRun[] {
    return this.workers.flatMap((worker) => worker.longRuns);
  }

  /** Announces this application's handlers to the store, so that no instance without them can lose their events. */
  async announce(handlers: readonly PaymentHandler[]): Promise<void> {
    const { store, clock, random, failures, settings } = this;
    this.workers = handlers.map((handler) => new HandlerWorker(handler, store, clock, random, failures, settings));
    this.plain.connect();
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
    const handled = async (): Promise<void> => {
      await this.fanOutTo(takers);
      const wasHere = await Promise.all(takers.map((worker) => worker.handled(event.eventId)));
      if (wasHere.includes(false)) this.wakeSoon();
    };
    await withTimeout(MAX_CALLER_WAIT_MS, handled, this.clock).catch(() => undefined);
  }

  /**
   * Another instance may have been fanning an event out, and delivers it to its own handlers alone. Not sooner than it
   * needs for that.
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
    // Without background work they go on during a pass alone, so that one that hangs holds up no other.
    for (const worker of this.workers) worker.start();
    do {
      earlier = made();
      await this.fanOutTo(this.workers);
      while (this.asked.size > 0) await this.fanningOut.ended();
      await Promise.all(this.workers.map((worker) => worker.leaseDue()));
      isOver = await this.finished();
    } while (isOver && made() > earlier && made() - before < MAX_CALLS_PER_PASS);
    if (!this.isStarted) for (const worker of this.workers) worker.stop();
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
    return this.fanningOut.run();
  }

  /**
   * Fans out a bounded number of events and lets the workers lease, so that a long backlog is delivered while it is
   * fanned out. Then it asks for the next step, which no caller waits for.
   */
  private async fanOutStep(): Promise<void> {
    const workers = [...this.asked];
    this.asked.clear();
    const { account } = this.settings;
    const events = await this.failures.watch('fanOut', () => this.store.fanOut(account, FAN_OUT_STEP));
    if (this.isStarted) for (const worker of workers) void worker.leaseDue();
    // Fewer events than were asked for means that none are left; a store that failed is asked again within seconds.
    if (events !== null && events >= FAN_OUT_STEP) void this.fanOutTo(workers);
  }
}
