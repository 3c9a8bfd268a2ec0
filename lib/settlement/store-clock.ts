import { Inject, Injectable } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentClock, withTimeout } from '../runtime/clock.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { PAYMENT_STORE, type PaymentStore } from '../store/payment-store.js';
import type { RequestClaim } from '../gateway/transport/attempt.js';
import type { PaymentRecord } from '../payment/payment.js';

const SAMPLE_EVERY_MS = 60_000;
/** How often to check whether the store's time is still known. */
const LOOK_EVERY_MS = 2_000;
/** An answer that took longer is too vague, unless nothing better is known. */
const MAX_ROUND_TRIP_MS = 2_000;
/** If the store has not answered after this long, it is asked again: an answer may never come. */
const MAX_ASKING_MS = 7_000;
/**
 * If the host's wall clock and monotonic clock disagree by more than this, the host was suspended or its clock was set.
 */
const MAX_DRIFT_MS = 1_000;
/** Before a request that moves money, the store is asked for the time unless it was asked within this time. */
const MAX_SAMPLE_AGE_MS = 5_000;
/** A smaller difference is noise: the two clocks agree. */
const MIN_OFFSET_MS = 500;
/** A larger difference is logged. */
const MAX_OFFSET_MS = 5_000;

/** Time that a request needs besides its deadline: to confirm the claim with the store, to build and to sign. */
const CLAIM_MARGIN_MS = 30_000;

/**
 * The store's time, which counts across hosts. This host's clock is corrected by an offset, sampled once a minute, so
 * that a host whose clock is hours off neither expires open payments nor keeps expired ones open.
 */
@Injectable()
export class StoreClock extends PaymentClock {
  private readonly logger = new PaymentLogger();
  private readonly stopping = new AbortController();
  private offset = 0;
  private sampledAt: { readonly wall: number; readonly monotonic: number } | null = null;
  /** When the last answer arrived, by the monotonic clock. */
  private answeredAt = 0;
  private isReported = false;
  private asking: Promise<boolean> | null = null;

  constructor(
    private readonly host: PaymentClock,
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
  ) {
    super();
  }

  now(): Date {
    const wall = this.host.now().getTime();
    // If the wall clock went backwards, it was set. Until the store is asked again, the monotonic clock tells how much
    // time has passed.
    const passed = this.sampledAt ? this.sampledAt.wall + this.host.monotonic() - this.sampledAt.monotonic : wall;
    return new Date(Math.max(wall, Math.round(passed)) + this.offset);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.host.sleep(ms, signal);
  }

  override timer(ms: number, act: () => void): () => void {
    return this.host.timer(ms, act);
  }

  override monotonic(): number {
    return this.host.monotonic();
  }

  /** How far this host's clock is behind the store's, in milliseconds; negative when it is ahead. */
  get offsetMs(): number {
    return this.offset;
  }

  /** Asks the store for the time, now and then once a minute. Never rejects. */
  async start(): Promise<void> {
    await this.ask();
    void this.keepSampling();
  }

  stop(): void {
    this.stopping.abort();
  }

  /**
   * Call this before a payment is opened or claimed. A host that does not know the store's time yet, was suspended, or
   * had its clock set asks the store again: by its own clock it could expire payments that are still open.
   *
   * @throws PaymentStoreError when the store does not answer
   */
  async check(): Promise<void> {
    if (this.isKnown) return;
    await this.ask();
    if (!this.isKnown) throw new PaymentStoreError('asking for the time');
  }

  /**
   * Call this before a request that moves money: both clocks of a host stand still while a virtual machine is paused.
   * The store is asked at most once every five seconds, however many payments there are.
   *
   * @returns false when the store does not answer
   */
  async refresh(): Promise<boolean> {
    return this.isRecent || this.ask();
  }

  private get isRecent(): boolean {
    return this.isKnown && this.host.monotonic() - this.answeredAt <= MAX_SAMPLE_AGE_MS;
  }

  /** Whether the store's time is known, and this host has not been suspended nor its clock set since. */
  get isKnown(): boolean {
    return this.sampledAt !== null && this.drift(this.sampledAt) <= MAX_DRIFT_MS;
  }

  private drift(since: { readonly wall: number; readonly monotonic: number }): number {
    const wall = this.host.now().getTime() - since.wall;
    return Math.abs(wall - (this.host.monotonic() - since.monotonic));
  }

  private async keepSampling(): Promise<void> {
    const { signal } = this.stopping;
    for (let triedAt = this.host.monotonic(); !signal.aborted;) {
      await this.host.sleep(LOOK_EVERY_MS, signal);
      const isTime = this.host.monotonic() - triedAt >= SAMPLE_EVERY_MS;
      if (signal.aborted || (this.isKnown && !isTime)) continue;
      await this.ask();
      triedAt = this.host.monotonic();
    }
  }

  /** Callers at the same time share one answer. */
  private ask(): Promise<boolean> {
    this.asking ??= this.sample().finally(() => (this.asking = null));
    return this.asking;
  }

  /** @returns whether the store's time is known afterwards */
  private async sample(): Promise<boolean> {
    const began = { wall: this.host.now().getTime(), monotonic: this.host.monotonic() };
    const theirs = await withTimeout(MAX_ASKING_MS, () => this.store.now(), this.host).catch(() => null);
    const answeredAt = this.host.monotonic();
    const roundTrip = answeredAt - began.monotonic;
    // The clock may have been set during the question.
    if (!theirs || this.drift(began) > MAX_DRIFT_MS) return false;
    // A slow answer only proves that it is not earlier than it says.
    const isVague = this.isKnown && roundTrip > MAX_ROUND_TRIP_MS && theirs <= this.now();
    if (!isVague) {
      const offset = Math.round(theirs.getTime() - (began.wall + roundTrip / 2));
      this.offset = Math.abs(offset) < MIN_OFFSET_MS ? 0 : offset;
    }
    this.sampledAt = began;
    this.answeredAt = answeredAt;
    this.report();
    return true;
  }

  private report(): void {
    const isOff = Math.abs(this.offset) > MAX_OFFSET_MS;
    if (isOff && !this.isReported) {
      const seconds = Math.round(Math.abs(this.offset) / 1000);
      const side = this.offset > 0 ? 'behind' : 'ahead of';
      const line =
        `This host's clock is ${seconds} seconds ${side} the payment store's. The store's time counts for payments; ` +
        "the gateway still gets this host's time (x-Timestamp) and may refuse it. Set the clock (NTP).";
      this.logger.warn(new LogRecord(line, { clockOffsetMs: this.offset }));
    }
    this.isReported = isOff;
  }
}

/** When a claim on a payment runs out: after the deadline of the only request that is made under it. */
export function claimEnd(now: Date, timeoutMs: number): Date {
  return new Date(now.getTime() + timeoutMs + CLAIM_MARGIN_MS);
}

/** Whether a request that is sent now, and takes as long as it may, ends before its claim runs out. */
export function fitsClaim(claimEndsAt: Date | null, now: Date, timeoutMs: number): boolean {
  return claimEndsAt !== null && now.getTime() + timeoutMs <= claimEndsAt.getTime();
}

/**
 * The claim under which a DoPayment or Auth3d is sent. A store that hung or a host that was suspended may have used up
 * its time: meanwhile another instance or an operator may have settled the payment, and the buyer may have paid in
 * another way.
 */
export class Claim implements RequestClaim {
  constructor(
    private readonly record: Pick<PaymentRecord, 'dueAt'>,
    readonly timeoutMs: number,
    private readonly clock: StoreClock,
  ) {}

  confirmTime(): Promise<boolean> {
    return this.clock.refresh();
  }

  /** The store's clock follows whichever of the host's two clocks has moved further since the store was last asked. */
  mayStart(timeoutMs: number): boolean {
    return this.clock.isKnown && fitsClaim(this.record.dueAt, this.clock.now(), timeoutMs);
  }
}
