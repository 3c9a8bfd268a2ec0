import { Inject, Injectable } from '@nestjs/common';
import { GatewayClient } from '../gateway/gateway-client.js';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { FailureLog } from '../runtime/limited-log.js';
import { Inquiries } from '../operations/inquiry.js';
import { isOwn } from '../settlement/records.js';
import { InquiryQueue, type InquiryWatch, type QueuedInquiry } from './inquiry-queue.js';
import type { PaymentClock } from '../runtime/clock.js';
import { isKnown, type PaymentRecord } from '../payment/payment.js';
import { factsOf } from '../payment/states.js';
import { Randomness } from '../runtime/randomness.js';
import { DuePayments, PAYMENT_LEASE_MS, sideBySide } from './due-payments.js';
import { OwedWrites } from '../settlement/owed-writes.js';
import { PaymentWriter } from '../settlement/writer.js';
import { nextInquiry, variedBy } from '../settlement/outcomes.js';
import { StoreClock } from '../settlement/store-clock.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';

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

const LEASE_BATCH = 50;
const MAX_PAYMENTS_PER_PASS = 200;
const PAYMENTS_AT_ONCE = 4;
/** Even if each answer takes 20 seconds, all of them are asked about before their leases run out. */
const MAX_WAITING_INQUIRIES = 100;
const EVERY_MS = 2_000;
/** After how long a payment in a state of a newer release is handed back to that release. */
const NEWER_RELEASE_MS = 60_000;
/** For how long a record of another gateway is handed back. */
const MIN_LEFT_MS = 60_000;
const MAX_LEFT_MS = 3_600_000;
/** How long one that has ended unpaid may still be asked about by its own gateway's instances. */
const MAX_LATE_MS = 7 * 86_400_000;
const PURGE_EVERY_MS = 3_600_000;
/** A handler that was not announced for ten minutes no longer holds up deliveries, so announce more often. */
const RENEW_EVERY_MS = 120_000;
/** How soon a failed task is tried again. */
const RENEW_AGAIN_MS = 10_000;
/** Each of these runs on its own schedule. */
type Task = 'payments' | 'inquiries' | 'handlers' | 'purge';

const FAILED: Readonly<Record<Task, string>> = {
  payments: 'The payment store failed during background work, which is tried again.',
  inquiries: 'The payment store failed during inquiries, which are made again.',
  handlers: 'The payment store failed to record the handlers of events; they are announced again.',
  purge: 'The payment store failed to delete old payments; this is tried again.',
};

/**
 * The background work: writes owed outcomes, expires payments, asks the gateway about unknown ones, delivers events,
 * and purges. Each task runs on its own schedule, so that none waits for a slow gateway, handler or purge.
 */
@Injectable()
export class Reconciler {
  private readonly logger = new PaymentLogger();
  private readonly failures: FailureLog<Task>;
  private readonly stopping = new AbortController();
  /** The inquiries of the background passes. */
  private readonly queue: InquiryQueue;
  private loops: Promise<unknown> | null = null;
  /** When the last background pass began; null before the first. */
  private passedAt: number | null = null;
  private renewAt = 0;
  private purgeAt = 0;
  private unheard = 0;

  constructor(
    private readonly due: DuePayments,
    private readonly owed: OwedWrites,
    private readonly writer: PaymentWriter,
    private readonly inquiries: Inquiries,
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
    this.queue = this.newQueue(MAX_WAITING_INQUIRIES, {
      failed: () => this.failures.failed('inquiries'),
      succeeded: () => this.failures.succeeded('inquiries'),
    });
  }

  /** How long ago the last background pass began, in milliseconds; null if there is no background work. */
  get idleMs(): number | null {
    return this.passedAt === null || this.stopping.signal.aborted ? null : this.clock.monotonic() - this.passedAt;
  }

  /** How often in a row background work has failed because of the store; 0 when it succeeds. */
  get failuresInRow(): number {
    return this.failures.count;
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
    await this.queue.ended();
    await this.events.stop();
  }

  /**
   * Makes one pass. If the store fails, the pass ends; leases run out by themselves.
   *
   * @throws PaymentStoreError
   */
  async pass(): Promise<ReconcileCounts> {
    const counts = noCounts();
    const tasks = [() => this.passAndAsk(counts), () => this.renewHandlers()];
    await sideBySide(tasks, tasks.length, (task) => task());
    counts.delivered = await this.events.deliverDue();
    // Last, since what a purge looks at is locked for a moment, and is then no payment that is due.
    counts.purged = await this.purge();
    return counts;
  }

  /** Processes due payments, and waits for the gateway's answers about unknown ones. */
  private async passAndAsk(counts: ReconcileCounts): Promise<void> {
    const failures: unknown[] = [];
    const queue = this.newQueue(MAX_PAYMENTS_PER_PASS, {
      failed: (failure) => failures.push(failure),
      succeeded: () => undefined,
    });
    try {
      await this.processDue(counts, queue);
    } finally {
      await queue.ended();
    }
    if (failures.length > 0) throw failures[0] as Error;
  }

  private async passInBackground(): Promise<void> {
    this.passedAt = this.clock.monotonic();
    await this.processDue(noCounts(), this.queue);
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

  /** Finishes what is quick, and leaves inquiries to the queue. */
  private async processDue(counts: ReconcileCounts, queue: InquiryQueue): Promise<void> {
    // First, since a claim that runs out meanwhile would turn an outcome that is known here into `unknown`.
    counts.written = await this.owed.writeAll();
    for (let left = MAX_PAYMENTS_PER_PASS; left > 0 && !this.stopping.signal.aborted;) {
      const until = new Date(this.clock.now().getTime() + PAYMENT_LEASE_MS);
      const batch = await this.due.lease(Math.min(LEASE_BATCH, left));
      await sideBySide(batch, PAYMENTS_AT_ONCE, (record) => this.processPayment(record, until, counts, queue));
      // Any number of another gateway's may be due first: they do not count, so that this one's come in the same pass.
      const own = batch.filter((record) => isOwn(record, this.settings)).length;
      left = batch.length === 0 ? 0 : left - own;
    }
  }

  private async processPayment(
    record: PaymentRecord,
    until: Date,
    counts: ReconcileCounts,
    queue: InquiryQueue,
  ): Promise<void> {
    if (this.stopping.signal.aborted) return this.due.handBack(record, this.clock.now());
    if (!isKnown(record)) return this.leaveToNewerRelease(record);
    switch (factsOf(record.state).whenDue) {
      case 'expire':
        return this.expire(record, counts);
      case 'interrupt':
        return this.interrupt(record, counts, queue);
      case 'inquire':
        if (!isOwn(record, this.settings)) return this.leaveToItsGateway(record);
        // A page that nobody can ask about ends like one whose gateway is silent.
        if (this.gateway.canInquire || record.state === 'pending')
          return queue.add(queuedInquiry(record, until, true, counts));
        // Another instance may be able to ask.
        return this.leaveToOthers(record, PAYMENT_LEASE_MS);
      case 'nothing':
        return;
    }
  }

  private leaveToNewerRelease(record: PaymentRecord): Promise<void> {
    return this.due.handBack(record, new Date(this.clock.now().getTime() + NEWER_RELEASE_MS));
  }

  /**
   * Leaves a record of another gateway to instances with the settings of that one. An open page ends like one whose
   * gateway is silent, so that a person can settle it.
   */
  private async leaveToItsGateway(record: PaymentRecord): Promise<void> {
    if (record.state === 'pending' && (await this.inquiries.ask(record))) return;
    return this.leaveToOthers(record);
  }

  /**
   * Leaves a record that cannot be asked about here to other instances, for as long as it has been unchanged already.
   * One that ended long ago is due no more, so that it can be purged.
   */
  private async leaveToOthers(record: PaymentRecord, maxMs = MAX_LEFT_MS): Promise<void> {
    const now = this.clock.now().getTime();
    const unchangedMs = now - record.updatedAt.getTime();
    if (factsOf(record.state).settled && unchangedMs >= MAX_LATE_MS) {
      const { state, reason, by } = record;
      return void (await this.writer.move(record, state, { reason, by }));
    }
    const leftMs = Math.min(Math.max(unchangedMs, MIN_LEFT_MS), maxMs);
    await this.due.handBack(record, new Date(now + variedBy(this.random, leftMs)));
  }

  /**
   * The claim ran out, so the process that held it is gone. That gives the right to ask the gateway, never to send
   * again.
   */
  private async interrupt(record: PaymentRecord, counts: ReconcileCounts, queue: InquiryQueue): Promise<void> {
    const now = this.clock.now();
    const dueAt = this.gateway.canInquire ? nextInquiry(now, 0, this.random) : now;
    const moved = await this.writer.move(record, 'unknown', { reason: 'interrupted', dueAt });
    if (moved.outcome !== 'replaced') return;
    counts.interrupted += 1;
    const isAsked = this.gateway.canInquire && isOwn(record, this.settings);
    if (isAsked) queue.add(queuedInquiry(moved.record, dueAt, false, counts));
  }

  private async expire(record: PaymentRecord, counts: ReconcileCounts): Promise<void> {
    // Of a payment that is only being started, the claim has ended.
    if (record.state !== 'initiating' && record.expiresAt && record.expiresAt > this.clock.now()) {
      return this.due.handBack(record, record.expiresAt);
    }
    const ended = await this.writer.move(record, 'expired');
    if (ended.outcome === 'replaced') counts.expired += 1;
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
    const { payments, unheard, hasMore } = await this.due.purge();
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

  private newQueue(capacity: number, watch: InquiryWatch): InquiryQueue {
    const { due, inquiries, clock, random } = this;
    const stopping = this.stopping.signal;
    return new InquiryQueue({ due, inquiries, clock, random, stopping }, capacity, watch);
  }
}

function noCounts(): ReconcileCounts {
  return { written: 0, expired: 0, interrupted: 0, inquired: 0, settled: 0, delivered: 0, purged: 0 };
}

function queuedInquiry(record: PaymentRecord, until: Date, isLeased: boolean, counts: ReconcileCounts): QueuedInquiry {
  const onAnswer = (isSettled: boolean): void => {
    counts.inquired += 1;
    if (isSettled) counts.settled += 1;
  };
  return { record, until, isLeased, onAnswer };
}
