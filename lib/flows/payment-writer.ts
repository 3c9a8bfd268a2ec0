import { Injectable } from '@nestjs/common';
import { PaymentClock } from '../payment/clock.js';
import { type Payment, type PaymentRecord, type PaymentState, toPayment } from '../payment/payment.js';
import { advance, type PaymentChange } from '../payment/states.js';
import type { ReplaceOutcome, UniqueKey } from '../store/payment-store.js';
import { OwedOutcomes } from './owed-outcomes.js';
import { PaymentChanges, type Settlement } from './payment-changes.js';
import { logOwed } from './payment-log.js';
import { callStore } from './store-call.js';

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
    private readonly owed: OwedOutcomes,
    private readonly clock: PaymentClock,
  ) {}

  /**
   * Writes a payment's first record.
   * @returns the key that is taken, or null when it is written
   * @throws PaymentStoreError
   */
  open(record: PaymentRecord): Promise<UniqueKey | null> {
    return callStore('opening the payment', () => this.changes.insert(record));
  }

  /**
   * Moves a payment on before anything is sent, or where nothing was.
   * @returns what the store said, and the record as written, or as it was where it was not
   * @throws PaymentStoreError
   */
  async move(
    record: PaymentRecord,
    state: PaymentState,
    change: PaymentChange = {},
  ): Promise<{ outcome: ReplaceOutcome; record: PaymentRecord }> {
    const next = advance(record, state, change, this.clock.now());
    const outcome = await callStore('moving the payment on', () => this.changes.replace(record, next));
    return { outcome, record: outcome === 'replaced' ? next : record };
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
    const writing = this.changes.settle(record, settle).catch(() => null);
    const wait = new AbortController();
    const settled = await Promise.race([writing, this.clock.sleep(MAX_WRITE_WAIT_MS, wait.signal).then(() => null)]);
    wait.abort();
    if (settled) {
      await this.changes.publish(settled);
      return settled.payment;
    }
    // A write that was only slow still has its event published.
    void writing.then((late) => late && this.changes.publish(late));
    this.owed.add({ record, settle });
    const payment = toPayment(settle(record, this.clock.now()) ?? record, false);
    logOwed(payment);
    return payment;
  }
}
