import { Inject, Injectable } from '@nestjs/common';
import type { PaymentClock } from '../../payment/clock.js';
import { withTimeout } from '../../payment/with-timeout.js';
import { type Payment, type PaymentRecord, toPayment } from '../../payment/payment.js';
import type { PaymentState } from '../../payment/payment-state.js';
import { advance, type PaymentChange } from '../../payment/transitions.js';
import type { ReplaceOutcome, UniqueKey } from '../../store/payment-ledger.js';
import { fenceClaim } from './fences.js';
import { type OwedWrite, OwedWrites } from './owed-writes.js';
import { PaymentChanges } from './payment-changes.js';
import type { Settlement } from './settlement.js';
import { logOwed } from './payment-log.js';
import { callStore } from '../../store/store-call.js';
import { StoreClock } from '../../process/store-clock.js';

/** What the store said, and the record as written, or as it was where it was not. */
export interface Moved {
  readonly outcome: ReplaceOutcome;
  readonly record: PaymentRecord;
}

/** How long a caller waits for the store once the outcome is known; the write goes on after that. */
const MAX_WRITE_WAIT_MS = 5_000;

/**
 * Writes payments for the flows. Before anything is sent, a store that fails is an error; afterwards the outcome is
 * reported all the same, and owed to the store.
 */
@Injectable()
export class PaymentWriter {
  constructor(
    private readonly changes: PaymentChanges,
    private readonly owed: OwedWrites,
    @Inject(StoreClock) private readonly clock: PaymentClock,
  ) {}

  /**
   * Writes a payment's first record. One that is not confirmed is fenced: it will never be a payment that waits for an
   * answer.
   * @returns the key that is taken, or null when it is written
   * @throws PaymentStoreError
   */
  open(record: PaymentRecord): Promise<UniqueKey | null> {
    const { conversationId } = record;
    const fence = { conversationId, write: () => this.changes.fenceOpening(record) };
    return this.unlessUnconfirmed(fence, 'opening the payment', () => this.changes.insert(record));
  }

  /**
   * Takes the right to call Auth3d, granted once. A claim that is not confirmed is fenced: the payment goes on waiting
   * for the buyer.
   * @throws PaymentStoreError
   */
  claim(record: PaymentRecord, change: { dueAt: Date; attemptId: string }): Promise<Moved> {
    const { conversationId } = record;
    const settle = fenceClaim(record, change.attemptId);
    const fence = { conversationId, write: () => this.changes.settle(record, settle) };
    const next = advance(record, 'authorizing', change, this.clock.now());
    return this.unlessUnconfirmed(fence, 'claiming the payment', () => this.replace(record, next));
  }

  /**
   * Moves a payment on before anything is sent, or where nothing was.
   * @throws PaymentStoreError
   */
  async move(record: PaymentRecord, state: PaymentState, change: PaymentChange = {}): Promise<Moved> {
    const next = advance(record, state, change, this.clock.now());
    return callStore('moving the payment on', () => this.replace(record, next));
  }

  /**
   * Writes what a person decided, however the record changes meanwhile.
   * @returns null when the settlement changes nothing of the record as it now stands
   * @throws PaymentStoreError
   */
  async decide(record: PaymentRecord, settle: Settlement): Promise<Payment | null> {
    const settled = await callStore('writing the decision', () => this.changes.settle(record, settle));
    await this.changes.publish(settled);
    return settled.event ? settled.payment : null;
  }

  /**
   * Writes an outcome that is known, however the record changes meanwhile. Never throws: what the store cannot take now
   * is owed to it, and `stored` is false until it is written.
   */
  async settle(record: PaymentRecord, settle: Settlement): Promise<Payment> {
    // On a stack of its own, as in callStore.
    await Promise.resolve();
    const writing = this.changes.settle(record, settle).catch(() => null);
    const settled = await withTimeout(MAX_WRITE_WAIT_MS, () => writing, this.clock).catch(() => null);
    if (settled) {
      await this.changes.publish(settled);
      return settled.payment;
    }
    // A write that was only slow still has its event published.
    void writing.then((late) => late && this.changes.publish(late));
    this.owed.add({ conversationId: record.conversationId, write: () => this.changes.settle(record, settle) });
    const payment = toPayment(settle(record, this.clock.now()) ?? record, false);
    logOwed(payment);
    return payment;
  }

  private async replace(record: PaymentRecord, next: PaymentRecord): Promise<Moved> {
    const outcome = await this.changes.replace(record, next);
    return { outcome, record: outcome === 'replaced' ? next : record };
  }

  private async unlessUnconfirmed<T>(fence: OwedWrite, doing: string, write: () => Promise<T>): Promise<T> {
    try {
      return await callStore(doing, write);
    } catch (error) {
      this.owed.add(fence);
      throw error;
    }
  }
}
