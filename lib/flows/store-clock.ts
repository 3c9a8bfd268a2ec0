import { Injectable } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentClock } from '../payment/clock.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { withTimeout } from '../payment/with-timeout.js';
import { PaymentStore } from '../store/payment-store.js';

const SAMPLE_EVERY_MS = 60_000;
/** How often this host looks whether it still knows the store's time. */
const LOOK_EVERY_MS = 2_000;
/** An answer that took longer says too little about the time, unless nothing is known of it at all. */
const MAX_ROUND_TRIP_MS = 2_000;
/** A store that does not say the time within this is asked anew: nobody waits for an answer that never comes. */
const MAX_ASKING_MS = 7_000;
/** A host whose wall clock and monotonic clock disagree by more than this has been suspended, or its clock was set. */
const MAX_DRIFT_MS = 1_000;
/** Before money is asked for, the store is asked for the time again unless it was within this time. */
const MAX_SAMPLE_AGE_MS = 5_000;
/** Closer than this, the two agree: the rest is noise. */
const MIN_OFFSET_MS = 500;
/** A host that is further off is reported. */
const MAX_OFFSET_MS = 5_000;

/**
 * The time that counts across hosts: the store's. This host's clock follows it by an offset, sampled once a minute, so
 * that a host whose clock is hours off expires nothing that is open and keeps nothing alive that is over.
 */
@Injectable()
export class StoreClock extends PaymentClock {
  private readonly logger = new PaymentLogger();
  private readonly stopping = new AbortController();
  private offset = 0;
  private sampledAt: { readonly wall: number; readonly monotonic: number } | null = null;
  /** When the last answer came, by the monotonic clock. */
  private answeredAt = 0;
  private isReported = false;
  private asking: Promise<boolean> | null = null;

  constructor(
    private readonly host: PaymentClock,
    private readonly store: PaymentStore,
  ) {
    super();
  }

  now(): Date {
    const wall = this.host.now().getTime();
    // A wall clock that went back was set: until the store is asked anew, time goes on as it has passed.
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

  /** Asks the store for the time now, and from then on once a minute. Never rejects. */
  async start(): Promise<void> {
    await this.ask();
    void this.keepSampling();
  }

  stop(): void {
    this.stopping.abort();
  }

  /**
   * To be called before a payment is opened or claimed: a host that has not heard the store's time yet, was suspended,
   * or had its clock set asks anew, since by its own clock it would expire what is open.
   * @throws PaymentStoreError when the store does not say
   */
  async check(): Promise<void> {
    if (this.isKnown) return;
    await this.ask();
    if (!this.isKnown) throw new PaymentStoreError('asking for the time');
  }

  /**
   * To be called before a request that moves money: both clocks of a host can have stood still, as those of a virtual
   * machine that was paused. The store is asked at most once every five seconds, however many payments there are.
   * @returns false where the store does not say the time
   */
  async refresh(): Promise<boolean> {
    return this.isRecent || this.ask();
  }

  private get isRecent(): boolean {
    return this.isKnown && this.host.monotonic() - this.answeredAt <= MAX_SAMPLE_AGE_MS;
  }

  /** Whether the store has said what time it is, and this host was not suspended since, nor its clock set. */
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

  /** Whoever asks while someone does gets the same answer. */
  private ask(): Promise<boolean> {
    this.asking ??= this.sample().finally(() => (this.asking = null));
    return this.asking;
  }

  /** @returns whether the store's time is known now */
  private async sample(): Promise<boolean> {
    const began = { wall: this.host.now().getTime(), monotonic: this.host.monotonic() };
    const theirs = await withTimeout(MAX_ASKING_MS, () => this.store.now(), this.host).catch(() => null);
    const answeredAt = this.host.monotonic();
    const roundTrip = answeredAt - began.monotonic;
    // The clock may have been set while the store was asked.
    if (!theirs || this.drift(began) > MAX_DRIFT_MS) return false;
    // How long a slow answer was under way is not known, but that it is not earlier now than it says.
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
