import { Inject, Injectable } from '@nestjs/common';
import { GatewayClient } from '../gateway/gateway-client.js';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { FailureLog } from '../payment/failure-log.js';
import { InquiryFlow } from './inquiry-flow.js';
import { InquiryQueue, type InquiryWatch, type OpenQuestion } from './inquiry-queue.js';
import type { PaymentClock } from '../payment/clock.js';
import { isKnown, type PaymentRecord } from '../payment/payment.js';
import { rowOf } from '../payment/payment-state.js';
import { Randomness } from '../payment/randomness.js';
import { DuePayments, PAYMENT_LEASE_MS } from './due-payments.js';
import { OwedWrites } from './owed-writes.js';
import { PaymentWriter } from './payment-writer.js';
import { nextInquiry } from './schedule.js';
import { sideBySide } from './side-by-side.js';
import { StoreClock } from './store-clock.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';

/** What one pass did. */
export interface ReconcileCounts {
  /** Outcomes written that the store could not take before. */
  written: number;
  /** 3D payments that nobody came back to. */
  expired: number;
  /** Payments whose process died while charging: now `unknown`. */
  interrupted: number;
  /** CheckPayments that were answered. */
  inquired: number;
  /** Unknown payments that are settled, or in review, by it. */
  settled: number;
  /** Awaited handlers that were called. */
  delivered: number;
  /** Old payments deleted. */
  purged: number;
}

const LEASE_BATCH = 50;
const MAX_PAYMENTS_PER_PASS = 200;
const PAYMENTS_AT_ONCE = 4;
/** In the background: with answers that take 20 seconds, all of them are asked about before their leases run out. */
const MAX_WAITING_INQUIRIES = 100;
const EVERY_MS = 2_000;
/** When a newer release, which runs beside this one, gets its next turn at a payment that only it knows. */
const NEWER_RELEASE_MS = 60_000;
const PURGE_EVERY_MS = 3_600_000;
/** Handlers that were not announced for ten minutes hold up no delivery of others. */
const RENEW_EVERY_MS = 120_000;
/** How soon what failed is tried again. */
const RENEW_AGAIN_MS = 10_000;
/** How often payments are looked for that nobody is scheduled to ask about, although this instance could. */
const REVIVE_EVERY_MS = 3_600_000;
/** How many unknown payments are looked through for them at once; twice as many where none was among these. */
const MIN_REVIVED = 500;
const MAX_REVIVED = 16_000;

/** Work that is done on its own time. */
type Task = 'payments' | 'inquiries' | 'revival' | 'handlers' | 'purge';

const FAILED: Readonly<Record<Task, string>> = {
  payments: 'The background work was cut short by the payment store; it goes on.',
  inquiries: 'The background work was cut short by the payment store; inquiries are made again.',
  revival: 'The payment store did not look for unknown payments that nobody asks about; it is asked to again.',
  handlers: 'The payment store did not take which handlers there are; they are announced again.',
  purge: 'The payment store did not delete what is old; it is asked to again.',
};

/**
 * The background work: writes what is owed, expires, asks the gateway about what is not known, delivers events, deletes.
 * Each is done on its own time, so that none waits for a gateway, a handler or a deletion that takes long.
 */
@Injectable()
export class Reconciler {
  private readonly logger = new PaymentLogger();
  private readonly failures: FailureLog<Task>;
  private readonly stopping = new AbortController();
  /** Of the loop's own passes. */
  private readonly questions: InquiryQueue;
  private loops: Promise<unknown> | null = null;
  /** When the last pass of the loop began; null before the first. */
  private passedAt: number | null = null;
  private renewAt = 0;
  private purgeAt = 0;
  private reviveAt = 0;
  private reviveLimit = MIN_REVIVED;

  constructor(
    private readonly due: DuePayments,
    private readonly owed: OwedWrites,
    private readonly writer: PaymentWriter,
    private readonly inquiries: InquiryFlow,
    private readonly gateway: GatewayClient,
    private readonly events: EventDispatcher,
    @Inject(StoreClock) private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {
    const { account } = settings;
    this.failures = new FailureLog<Task>(clock, (task, end) =>
      this.logger.error(new LogRecord(FAILED[task] + end, { account })),
    );
    this.questions = this.newQueue(MAX_WAITING_INQUIRIES, {
      failed: () => this.failures.failed('inquiries'),
      succeeded: () => this.failures.succeeded('inquiries'),
    });
  }

  /** How long ago the background work last began a pass, in milliseconds; null where it does not run. */
  get idleMs(): number | null {
    return this.passedAt === null || this.stopping.signal.aborted ? null : this.clock.monotonic() - this.passedAt;
  }

  /** How often in a row the store has failed the background work; 0 while all is well. */
  get failuresInRow(): number {
    return this.failures.count;
  }

  start(): void {
    if (!this.settings.background) return;
    this.passedAt ??= this.clock.monotonic();
    this.events.start();
    this.loops ??= Promise.all([
      this.repeat(() => this.events.wake()),
      this.repeat(() => this.attempt('payments', () => this.passInBackground())),
      this.repeat(() => this.attempt('revival', () => this.revive())),
      this.repeat(() => this.attempt('handlers', () => this.renewHandlers())),
      this.repeat(() => this.attempt('purge', () => this.purge())),
    ]);
  }

  /** Leases nothing more, hands back what is leased, and waits for what runs. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loops;
    await this.questions.ended();
    await this.events.stop();
  }

  /** One pass. A store that fails ends it; what was leased comes back by itself. @throws PaymentStoreError */
  async pass(): Promise<ReconcileCounts> {
    const counts = noCounts();
    const tasks = [
      () => this.passAndAsk(counts),
      () => this.renewHandlers(),
      async () => void (counts.purged = await this.purge()),
    ];
    await sideBySide(tasks, tasks.length, (task) => task());
    counts.delivered = await this.events.deliverDue();
    return counts;
  }

  /** Payments that are due, and what the gateway says of those that are not known. */
  private async passAndAsk(counts: ReconcileCounts): Promise<void> {
    const failures: unknown[] = [];
    const questions = this.newQueue(MAX_PAYMENTS_PER_PASS, {
      failed: (failure) => failures.push(failure),
      succeeded: () => undefined,
    });
    try {
      await this.revive();
      await this.processDue(counts, questions);
    } finally {
      await questions.ended();
    }
    if (failures.length > 0) throw failures[0] as Error;
  }

  private async passInBackground(): Promise<void> {
    this.passedAt = this.clock.monotonic();
    await this.processDue(noCounts(), this.questions);
  }

  private async repeat(work: () => Promise<void> | void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.clock.sleep(EVERY_MS * (0.75 + 0.5 * this.random.fraction()), signal);
      if (!signal.aborted) await work();
    }
  }

  /** Never rejects. */
  private async attempt(task: Task, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.failures.succeeded(task);
    } catch {
      this.failures.failed(task);
    }
  }

  /** What is quickly done is done now; what is to be asked about is left to the queue. */
  private async processDue(counts: ReconcileCounts, questions: InquiryQueue): Promise<void> {
    // First of all: a claim that runs out meanwhile would make `unknown` of an outcome that is known here.
    counts.written = await this.owed.writeAll();
    for (let left = MAX_PAYMENTS_PER_PASS; left > 0 && !this.stopping.signal.aborted;) {
      const until = new Date(this.clock.now().getTime() + PAYMENT_LEASE_MS);
      const batch = await this.due.lease(Math.min(LEASE_BATCH, left));
      await sideBySide(batch, PAYMENTS_AT_ONCE, (record) => this.processPayment(record, until, counts, questions));
      left = batch.length === 0 ? 0 : left - batch.length;
    }
  }

  private async processPayment(
    record: PaymentRecord,
    until: Date,
    counts: ReconcileCounts,
    questions: InquiryQueue,
  ): Promise<void> {
    if (this.stopping.signal.aborted) return this.due.handBack(record, this.clock.now());
    if (!isKnown(record)) return this.leaveToNewerRelease(record);
    switch (rowOf(record.state).whenDue) {
      case 'expire':
        return this.expire(record, counts);
      case 'interrupt':
        return this.interrupt(record, counts, questions);
      case 'inquire':
        // Where this instance cannot ask, another may, once the lease has run out.
        if (this.gateway.canInquire) questions.add(questionOf(record, until, true, counts));
        return;
      case 'nothing':
        return;
    }
  }

  private leaveToNewerRelease(record: PaymentRecord): Promise<void> {
    return this.due.handBack(record, new Date(this.clock.now().getTime() + NEWER_RELEASE_MS));
  }

  /** The claim ran out: whoever held it is gone. That grants the right to ask, never to send again. */
  private async interrupt(record: PaymentRecord, counts: ReconcileCounts, questions: InquiryQueue): Promise<void> {
    const dueAt = this.gateway.canInquire ? nextInquiry(this.clock.now(), 0, this.random) : null;
    const moved = await this.writer.move(record, 'unknown', { reason: 'interrupted', dueAt });
    if (moved.outcome !== 'replaced') return;
    counts.interrupted += 1;
    if (dueAt) questions.add(questionOf(moved.record, dueAt, false, counts));
  }

  private async expire(record: PaymentRecord, counts: ReconcileCounts): Promise<void> {
    if (record.expiresAt && record.expiresAt > this.clock.now()) {
      return this.due.handBack(record, record.expiresAt);
    }
    const ended = await this.writer.move(record, 'expired');
    if (ended.outcome === 'replaced') counts.expired += 1;
  }

  /** Of what became unknown where nobody could ask, under a dialect without inquiries: this instance can. */
  private async revive(): Promise<void> {
    const now = this.clock.monotonic();
    if (!this.gateway.canInquire || now < this.reviveAt) return;
    this.reviveAt = now + RENEW_AGAIN_MS;
    const { revived, hasMore } = await this.due.revive(this.reviveLimit, this.clock.now());
    // The longest unchanged are found first, also those that are scheduled: behind them, more have to be looked at.
    const isDone = !hasMore || (revived === 0 && this.reviveLimit === MAX_REVIVED);
    this.reviveAt = isDone ? now + REVIVE_EVERY_MS : now;
    if (isDone) this.reviveLimit = MIN_REVIVED;
    else if (revived === 0) this.reviveLimit = Math.min(2 * this.reviveLimit, MAX_REVIVED);
  }

  private async renewHandlers(): Promise<void> {
    const now = this.clock.monotonic();
    if (now < this.renewAt) return;
    this.renewAt = now + RENEW_AGAIN_MS;
    await this.events.renew();
    this.renewAt = now + RENEW_EVERY_MS;
  }

  /** @returns how many payments were deleted */
  private async purge(): Promise<number> {
    const now = this.clock.monotonic();
    if (now < this.purgeAt) return 0;
    this.purgeAt = now + PURGE_EVERY_MS;
    const { payments, hasMore } = await this.due.purge();
    if (hasMore) this.purgeAt = now;
    return payments;
  }

  private newQueue(capacity: number, watch: InquiryWatch): InquiryQueue {
    const { due, inquiries, clock, random } = this;
    const stopping = this.stopping.signal;
    return new InquiryQueue({ due, inquiries, clock, random, stopping }, capacity, watch);
  }
}

function noCounts(): ReconcileCounts {
  return { written: 0, expired: 0, interrupted: 0, inquired: 0, settled: 0, delivered: 0, purged: 0 };
}

function questionOf(record: PaymentRecord, until: Date, isLeased: boolean, counts: ReconcileCounts): OpenQuestion {
  const onAnswer = (isSettled: boolean): void => {
    counts.inquired += 1;
    if (isSettled) counts.settled += 1;
  };
  return { record, until, isLeased, onAnswer };
}
