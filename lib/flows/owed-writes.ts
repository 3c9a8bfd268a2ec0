import { Injectable } from '@nestjs/common';
import { PaymentClock } from '../payment/clock.js';
import { withTimeout } from '../payment/with-timeout.js';
import { LimitedLog } from '../payment/limited-log.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { PaymentChanges, type Settled } from './payment-changes.js';
import { ProcessHold } from './process-hold.js';

/** A write that the store could not take yet. It may be made any number of times, and rejects while the store fails. */
export interface OwedWrite {
  readonly conversationId: string;
  write(): Promise<Settled>;
}

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
/** How many are written side by side once the store answers. */
const WRITES_AT_ONCE = 8;
/** A store rejects within seconds; a write that takes longer than this counts as failed and is made again. */
const MAX_WRITE_MS = 15_000;
/** How long a process that has nothing else to do, or is shutting down, waits for a store that takes nothing. */
const MAX_HOLD_MS = 30_000;
/** Log drivers cut long lines. */
const IDS_PER_LINE = 100;

/**
 * Outcomes and fences that the store did not take: kept in this process, and written as soon as the store answers,
 * whatever else this process does in the background. Meanwhile they keep the process alive, until the store has taken
 * nothing for half a minute.
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
  /** There while something is waited for. Private to the language, too: printed, a timer shows every other one, and what they are for. */
  #release: (() => void) | null = null;

  constructor(
    private readonly changes: PaymentChanges,
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

  /** Tries each once more; those of a store that still fails stay owed. @returns how many were written */
  writeAll(): Promise<number> {
    this.round ??= this.tryAll().finally(() => (this.round = null));
    return this.round;
  }

  /**
   * Whatever is owed now is waited for, by the process and by {@link close}, for half a minute from now; longer only
   * while writes succeed. Called when something begins to be owed, after each write, and when a shutdown begins.
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

  /** At shutdown: goes on trying until all is written, or nothing was for half a minute. Afterwards nothing is tried. */
  close(): Promise<void> {
    return this.processHold.during(async () => {
      while ((await this.writeAll(), this.#release)) await this.clock.sleep(MIN_PAUSE_MS);
      this.closing.abort();
      await this.retrying;
    });
  }

  /** The process may end now. Those who have to settle these payments by hand are told which they are. */
  private giveUp(release: () => void): void {
    release();
    const ids = Array.from(this.owed, ({ conversationId }) => conversationId).sort();
    for (let from = 0; from < ids.length; from += IDS_PER_LINE) {
      const some = ids.slice(from, from + IDS_PER_LINE).join(', ');
      const line =
        `The payment store has taken nothing for ${MAX_HOLD_MS / 1000} seconds; this process no longer waits for it. ` +
        `What is known of these payments is not written: ${some}.`;
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
    // In the same turn as the last look at what is owed: what is added from now on starts anew.
    this.retrying = null;
  }

  private warn(): void {
    const owedWrites = this.owed.size;
    this.log.write('owed', (end) => {
      const line = `${owedWrites} writes are still owed to the payment store.`;
      this.logger.warn(new LogRecord(line + end, { owedWrites }));
    });
  }

  /** One first: a store that fails is asked for no others. Then several side by side, until several in a row fail. */
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
    const settled = await withTimeout(MAX_WRITE_MS, () => owed.write(), this.clock).catch(() => null);
    this.owed.delete(owed);
    if (!settled) {
      // Should it be this write alone that fails, the others come first next time.
      this.owed.add(owed);
      return false;
    }
    if (this.owed.size > 0) this.renewHold();
    else this.#release?.();
    // Handlers take what time they need: what is owed does not wait for them.
    void this.changes.publish(settled);
    return true;
  }
}
