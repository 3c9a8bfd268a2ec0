import { Inject, Injectable } from '@nestjs/common';
import { EventDispatcher } from '../events/event-dispatcher.js';
import type { ChargeAttempt, NoPageAttempt } from '../gateway/gateway-client.js';
import type { ChargeOutcome } from '../gateway/readings/verdicts.js';
import { type LedgerEvent, ledgerEventOf } from '../payment/payment-event.js';
import { isKnown, isRefund, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { type Refund, toRefund } from '../payment/refund.js';
import type { LedgerState } from '../payment/states.js';
import { advance, type PaymentChange, pinReference, withdrawClaim, withoutLock } from '../payment/transitions.js';
import { type PaymentClock, withTimeout } from '../runtime/clock.js';
import { PAYMENT_STORE, type PaymentLedger, type RefusedKey, type ReplaceOutcome } from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';
import { countAttempt } from '../telemetry/metrics.js';
import { logContradiction, logNotStored, reportChange } from './change-log.js';
import {
  applyNotSent,
  applyOutcome,
  contradicts,
  endWithoutPage,
  type Settlement,
  SettlementRules,
} from './outcomes.js';
import { type OwedWrite, OwedWrites } from './owed-writes.js';
import { StoreClock } from './store-clock.js';

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

/** The result of a settlement: the record as it is now, and the event if its state changed. */
export interface Settled {
  readonly record: PaymentRecord;
  /** False if the store has no such record any more, or did not accept it. */
  readonly isStored: boolean;
  readonly event?: LedgerEvent;
}

/** What a caller is told of a payment that was written. */
export function paymentOf({ record, isStored }: Settled): Payment {
  return toPayment(record, isStored);
}

/** The same of a refund. */
export function refundOf({ record, isStored }: Settled): Refund {
  return toRefund(record, isStored);
}

/** How long a caller waits for the store once the outcome is known; the write goes on after that. */
const MAX_WRITE_WAIT_MS = 5_000;

/**
 * Writes payments and refunds, each change by compare-and-set and together with its event. Before anything is sent, a
 * failing store is an error. Afterwards the outcome is always returned, and what could not be stored is owed.
 */
@Injectable()
export class PaymentWriter {
  constructor(
    @Inject(PAYMENT_STORE) private readonly ledger: PaymentLedger,
    @Inject(StoreClock) private readonly clock: PaymentClock,
    @Inject(EventDispatcher) private readonly events: Pick<EventDispatcher, 'publish'>,
    private readonly owed: OwedWrites,
    private readonly rules: SettlementRules,
  ) {}

  /**
   * Stores a new payment, which is under way and no event yet. If the store does not confirm it, it is fenced and will
   * never be charged.
   *
   * @returns the key that is taken; null when the payment is stored; `parentId` for a refund whose payment is gone
   * @throws PaymentStoreError
   */
  open(record: PaymentRecord): Promise<RefusedKey | null> {
    const fence = this.owedWrite(record, () => this.fenceOpening(record));
    return this.unlessUnconfirmed(fence, 'opening the payment', async () => {
      const taken = await this.ledger.insert(record);
      if (taken === null) countAttempt(record);
      return taken;
    });
  }

  /**
   * Takes the right to call Auth3d, which is granted once. If the store does not confirm it, the claim is fenced and
   * the payment keeps waiting for the buyer.
   *
   * @throws PaymentStoreError
   */
  claim(record: PaymentRecord, change: { dueAt: Date; attemptId: string }): Promise<Moved> {
    const fence = this.owedWrite(record, () => this.applyChange(record, fenceClaim(record, change.attemptId)));
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
    const settled = await callStore('writing the decision', () => this.applyChange(record, settle));
    await this.publish(settled.event);
    return settled.event ? settled.record : null;
  }

  /** Stores what became of a request that moves money: its outcome, or that it was not sent. */
  conclude(record: PaymentRecord, attempt: ChargeAttempt): Promise<Settled> {
    if (!attempt.sent) return this.settle(record, applyNotSent);
    const { outcome: answer } = attempt;
    return this.settle(record, (current, now) => applyOutcome(current, answer, this.rules, now), { answer });
  }

  /** Stores that there is no page for the buyer, so that no money can move: none was given, or none was asked for. */
  concludeWithoutPage(record: PaymentRecord, attempt: NoPageAttempt): Promise<Settled> {
    if (!attempt.sent) return this.settle(record, applyNotSent);
    return this.settle(record, (current, now) => endWithoutPage(current, attempt, this.rules, now));
  }

  /**
   * Stores a known outcome, even if the record changes meanwhile. Never throws: an outcome that cannot be stored now is
   * owed, and `isStored` is false until it is written.
   */
  async settle(record: PaymentRecord, settle: Settlement, { answer, untold }: SettledFrom = {}): Promise<Settled> {
    // On a new stack, as in callStore.
    await Promise.resolve();
    const write = (): Promise<Settled> => this.applyChange(record, settle, untold);
    const writing = write().catch(() => null);
    const settled = await withTimeout(MAX_WRITE_WAIT_MS, () => writing, this.clock).catch(() => null);
    if (settled) {
      if (answer && contradicts(answer, settled.record)) logContradiction(settled.record, answer);
      await this.publish(settled.event);
      return settled;
    }
    // If the write was only slow, its event is still published.
    void writing.then((late) => this.publish(late?.event));
    this.owed.add(this.owedWrite(record, write));
    const owed = settle(record, this.clock.now()) ?? record;
    logNotStored(owed, 'owed');
    return { record: owed, isStored: false };
  }

  /** Replaces `record` by `next`, if its version is still the same. */
  private async replace(record: PaymentRecord, next: PaymentRecord): Promise<Moved> {
    const event = eventOfChange(record, next);
    // A payment that held its reference goes on, even if another payment has pinned the reference meanwhile.
    const mayPin = record.referenceLock !== null;
    const outcome = await this.write(record, next, event, mayPin);
    if (outcome !== 'replaced') return { outcome, record };
    await this.publish(event);
    return { outcome, record: next };
  }

  /**
   * Applies a settlement to the record, and reads it again whenever someone else changed it in between. The caller
   * publishes the event, since it knows how long it may wait for its handlers.
   *
   * @param untold that it comes into this state raises no event
   */
  private async applyChange(record: PaymentRecord, settle: Settlement, untold?: LedgerState): Promise<Settled> {
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
        logNotStored(next, 'deleted');
        return { record: next, isStored: false };
      }
      current = latest;
    }
  }

  /** A state of a newer release is only changed by that release: the outcome is logged, not stored. */
  private leave(current: PaymentRecord, before: PaymentRecord, settle: Settlement): PaymentRecord {
    const lost = isKnown(before) ? settle(before, this.clock.now()) : null;
    if (lost && eventOfChange(before, lost)) logNotStored(lost, 'ofNewerRelease');
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
  private async fenceOpening(opening: PaymentRecord): Promise<Settled> {
    const { account, conversationId } = opening;
    const unsent = unsentRecord(opening, this.clock.now());
    const event = ledgerEventOf(unsent);
    if ((await this.ledger.insert(unsent, event)) === null) {
      reportChange(unsent, null);
      return { record: unsent, isStored: true, event };
    }
    const current = await this.ledger.find(account, conversationId);
    if (current) return this.applyChange(current, fenceOpening(opening));
    // The conversationId belongs to a deleted payment and stays taken, so the unconfirmed write cannot be applied,
    // either.
    return { record: unsent, isStored: false };
  }

  /** Its event is published as soon as it is written. Handlers may take long, and what else is owed must not wait. */
  private owedWrite({ conversationId }: PaymentRecord, write: () => Promise<Settled>): OwedWrite {
    return { conversationId, write: async () => void this.publish((await write()).event) };
  }

  private async unlessUnconfirmed<T>(fence: OwedWrite, doing: string, write: () => Promise<T>): Promise<T> {
    try {
      return await callStore(doing, write);
    } catch (error) {
      this.owed.add(fence);
      throw error;
    }
  }

  /** Resolves when this process's handlers have run, or when the caller has waited long enough. */
  private async publish(event: LedgerEvent | undefined): Promise<void> {
    if (event) await this.events.publish(event);
  }
}

function eventOfChange(record: PaymentRecord, next: PaymentRecord): LedgerEvent | undefined {
  return next.state === record.state ? undefined : ledgerEventOf(next);
}

/*
 * An unconfirmed write may have been applied, or may be applied later. Nothing was sent because of it. The fence makes
 * sure that nothing will be: it makes the unconfirmed write fail, or reverts it.
 */

/**
 * The record that is stored in place of an opening that was not confirmed: it uses up the conversationId and holds
 * nothing.
 */
function unsentRecord(opening: PaymentRecord, now: Date): PaymentRecord {
  const change = { reason: 'not_sent', tokenHash: null } as const;
  return { ...advance(opening, 'failed', change, now), version: opening.version };
}

/** Ends an opening that was applied after all, if this attempt wrote it. */
function fenceOpening(opening: PaymentRecord): Settlement {
  return (current, now) => (current.attemptId === opening.attemptId ? applyNotSent(current, now) : null);
}

/**
 * Raises the version, so that the unconfirmed claim fails, or reverts the claim if it was applied after all and this
 * attempt wrote it. The payment then waits for the buyer to reload.
 */
function fenceClaim(before: PaymentRecord, attemptId: string): Settlement {
  return (current, now) => {
    // Each change raises the version, so the unconfirmed write can only apply to this one.
    const isBefore = current.version === before.version;
    const isOurs = current.attemptId === attemptId;
    if (isBefore) return advance(current, 'awaiting', { dueAt: before.expiresAt }, now);
    if (isOurs && current.state === 'authorizing') return withdrawClaim(current, now);
    // The claim ran out before the store answered again: the payment is `interrupted` by now.
    return isOurs ? applyNotSent(current, now) : null;
  };
}
