import { Inject, Injectable } from '@nestjs/common';
import type { ChargeOutcome } from '../../gateway/readings/outcomes.js';
import type { PaymentClock } from '../../payment/clock.js';
import { withTimeout } from '../../payment/with-timeout.js';
import { type Payment, type PaymentRecord, toPayment } from '../../payment/payment.js';
import type { LedgerState } from '../../payment/payment-state.js';
import { type Refund, toRefund } from '../../payment/refund.js';
import { advance, type PaymentChange } from '../../payment/transitions.js';
import type { RefusedKey, ReplaceOutcome } from '../../store/payment-store.js';
import { fenceClaim } from './fences.js';
import { type OwedWrite, OwedWrites } from './owed-writes.js';
import { PaymentChanges, type Settled } from './payment-changes.js';
import { contradicts, type Settlement } from './settlement.js';
import { logContradiction, logOwed } from './payment-log.js';
import { callStore } from '../../store/store-call.js';
import { StoreClock } from '../../process/store-clock.js';

/** The store's answer, and the record: as written, or as it was before if it was not written. */
export interface Moved {
  readonly outcome: ReplaceOutcome;
  readonly record: PaymentRecord;
}

/** What an outcome comes from. */
interface SettledFrom {
  /** The gateway's answer: if what is stored contradicts it, that is logged. */
  readonly answer?: ChargeOutcome | undefined;
  /** That the payment comes into this state raises no event. */
  readonly untold?: LedgerState | undefined;
}

/** How long a caller waits for the store once the outcome is known; the write goes on after that. */
const MAX_WRITE_WAIT_MS = 5_000;

/**
 * Writes payments and refunds for the flows. Before anything is sent, a failing store is an error. Afterwards the
 * outcome is always returned, and what could not be stored is owed.
 */
@Injectable()
export class PaymentWriter {
  constructor(
    private readonly changes: PaymentChanges,
    private readonly owed: OwedWrites,
    @Inject(StoreClock) private readonly clock: PaymentClock,
  ) {}

  /**
   * Stores a new payment. If the store does not confirm it, it is fenced and will never be charged.
   *
   * @returns the key that is taken; null when the payment is stored; `parentId` for a refund whose payment is gone
   * @throws PaymentStoreError
   */
  open(record: PaymentRecord): Promise<RefusedKey | null> {
    const { conversationId } = record;
    const fence = { conversationId, write: () => this.changes.fenceOpening(record) };
    return this.unlessUnconfirmed(fence, 'opening the payment', () => this.changes.insert(record));
  }

  /**
   * Takes the right to call Auth3d, which is granted once. If the store does not confirm it, the claim is fenced and
   * the payment keeps waiting for the buyer.
   *
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
   * Changes the state before anything is sent, or if nothing was sent.
   *
   * @throws PaymentStoreError
   */
  async move(record: PaymentRecord, state: LedgerState, change: PaymentChange = {}): Promise<Moved> {
    const next = advance(record, state, change, this.clock.now());
    return callStore('moving the payment on', () => this.replace(record, next));
  }

  /**
   * Stores an operator's decision, even if the record changes meanwhile.
   *
   * @returns null when the decision changes nothing in the current record
   * @throws PaymentStoreError
   */
  async decide(record: PaymentRecord, settle: Settlement): Promise<PaymentRecord | null> {
    const settled = await callStore('writing the decision', () => this.changes.settle(record, settle));
    await this.changes.publish(settled);
    return settled.event ? settled.record : null;
  }

  /**
   * Stores a known outcome, even if the record changes meanwhile. Never throws: an outcome that cannot be stored now is
   * owed, and `stored` is false until it is written.
   */
  async settle(record: PaymentRecord, settle: Settlement, from?: SettledFrom): Promise<Payment> {
    const settled = await this.settleRecord(record, settle, from);
    return toPayment(settled.record, settled.isStored);
  }

  /** The same for a refund. */
  async settleRefund(record: PaymentRecord, settle: Settlement, from?: SettledFrom): Promise<Refund> {
    const settled = await this.settleRecord(record, settle, from);
    return toRefund(settled.record, settled.isStored);
  }

  /** The same for a payment or a refund. */
  async settleRecord(
    record: PaymentRecord,
    settle: Settlement,
    { answer, untold }: SettledFrom = {},
  ): Promise<Settled> {
    // On a new stack, as in callStore.
    await Promise.resolve();
    const write = (): Promise<Settled> => this.changes.settle(record, settle, untold);
    const writing = write().catch(() => null);
    const settled = await withTimeout(MAX_WRITE_WAIT_MS, () => writing, this.clock).catch(() => null);
    if (settled) {
      if (answer && contradicts(answer, settled.record)) logContradiction(settled.record, answer);
      await this.changes.publish(settled);
      return settled;
    }
    // If the write was only slow, its event is still published.
    void writing.then((late) => late && this.changes.publish(late));
    this.owed.add({ conversationId: record.conversationId, write });
    const owed = settle(record, this.clock.now()) ?? record;
    logOwed(owed);
    return { record: owed, isStored: false };
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
