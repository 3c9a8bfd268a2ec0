import type { RefundPlay } from './model-gateway.js';
import type { ModelPayment } from './model-payment.js';
import { ModelRecord } from './model-record.js';

const OPEN = ['refunding', 'unknown', 'review'];
/** The reasons for a review that prove that money was taken. */
const TAKEN = ['moved_after_all', 'amount_mismatch'];

/** The input of a refund, void or recorded refund. */
export interface ModelAsk {
  readonly kind: 'refund' | 'void';
  readonly payment: ModelPayment;
  /** Null if the shop names none. */
  readonly refundId: string | null;
  readonly idempotencyKey: string | null;
  /** In kurus; null for all that is left. */
  readonly amount: number | null;
}

/** Of a payment, in kurus. */
interface Totals {
  readonly taken: number;
  readonly refunded: number;
  readonly open: number;
  readonly refundable: number;
}

/** Why a payment cannot be refunded: `state` if it is not certain that money was taken. */
export type Refusal = 'state' | 'voided' | 'in_progress' | 'refunded' | 'exceeds';

/** A refund as it should be. */
export class ModelRefund extends ModelRecord {
  /** Whether it turned out to have moved money while another one held its payment: it holds it no more. */
  isUnlocked = false;

  constructor(
    id: string,
    { idempotencyKey }: ModelAsk,
    readonly kind: ModelAsk['kind'],
    readonly payment: ModelPayment,
    /** In kurus. */
    readonly amount: number,
    claimedAt: number,
  ) {
    super(id, idempotencyKey, claimedAt);
  }

  /** Whether it may have given money back. */
  get isOpen(): boolean {
    return OPEN.includes(this.state);
  }
}

/** The states of refunds, and what they leave of their payments, as it is promised. */
export class RefundModel {
  readonly all: ModelRefund[] = [];

  find(refundId: string | null): ModelRefund | undefined {
    return this.all.find(({ id }) => id === refundId);
  }

  of(payment: ModelPayment): ModelRefund[] {
    return this.all.filter((refund) => refund.payment === payment);
  }

  /** Whether money of the payment was given back, or may have been. */
  isGivenBack(payment: ModelPayment): boolean {
    return this.of(payment).some(({ state, isOpen }) => isOpen || state === 'succeeded');
  }

  totals(payment: ModelPayment): Totals {
    const refunds = this.of(payment);
    const sum = (some: ModelRefund[]): number => some.reduce((total, { amount }) => total + amount, 0);
    const taken = isTaken(payment) ? kurus(payment.takenInstead ?? payment.sale.amount) : 0;
    const refunded = isVoided(refunds) ? taken : sum(refunds.filter(({ state }) => state === 'succeeded'));
    const open = sum(refunds.filter(({ isOpen }) => isOpen));
    return { taken, refunded, open, refundable: Math.max(0, taken - refunded - open) };
  }

  /** The earlier refund that is returned instead; `other` where the id or key is that of something else. */
  twinOf(ask: ModelAsk): ModelRefund | 'other' | null {
    const byId = this.find(ask.refundId);
    const byKey = ask.idempotencyKey === null ? undefined : this.withKey(ask.idempotencyKey);
    const twin = byKey ?? byId;
    if (!twin) return null;
    const isTwo = byId !== undefined && byKey !== undefined && byId !== byKey;
    const isSame = twin.kind === ask.kind && twin.payment === ask.payment;
    return isSame && !isTwo && (ask.amount === null || ask.amount === twin.amount) ? twin : 'other';
  }

  refusalOf({ kind, payment, amount }: ModelAsk): Refusal | null {
    const refunds = this.of(payment);
    const { refundable } = this.totals(payment);
    if (!isTaken(payment)) return 'state';
    if (isVoided(refunds)) return 'voided';
    if (refunds.some(({ isOpen }) => isOpen)) return 'in_progress';
    if (kind === 'void' && refunds.some(({ state }) => state === 'succeeded')) return 'refunded';
    return refundable === 0 || (amount ?? 0) > refundable ? 'exceeds' : null;
  }

  /** Stores a refund, which may be sent then. */
  open(refundId: string, ask: ModelAsk, now: number): ModelRefund {
    const amount = ask.amount ?? this.totals(ask.payment).refundable;
    const refund = new ModelRefund(refundId, ask, ask.kind, ask.payment, amount, now);
    this.all.push(refund);
    this.move(refund, 'refunding');
    return refund;
  }

  move(refund: ModelRefund, state: string, reason: string | null = null): void {
    refund.write(state, reason);
    if (reason === 'not_sent') refund.idempotencyKey = null;
    if (refund.isOpen && !refund.isHolding) {
      refund.isUnlocked ||= this.of(refund.payment).some(({ isHolding }) => isHolding);
    }
    refund.isHolding = refund.isOpen && !refund.isUnlocked;
  }

  /** The answer to a refund or void arrives, in time or late. */
  answered(refund: ModelRefund, play: RefundPlay): void {
    switch (play) {
      case 'approve':
      case 'bare':
      case 'hangGiven':
        return this.approved(refund, null);
      case 'wrongAmount':
        return this.approved(refund, 'amount_mismatch');
      case 'other':
      case 'otherDeclined':
        return this.approved(refund, 'conversation_mismatch');
      case 'decline':
      case 'liar':
      case 'hang':
        if (refund.state === 'refunding' || refund.state === 'unknown') this.move(refund, 'failed', 'declined');
        return;
      case 'vague':
      case 'vagueGiven':
        return this.move(refund, 'unknown', 'indeterminate_code');
      case 'lost':
      case 'lostGiven':
      case 'lostWrong':
        return this.move(refund, 'unknown', 'no_answer');
      case 'notSent':
        return this.move(refund, 'failed', 'not_sent');
    }
  }

  /** The answer to a CheckPayment about a refund arrives. Only an approval says anything. */
  inquired(refund: ModelRefund, play: RefundPlay | undefined, isGiven: boolean): void {
    if (isGiven && play === 'lostWrong') return this.approved(refund, 'amount_mismatch');
    if (isGiven && play !== 'vagueGiven') return this.approved(refund, null);
    if (refund.state === 'unknown') this.move(refund, 'unknown', refund.reason);
  }

  private approved(refund: ModelRefund, contradiction: string | null): void {
    switch (refund.state) {
      case 'refunding':
      case 'unknown':
        return this.move(refund, contradiction === null ? 'succeeded' : 'review', contradiction);
      case 'failed':
        return this.move(refund, 'review', contradiction ?? 'moved_after_all');
    }
  }

  private withKey(key: string): ModelRefund | undefined {
    return this.all.find(({ idempotencyKey }) => idempotencyKey === key);
  }
}

/** Whether an answer has shown the gateway's ids of a payment that cannot be another payment's. */
export function areIdsCertain({ hasIds, history }: ModelPayment): boolean {
  return hasIds && !history.some(({ reason }) => reason === 'unbound');
}

export function kurus(amount: string): number {
  return Math.round(Number(amount) * 100);
}

export function amountText(amount: number): string {
  return (amount / 100).toFixed(2);
}

function isTaken({ state, reason }: ModelPayment): boolean {
  return state === 'succeeded' || (state === 'review' && TAKEN.includes(reason ?? ''));
}

function isVoided(refunds: readonly ModelRefund[]): boolean {
  return refunds.some(({ kind, state }) => kind === 'void' && state === 'succeeded');
}
