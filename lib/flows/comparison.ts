import type { GatewayClient } from '../gateway/gateway-client.js';
import type { SettledWord } from '../gateway/readings/settled-word.js';
import { refundsAccountOf } from '../payment/account.js';
import { rowOf } from '../payment/payment-state.js';
import { isKnown, isRefund, type PaymentRecord } from '../payment/payment.js';
import type { PaymentStore } from '../store/payment-store.js';

/**
 * How the gateway's word differs from a record.
 *
 * - `moved_there`: failed or expired here, but the gateway says that money moved.
 * - `not_moved_there`: succeeded here, but the gateway says that no money moved.
 * - `not_found_there`: succeeded here, and the gateway does not know it.
 * - `amount`, `currency`: succeeded here and there, but for another amount, or in another currency.
 * - `reversed_there`: the gateway answers about a refund or void of the payment, and there is none here.
 * - `other_status`: succeeded here, but a status there that is not success.
 * - `contradictory`: an approval of a special kind, or one that contradicts itself.
 */
export type DifferenceKind =
  | 'moved_there'
  | 'not_moved_there'
  | 'not_found_there'
  | 'amount'
  | 'currency'
  | 'reversed_there'
  | 'other_status'
  | 'contradictory';

/** What comparing a record with the gateway's word led to. */
export type Compared =
  | { readonly result: 'agreed'; readonly record: PaymentRecord; readonly word: SettledWord }
  | {
      readonly result: 'differing';
      readonly difference: DifferenceKind;
      readonly record: PaymentRecord;
      readonly word: SettledWord;
    }
  /** The gateway's answer says nothing clear. */
  | { readonly result: 'unclear'; readonly record: PaymentRecord; readonly word: SettledWord }
  /** The gateway gave no answer. */
  | { readonly result: 'unanswered'; readonly record: PaymentRecord }
  /** The gateway cannot know it: nothing was sent. Or only a newer release knows what it is. */
  | { readonly result: 'not_asked' }
  /** It is not settled any more, or was purged. */
  | { readonly result: 'changed' };

type Verdict = 'agreed' | 'unclear' | { readonly difference: DifferenceKind };

/** A record that keeps changing while it is compared is reported as `changed`. */
const MAX_LOOKS = 3;

/** Compares settled payments and refunds with the gateway's word. It changes nothing, and moves no money. */
export class Comparison {
  constructor(
    private readonly store: Pick<PaymentStore, 'find' | 'findByReference'>,
    private readonly gateway: Pick<GatewayClient, 'askSettled'>,
  ) {}

  async compare(record: PaymentRecord): Promise<Compared> {
    let current = record;
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      if (!isSettled(current) && isKnown(current)) return { result: 'changed' };
      if (!isAskable(current)) return { result: 'not_asked' };
      const word = await this.gateway.askSettled(current);
      if (word.word === 'unanswered') return { result: 'unanswered', record: current };
      const verdict = await this.judge(current, word);
      if (typeof verdict === 'string') return { result: verdict, record: current, word };
      // It may have been changed while the gateway answered.
      const latest = await this.store.find(current.account, current.conversationId);
      if (latest === null || !isSettled(latest)) return { result: 'changed' };
      if (latest.version === current.version) {
        return { result: 'differing', difference: verdict.difference, record: current, word };
      }
      current = latest;
    }
    return { result: 'changed' };
  }

  private async judge(record: PaymentRecord, { word, reason }: SettledWord): Promise<Verdict> {
    const isMoved = record.state === 'succeeded';
    switch (word) {
      case 'approved':
        return isMoved ? 'agreed' : { difference: 'moved_there' };
      case 'mismatch':
        return { difference: isMoved ? mismatchOf(reason) : 'moved_there' };
      case 'declined':
      case 'not_paid':
        return isMoved ? { difference: 'not_moved_there' } : 'agreed';
      case 'not_found':
        return isMoved ? { difference: 'not_found_there' } : 'agreed';
      case 'refunded':
      case 'voided':
        // A sale that was given back was taken before.
        return isMoved ? this.judgeReversal(record, word, 'reversed_there') : { difference: 'moved_there' };
      case 'open':
        return isMoved ? { difference: 'other_status' } : 'unclear';
      case 'other_status':
        return isMoved ? this.judgeReversal(record, word, 'other_status') : 'unclear';
      case 'unclear':
      case 'unanswered':
        return 'unclear';
    }
  }

  /** Whether the refunds of a payment explain that the gateway no longer says that it succeeded. */
  private async judgeReversal(
    { account, conversationId }: PaymentRecord,
    word: 'refunded' | 'voided' | 'other_status',
    difference: DifferenceKind,
  ): Promise<Verdict> {
    const refunds = await this.store.findByReference(refundsAccountOf(account), conversationId);
    if (refunds.some((refund) => !isSettled(refund))) return 'unclear';
    const given = refunds.filter(({ state }) => state === 'succeeded');
    if (given.length === 0) return { difference };
    if (word === 'other_status') return 'unclear';
    // What was written down after it was made at the gateway's panel may be either there.
    const kind = word === 'voided' ? 'void' : 'refund';
    return given.some((refund) => refund.kind === kind || refund.reason === 'recorded') ? 'agreed' : { difference };
  }
}

function mismatchOf(reason: SettledWord['reason']): DifferenceKind {
  if (reason === 'amount_mismatch') return 'amount';
  return reason === 'currency_mismatch' ? 'currency' : 'contradictory';
}

/** Whether the gateway can know it. */
export function isAskable(record: PaymentRecord): boolean {
  if (!isKnown(record) || record.reason === 'not_sent' || record.reason === 'recorded') return false;
  // Of a 3D payment, the start was sent.
  return record.reason !== 'reference_taken' || record.kind === '3d';
}

function isSettled(record: PaymentRecord): boolean {
  return isKnown(record) && rowOf(record.state).settled;
}

/** Whether the gateway showed no amount for what it said that it moved: state alone agrees then. */
export function isAmountHidden({ word, amount }: SettledWord): boolean {
  return word === 'approved' && amount === null;
}

/** The payment of a record: its own conversationId, or that of a refund's payment. */
export function paymentIdOf(record: PaymentRecord): string {
  return isRefund(record) ? (record.reference ?? '') : record.conversationId;
}
