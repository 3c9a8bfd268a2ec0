import { Injectable } from '@nestjs/common';
import { PaymentClock } from '../payment/clock.js';
import { LogRecord } from '../telemetry/log-record.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { PaymentChanges, type Settled } from './payment-changes.js';

/** A write that the store could not take yet. It may be made any number of times, and rejects while the store fails. */
export interface OwedWrite {
  readonly conversationId: string;
  write(): Promise<Settled>;
}

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
/** How long a shutdown waits for a store that fails. */
const MAX_CLOSING_MS = 10_000;

/**
 * Outcomes and fences that the store did not take: kept in this process, and written as soon as the store answers,
 * whatever else this process does in the background.
 */
@Injectable()
export class OwedWrites {
  private readonly logger = new PaymentLogger();
  private readonly owed = new Set<OwedWrite>();
  private retrying: Promise<void> | null = null;
  private round: Promise<number> | null = null;

  constructor(
    private readonly changes: PaymentChanges,
    private readonly clock: PaymentClock,
  ) {}

  /** How many are owed now. */
  get count(): number {
    return this.owed.size;
  }

  add(write: OwedWrite): void {
    this.owed.add(write);
    this.retrying ??= this.retry();
  }

  /** Tries each once more; those of a store that still fails stay owed. @returns how many were written */
  writeAll(): Promise<number> {
    this.round ??= this.tryAll().finally(() => (this.round = null));
    return this.round;
  }

  /** At shutdown: goes on trying for a while, then says what is lost when the process ends. */
  async close(): Promise<void> {
    const end = this.clock.monotonic() + MAX_CLOSING_MS;
    while ((await this.writeAll(), this.owed.size > 0) && this.clock.monotonic() < end) {
      await this.clock.sleep(MIN_PAUSE_MS);
    }
    if (this.owed.size === 0) return;
    const ids = Array.from(this.owed, ({ conversationId }) => conversationId)
      .sort()
      .join(', ');
    const line = `This process ends while the store has not taken what is known of: ${ids}.`;
    this.logger.error(new LogRecord(line, { owedWrites: this.owed.size }));
  }

  private async retry(): Promise<void> {
    let pause = MIN_PAUSE_MS;
    while (this.owed.size > 0) {
      await this.clock.sleep(pause);
      const written = await this.writeAll();
      pause = written > 0 ? MIN_PAUSE_MS : Math.min(2 * pause, MAX_PAUSE_MS);
      if (this.owed.size > 0) this.warn();
    }
    // In the same turn as the last look at what is owed: what is added from now on starts anew.
    this.retrying = null;
  }

  private warn(): void {
    const owedWrites = this.owed.size;
    this.logger.warn(new LogRecord(`${owedWrites} writes are still owed to the payment store.`, { owedWrites }));
  }

  private async tryAll(): Promise<number> {
    let written = 0;
    for (const owed of [...this.owed]) {
      const settled = await owed.write().catch(() => null);
      this.owed.delete(owed);
      if (!settled) {
        // A store that fails now fails the others, too; should it be this write alone, the others come first next time.
        this.owed.add(owed);
        break;
      }
      written += 1;
      await this.changes.publish(settled);
    }
    return written;
  }
}
