import { Inject, Injectable } from '@nestjs/common';
import { EventDispatcher } from '../../outbox/event-dispatcher.js';
import { type LedgerEvent, ledgerEventOf } from '../../payment/ledger-event.js';
import type { PaymentClock } from '../../payment/clock.js';
import { isKnown, isRefund, type PaymentRecord } from '../../payment/payment.js';
import type { LedgerState } from '../../payment/payment-state.js';
import { pinReference, withoutLock } from '../../payment/transitions.js';
import { PAYMENT_STORE, type PaymentLedger, type ReplaceOutcome, type RefusedKey } from '../../store/payment-store.js';
import { countAttempt } from '../../telemetry/metrics.js';
import { fenceOpening, unsentRecord } from './fences.js';
import { reportChange, logDeleted, logNewerRelease } from './payment-log.js';
import type { Settlement } from './settlement.js';
import { StoreClock } from '../../process/store-clock.js';

/** The result of a settlement: the record as it is now, and the event if its state changed. */
export interface Settled {
  readonly record: PaymentRecord;
  /** False if the store has no such record any more, or did not accept it. */
  readonly isStored: boolean;
  readonly event?: LedgerEvent;
}

/**
 * Writes changes of payments and refunds, each by compare-and-set and together with its event. Rejects with what the
 * store throws. The caller publishes the events, since it knows how long it may wait for their handlers.
 */
@Injectable()
export class PaymentChanges {
  constructor(
    @Inject(PAYMENT_STORE) private readonly ledger: PaymentLedger,
    @Inject(StoreClock) private readonly clock: PaymentClock,
    @Inject(EventDispatcher) private readonly events: Pick<EventDispatcher, 'publish'>,
  ) {}

  /** @returns as the store does */
  async insert(record: PaymentRecord): Promise<RefusedKey | null> {
    const event = ledgerEventOf(record);
    const taken = await this.ledger.insert(record, event);
    if (taken !== null) return taken;
    countAttempt(record);
    // A payment that was only opened is not reported yet.
    if (event) reportChange(record, null);
    await this.publish({ event });
    return null;
  }

  /** Replaces `record` by `next`, if its version is still the same. */
  async replace(record: PaymentRecord, next: PaymentRecord): Promise<ReplaceOutcome> {
    const event = eventOfChange(record, next);
    // A payment that held its reference goes on, even if another payment has pinned the reference meanwhile.
    const mayPin = record.referenceLock !== null;
    const outcome = await this.write(record, next, event, mayPin);
    if (outcome === 'replaced') await this.publish({ event });
    return outcome;
  }

  /**
   * Applies a settlement to the record, and reads it again whenever someone else changed it in between.
   *
   * @param untold that it comes into this state raises no event
   */
  async settle(record: PaymentRecord, settle: Settlement, untold?: LedgerState): Promise<Settled> {
    let current = record;
    for (;;) {
      if (!isKnown(current)) return { record: this.leave(current, record, settle), isStored: true };
      const next = settle(current, this.clock.now());
      if (!next) return { record: current, isStored: true };
      const event = next.state === untold ? undefined : eventOfChange(current, next);
      const outcome = await this.write(current, next, event, true);
      if (outcome === 'replaced') return { record: next, isStored: true, event };
      const latest = await this.ledger.find(record.account, record.conversationId);
      if (!latest) {
        // Only settled payments are deleted, so there is no record left to write to, however often it is tried.
        logDeleted(next);
        return { record: next, isStored: false };
      }
      current = latest;
    }
  }

  /** A state of a newer release is only changed by that release: the outcome is logged, not stored. */
  private leave(current: PaymentRecord, before: PaymentRecord, settle: Settlement): PaymentRecord {
    const lost = isKnown(before) ? settle(before, this.clock.now()) : null;
    if (lost && eventOfChange(before, lost)) logNewerRelease(lost);
    return current;
  }

  /**
   * @param mayPin whether to write the payment even though another one holds its reference, since it may have been
   *   charged. The reference then stays taken for good: if either payment released it at its end, a third one could be
   *   charged.
   */
  private async write(
    record: PaymentRecord,
    next: PaymentRecord,
    event: LedgerEvent | undefined,
    mayPin: boolean,
  ): Promise<ReplaceOutcome> {
    let outcome = await this.ledger.replace(next, record, event);
    if (outcome === 'locked' && mayPin) {
      const unlocked = isRefund(next) ? withoutLock(next) : pinReference(next);
      outcome = await this.ledger.replace(unlocked, record, event);
      if (outcome === 'locked') throw new Error('The store refused to write a record that takes no lock.');
    }
    if (outcome === 'replaced') reportChange(next, record);
    return outcome;
  }

  /** Fences an opening that was not confirmed: see {@link fenceOpening}. */
  async fenceOpening(opening: PaymentRecord): Promise<Settled> {
    const { account, conversationId } = opening;
    const unsent = unsentRecord(opening, this.clock.now());
    const event = ledgerEventOf(unsent);
    if ((await this.ledger.insert(unsent, event)) === null) {
      reportChange(unsent, null);
      return { record: unsent, isStored: true, event };
    }
    const current = await this.ledger.find(account, conversationId);
    if (current) return this.settle(current, fenceOpening(opening));
    // The conversationId belongs to a deleted payment and stays taken, so the unconfirmed write cannot be applied,
    // either.
    return { record: unsent, isStored: false };
  }

  /** Resolves when this process's handlers have run, or when the caller has waited long enough. */
  async publish({ event }: Pick<Settled, 'event'>): Promise<void> {
    if (event) await this.events.publish(event);
  }
}

function eventOfChange(record: PaymentRecord, next: PaymentRecord): LedgerEvent | undefined {
  return next.state === record.state ? undefined : ledgerEventOf(next);
}
