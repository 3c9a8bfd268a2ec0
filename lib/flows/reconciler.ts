import { Inject, Injectable } from '@nestjs/common';
import { GatewayClient } from '../gateway/gateway-client.js';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { InquiryFlow } from './inquiry-flow.js';
import type { PaymentClock } from '../payment/clock.js';
import type { PaymentRecord } from '../payment/payment.js';
import { Randomness } from '../payment/randomness.js';
import { DuePayments } from './due-payments.js';
import { OwedWrites } from './owed-writes.js';
import { PaymentWriter } from './payment-writer.js';
import { nextInquiry } from './schedule.js';
import { StoreClock } from './store-clock.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';

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
const INQUIRIES_AT_ONCE = 4;
const EVERY_MS = 2_000;
const PURGE_EVERY_MS = 3_600_000;
/** Handlers that were not announced for ten minutes hold up no delivery of others. */
const RENEW_EVERY_MS = 120_000;
/** After a gateway that does not answer, nothing is asked before the next passes have spread out. */
const SILENT_GATEWAY_INQUIRIES = 2;

/** The background work: writes what is owed, expires, asks the gateway about what is not known, delivers events. */
@Injectable()
export class Reconciler {
  private readonly logger = new PaymentLogger();
  private readonly stopping = new AbortController();
  private loop: Promise<void> | null = null;
  /** When the last pass of the loop began; null before the first. */
  private passedAt: number | null = null;
  private renewAt = 0;
  private purgeAt = 0;

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
  ) {}

  /** How long ago the background work last began a pass, in milliseconds; null where it does not run. */
  get idleMs(): number | null {
    return this.passedAt === null || this.stopping.signal.aborted ? null : this.clock.monotonic() - this.passedAt;
  }

  start(): void {
    if (!this.settings.background) return;
    this.passedAt ??= this.clock.monotonic();
    this.events.start();
    this.loop ??= this.run();
  }

  /** Leases nothing more, hands back what is leased, and waits for what runs. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await this.events.stop();
  }

  /** One pass. A store that fails ends it; what was leased comes back by itself. @throws PaymentStoreError */
  async pass(): Promise<ReconcileCounts> {
    const counts = await this.workOnPayments();
    counts.delivered = await this.events.deliverDue();
    return counts;
  }

  private async workOnPayments(): Promise<ReconcileCounts> {
    const counts: ReconcileCounts = {
      written: await this.owed.writeAll(),
      expired: 0,
      interrupted: 0,
      inquired: 0,
      settled: 0,
      delivered: 0,
      purged: 0,
    };
    for (let left = MAX_PAYMENTS_PER_PASS; left > 0 && !this.stopping.signal.aborted;) {
      const batch = await this.due.lease(Math.min(LEASE_BATCH, left));
      await this.workThrough(batch, counts);
      left = batch.length === 0 ? 0 : left - batch.length;
    }
    await this.keepHouse(counts);
    return counts;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.clock.sleep(EVERY_MS * (0.75 + 0.5 * this.random.fraction()), signal);
      if (signal.aborted) return;
      this.passedAt = this.clock.monotonic();
      // Handlers take what time they need: payments do not wait for them.
      this.events.wake();
      await this.workOnPayments().catch(() =>
        this.logger.error('The background work was cut short by the payment store; it goes on.'),
      );
    }
  }

  private async workThrough(batch: readonly PaymentRecord[], counts: ReconcileCounts): Promise<void> {
    const queue = [...batch];
    let isSilent = false;
    const work = async (): Promise<void> => {
      for (let record = queue.shift(); record; record = queue.shift()) {
        if (this.stopping.signal.aborted) await this.due.handBack(record, this.clock.now());
        else if (isSilent && record.state === 'unknown') await this.askLater(record);
        else if ((await this.workOn(record, counts, isSilent)) === 'silent') isSilent = true;
      }
    };
    // All of them end before a failure is thrown: a shutdown must not close the store under those that are left.
    const ends = await Promise.allSettled(Array.from({ length: INQUIRIES_AT_ONCE }, work));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason as Error;
  }

  private async workOn(record: PaymentRecord, counts: ReconcileCounts, isSilent: boolean): Promise<'done' | 'silent'> {
    switch (record.state) {
      case 'initiating':
      case 'awaiting':
        return this.expire(record, counts);
      case 'charging':
      case 'authorizing':
        return this.interrupt(record, counts, isSilent);
      case 'unknown':
        return this.ask(record, counts);
      case 'succeeded':
      case 'failed':
      case 'expired':
      case 'review':
        return 'done';
    }
  }

  /** The claim ran out: whoever held it is gone. That grants the right to ask, never to send again. */
  private async interrupt(
    record: PaymentRecord,
    counts: ReconcileCounts,
    isSilent: boolean,
  ): Promise<'done' | 'silent'> {
    const dueAt = this.gateway.canInquire ? nextInquiry(this.clock.now(), 0, this.random) : null;
    const moved = await this.writer.move(record, 'unknown', { reason: 'interrupted', dueAt });
    if (moved.outcome !== 'replaced') return 'done';
    counts.interrupted += 1;
    return isSilent ? 'done' : this.ask(moved.record, counts);
  }

  private async expire(record: PaymentRecord, counts: ReconcileCounts): Promise<'done'> {
    if (record.expiresAt && record.expiresAt > this.clock.now()) {
      await this.due.handBack(record, record.expiresAt);
      return 'done';
    }
    const ended = await this.writer.move(record, 'expired');
    if (ended.outcome === 'replaced') counts.expired += 1;
    return 'done';
  }

  private async ask(record: PaymentRecord, counts: ReconcileCounts): Promise<'done' | 'silent'> {
    if (!this.gateway.canInquire) return 'done';
    const payment = await this.inquiries.ask(record);
    if (!payment) {
      await this.askLater(record);
      return 'silent';
    }
    counts.inquired += 1;
    if (payment.state !== 'unknown') counts.settled += 1;
    return 'done';
  }

  private askLater(record: PaymentRecord): Promise<void> {
    return this.due.handBack(
      record,
      nextInquiry(this.clock.now(), Math.max(record.inquiries, SILENT_GATEWAY_INQUIRIES), this.random),
    );
  }

  private async keepHouse(counts: ReconcileCounts): Promise<void> {
    const now = this.clock.monotonic();
    if (now >= this.renewAt) {
      this.renewAt = now + RENEW_EVERY_MS;
      await this.events.renew();
    }
    if (now >= this.purgeAt) {
      this.purgeAt = now + PURGE_EVERY_MS;
      const { payments, hasMore } = await this.due.purge();
      counts.purged = payments;
      // What was left is for the next pass: payments that are due do not wait for a million that are old.
      if (hasMore) this.purgeAt = now;
    }
  }
}
