import { Inject, Injectable } from '@nestjs/common';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { Inquiries } from '../operations/inquiry.js';
import { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { SettlementRules } from '../settlement/outcomes.js';
import { OwedWrites } from '../settlement/owed-writes.js';
import { StoreClock } from '../settlement/store-clock.js';
import { PaymentWriter } from '../settlement/writer.js';
import { PAYMENT_STORE, type PaymentStore } from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { DuePayments, sideBySide } from './due-payments.js';

/** What one pass did. */
export interface ReconcileCounts {
  /** Outcomes stored that could not be stored before. */
  written: number;
  /** 3D payments whose buyer did not return. */
  expired: number;
  /** Payments whose process died while charging: now `unknown`. */
  interrupted: number;
  /** Answers to CheckPayment. */
  inquired: number;
  /** Unknown payments that these answers settled or put into review. */
  settled: number;
  /** Calls of `@OnPayment` handlers. */
  delivered: number;
  /** Old payments deleted. */
  purged: number;
}

const EVERY_MS = 2_000;
const PURGE_EVERY_MS = 3_600_000;
/** How long a handler that is no longer announced is remembered: 30 days. */
const PAIR_MEMORY_MS = 30 * 86_400_000;
/** A handler that was not announced for ten minutes no longer holds up deliveries, so announce more often. */
const RENEW_EVERY_MS = 120_000;
/** How soon a failed announcement is tried again. */
const RENEW_AGAIN_MS = 10_000;

/** What is logged when the store fails a part of the background work. */
const FAILED = {
  payments: 'The payment store failed during background work, which is tried again.',
  inquiries: 'The payment store failed during inquiries, which are made again.',
  handlers: 'The payment store failed to record the handlers of events; they are announced again.',
  purge: 'The payment store failed to delete old payments; this is tried again.',
} as const;
type Work = keyof typeof FAILED;

/**
 * The background work: writes owed outcomes, expires payments, asks the gateway about unknown ones, delivers events,
 * and purges. Each task runs on its own schedule, so that none waits for a slow gateway, handler or purge.
 */
@Injectable()
export class Reconciler {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;
  private readonly stopping = new AbortController();
  /** The payments that the background passes work on. */
  private readonly due: DuePayments;
  private loops: Promise<unknown> | null = null;
  /** When the last background pass succeeded, or when the work started; null before. */
  private passedAt: number | null = null;
  private renewAt = 0;
  private purgeAt = 0;
  private unheard = 0;

  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly owed: OwedWrites,
    private readonly writer: PaymentWriter,
    private readonly inquiries: Inquiries,
    private readonly events: EventDispatcher,
    private readonly rules: SettlementRules,
    @Inject(StoreClock) private readonly clock: PaymentClock,
    private readonly settings: PaymentSettings,
  ) {
    this.limited = new LimitedLog(clock);
    this.due = this.newDuePayments(() => this.report('inquiries'));
  }

  /** How long ago the last background pass succeeded, in milliseconds; null if there is no background work. */
  get idleMs(): number | null {
    return this.passedAt === null || this.stopping.signal.aborted ? null : this.clock.monotonic() - this.passedAt;
  }

  /** How many events this process has deleted that no handler took within 30 days. */
  get unheardEvents(): number {
    return this.unheard;
  }

  start(): void {
    if (!this.settings.background) return;
    this.passedAt ??= this.clock.monotonic();
    this.events.start();
    this.loops ??= Promise.all([
      this.repeat(() => this.events.wake()),
      this.repeat(() => this.attempt('payments', () => this.passInBackground())),
      this.repeat(() => this.attempt('handlers', () => this.renewHandlers())),
      this.repeat(() => this.attempt('purge', () => this.purge())),
    ]);
  }

  /** Stops leasing, hands back what is leased, and waits for what runs. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loops;
    await this.due.ended();
    await this.events.stop();
  }

  /**
   * Makes one pass, and waits for the gateway's answers about unknown payments. If the store fails, the pass ends;
   * leases run out by themselves.
   *
   * @throws PaymentStoreError
   */
  async pass(): Promise<ReconcileCounts> {
    const failures: unknown[] = [];
    const due = this.newDuePayments((failure) => failures.push(failure));
    let written = 0;
    const payments = async (): Promise<void> => {
      written = await this.owed.writeAll();
      await due.process(true);
      if (failures.length > 0) throw failures[0] as Error;
    };
    await sideBySide<() => Promise<unknown>>([payments, () => this.renewHandlers()], 2, (work) => work());
    const delivered = await this.events.deliverDue();
    // Last, since what a purge looks at is locked for a moment, and is then no payment that is due.
    const purged = await this.purge();
    return { written, ...due.counts, delivered, purged };
  }

  private async passInBackground(): Promise<void> {
    // First, since a claim that runs out meanwhile would turn an outcome that is known here into `unknown`.
    await this.owed.writeAll();
    await this.due.process(false);
    this.passedAt = this.clock.monotonic();
  }

  private async repeat(work: () => Promise<void> | void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.clock.sleep(EVERY_MS * (0.75 + 0.5 * this.rules.random.fraction()), signal);
      if (!signal.aborted) await work();
    }
  }

  /** Never rejects. */
  private attempt(work: Work, run: () => Promise<unknown>): Promise<void> {
    return run().then(
      () => undefined,
      () => this.report(work),
    );
  }

  /** Logs that the store failed, a few times a minute. */
  private report(work: Work): void {
    const { account } = this.settings;
    this.limited.write(work, (end) => this.logger.error(new LogRecord(FAILED[work] + end, { account })));
  }

  /** Does nothing while it is not due. */
  private async renewHandlers(): Promise<void> {
    const now = this.clock.monotonic();
    if (now < this.renewAt) return;
    this.renewAt = now + RENEW_AGAIN_MS;
    await this.events.renew();
    this.renewAt = now + RENEW_EVERY_MS;
  }

  /**
   * Deletes old settled payments with their refunds, and handlers and keys that have been remembered long enough.
   *
   * @returns how many payments were deleted; 0 if it was not due
   */
  private async purge(): Promise<number> {
    const now = this.clock.monotonic();
    if (now < this.purgeAt) return 0;
    this.purgeAt = now + PURGE_EVERY_MS;
    const { account, retentionMs, idempotencyTtlMs } = this.settings;
    const retention = { paymentsMs: retentionMs, pairsMs: PAIR_MEMORY_MS, keysMs: idempotencyTtlMs };
    const purge = () => this.store.purge(account, retention);
    const { payments, unheard, hasMore } = await callStore('deleting old payments', purge);
    if (hasMore) this.purgeAt = now;
    if (unheard > 0) this.reportUnheard(unheard);
    return payments;
  }

  private reportUnheard(events: number): void {
    this.unheard += events;
    const { account } = this.settings;
    const line = `Old payments were purged with events that no handler took within 30 days: ${events}.`;
    this.logger.log(new LogRecord(line, { account, events }));
  }

  private newDuePayments(onFailure: (error: unknown) => void): DuePayments {
    const { store, writer, inquiries, rules, clock, settings } = this;
    const stopping = this.stopping.signal;
    return new DuePayments({ store, writer, inquiries, rules, clock, settings, stopping }, onFailure);
  }
}
