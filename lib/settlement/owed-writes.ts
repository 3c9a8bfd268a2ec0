import { Injectable } from '@nestjs/common';
import { PaymentClock, withTimeout } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { ProcessHold } from './in-flight.js';

/** A write that has failed so far. It can be repeated safely, and rejects while the store fails. */
export interface OwedWrite {
  readonly conversationId: string;
  write(): Promise<void>;
}

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
/** How many are written at once when the store answers again. */
const WRITES_AT_ONCE = 8;
/** A store rejects within seconds; a write that takes longer than this counts as failed and is repeated. */
const MAX_WRITE_MS = 15_000;
/** How long a process that is idle or shutting down waits for a store that accepts nothing. */
const MAX_HOLD_MS = 30_000;
/** Log drivers truncate long lines. */
const IDS_PER_LINE = 100;

/**
 * Outcomes and fences that could not be stored. They are kept in this process and written as soon as the store answers,
 * whether or not this instance does background work. They keep the process alive until the store has accepted nothing
 * for half a minute.
 */
@Injectable()
export class OwedWrites {
  private readonly logger = new PaymentLogger();
  private readonly log: LimitedLog;
  private readonly owed = new Set<OwedWrite>();
  private readonly closing = new AbortController();
  private retrying: Promise<void> | null = null;
  private round: Promise<number> | null = null;
  private heldUntil = 0;
  /**
   * Set while writes are waited for. #private, since `inspect` of a timer shows all other timers and what they hold.
   */
  #release: (() => void) | null = null;

  constructor(
    private readonly clock: PaymentClock,
    private readonly processHold: ProcessHold,
  ) {
    this.log = new LimitedLog(clock);
  }

  /** How many are owed now. */
  get count(): number {
    return this.owed.size;
  }

  add(write: OwedWrite): void {
    if (this.closing.signal.aborted) return;
    this.owed.add(write);
    this.renewHold();
    this.retrying ??= this.retry();
  }

  /**
   * Tries each one again; what still fails stays owed.
   * @returns how many were written
   */
  writeAll(): Promise<number> {
    this.round ??= this.tryAll().finally(() => (this.round = null));
    return this.round;
  }

  /**
   * Makes the process, and {@link close}, wait up to half a minute from now for what is owed, and longer only while
   * writes succeed. Called when a first write is owed, after each write, and when a shutdown begins.
   */
  renewHold(): void {
    if (this.owed.size === 0) return;
    this.heldUntil = this.clock.monotonic() + MAX_HOLD_MS;
    if (this.#release) return;
    const letProcessEnd = this.processHold.hold();
    let cancelTimer = (): void => undefined;
    const watch = (): void => {
      const left = this.heldUntil - this.clock.monotonic();
      if (left > 0) cancelTimer = this.clock.timer(left, watch);
      else this.giveUp(release);
    };
    const release = (): void => {
      this.#release = null;
      cancelTimer();
      letProcessEnd();
    };
    this.#release = release;
    watch();
  }

  /** Shuts down: keeps trying until all is written, or until nothing was accepted for half a minute. */
  close(): Promise<void> {
    return this.processHold.during(async () => {
      while ((await this.writeAll(), this.#release)) await this.clock.sleep(MIN_PAUSE_MS);
      this.closing.abort();
      await this.retrying;
    });
  }

  /** Lets the process end, and logs which payments have to be settled by hand. */
  private giveUp(release: () => void): void {
    release();
    const ids = Array.from(this.owed, ({ conversationId }) => conversationId).sort();
    for (let from = 0; from < ids.length; from += IDS_PER_LINE) {
      const some = ids.slice(from, from + IDS_PER_LINE).join(', ');
      const line =
        `The payment store has accepted nothing for ${MAX_HOLD_MS / 1000} seconds; this process no longer waits for it. ` +
        `The outcomes of these payments are not written: ${some}.`;
      this.logger.error(new LogRecord(line, { owedWrites: ids.length }));
    }
  }

  private async retry(): Promise<void> {
    const { signal } = this.closing;
    let pause = MIN_PAUSE_MS;
    while (this.owed.size > 0 && !signal.aborted) {
      await this.clock.sleep(pause, signal);
      if (signal.aborted) break;
      const written = await this.writeAll();
      pause = written > 0 ? MIN_PAUSE_MS : Math.min(2 * pause, MAX_PAUSE_MS);
      if (this.owed.size > 0) this.warn();
    }
    // In the same turn as the last check of what is owed, so that a write which is added later starts a new run.
    this.retrying = null;
  }

  private warn(): void {
    const owedWrites = this.owed.size;
    this.log.write('owed', (end) => {
      const line = `${owedWrites} writes are still owed to the payment store.`;
      this.logger.warn(new LogRecord(line + end, { owedWrites }));
    });
  }

  /**
   * Tries one write first, so that a failing store is not asked for more; then several at once, until several in a row
   * fail.
   */
  private async tryAll(): Promise<number> {
    const queue = [...this.owed];
    let written = 0;
    let failedInRow = 0;
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next && failedInRow < WRITES_AT_ONCE; next = queue.shift()) {
        const isWritten = await this.tryOne(next);
        written += isWritten ? 1 : 0;
        failedInRow = isWritten ? 0 : failedInRow + 1;
      }
    };
    const first = queue.shift();
    if (!first || !(await this.tryOne(first))) return 0;
    await Promise.all(Array.from({ length: WRITES_AT_ONCE }, work));
    return written + 1;
  }

  private async tryOne(owed: OwedWrite): Promise<boolean> {
    const isWritten = await withTimeout(MAX_WRITE_MS, () => owed.write(), this.clock).then(
      () => true,
      () => false,
    );
    this.owed.delete(owed);
    if (!isWritten) {
      // If only this write fails, the others come first next time.
      this.owed.add(owed);
      return false;
    }
    if (this.owed.size > 0) this.renewHold();
    else this.#release?.();
    return true;
  }
}
