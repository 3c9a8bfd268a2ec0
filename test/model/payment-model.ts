import { type ChargePlay, LESS } from './model-gateway.js';
import { ModelPayment, type ModelSale } from './model-payment.js';
import { RefundModel } from './refund-model.js';

/** A claim lasts a minute and a half: an inquiry, which may take a minute, begins early enough to end within it. */
const ASKED_WITHIN_MS = 30_000;
export const SESSION_MS = 3_600_000;
const CONFIRMED_AFTER_MS = 600_000;
const HOLDING = ['charging', 'authorizing', 'unknown', 'review', 'succeeded'];
const BEFORE_MONEY = ['initiating', 'awaiting'];
const NOTHING_SENT = ['not_sent', 'reference_taken', 'vetoed'];

/** The states of payments as they are promised, without a store, a gateway or a clock. */
export class PaymentModel {
  readonly payments: ModelPayment[] = [];
  readonly refunds = new RefundModel();
  /** The payment that holds a reference; null where it is taken for good. */
  private readonly locks = new Map<string, ModelPayment | null>();

  find(conversationId: string): ModelPayment | undefined {
    return this.payments.find(({ sale }) => sale.conversationId === conversationId);
  }

  withKey(key: string | null): ModelPayment | undefined {
    return key === null ? undefined : this.payments.find((payment) => payment.idempotencyKey === key);
  }

  isHeld({ reference, allowRepeat }: ModelSale): boolean {
    return reference !== null && !allowRepeat && this.locks.has(reference);
  }

  /** Whether another payment of the reference may have been charged, with or without the lock: checked before a 3D payment begins. */
  isBusy({ reference, allowRepeat }: ModelSale): boolean {
    const isOther = ({ sale, state, isPinning }: ModelPayment): boolean =>
      sale.reference === reference && !sale.allowRepeat && (isPinning || HOLDING.includes(state));
    return reference !== null && !allowRepeat && this.payments.some(isOther);
  }

  open(sale: ModelSale, now: number, state: string, reason: string | null = null): ModelPayment {
    const payment = new ModelPayment(sale, now + SESSION_MS, now);
    this.payments.push(payment);
    this.move(payment, state, reason);
    return payment;
  }

  move(payment: ModelPayment, state: string, reason: string | null = null): void {
    const before = payment.state;
    payment.write(state, reason);
    const isOver = state === 'failed' || state === 'expired';
    const isUnsent = BEFORE_MONEY.includes(before) || NOTHING_SENT.includes(reason ?? '');
    if (isOver && isUnsent) payment.idempotencyKey = null;
    this.hold(payment, state);
  }

  /** The answer to a DoPayment or Auth3d arrives, in time or late. */
  answered(payment: ModelPayment, play: ChargePlay, { now, isDown }: { now: number; isDown: boolean }): void {
    switch (play) {
      case 'bare':
      case 'hangBare':
        if (payment.sale.kind === 'direct') return this.approved(payment, null);
        // When the claim may end during the inquiry, the approval is written before the gateway is asked.
        if (isDown || now - payment.claimedAt > ASKED_WITHIN_MS) this.unbound(payment);
        // What confirms it need not name it, so that its ids are not certain.
        return isDown || payment.state === 'review' ? undefined : this.approved(payment, null, false);
      case 'stolen':
      case 'stolenDeclined':
      case 'hangStolen':
        return payment.sale.kind === 'direct' ? this.approved(payment, null) : this.unbound(payment);
      case 'approve':
      case 'hangCharged':
        return this.approved(payment, null);
      case 'less':
        return this.approved(payment, 'amount_mismatch');
      case 'decline':
      case 'liar':
      case 'hang':
        if (['charging', 'authorizing', 'unknown'].includes(payment.state)) this.move(payment, 'failed', 'declined');
        return;
      case 'indeterminate':
      case 'indeterminateCharged':
        return this.move(payment, 'unknown', 'indeterminate_code');
      case 'lost':
      case 'lostCharged':
        return this.move(payment, 'unknown', 'no_answer');
      case 'notSent':
        return this.move(payment, 'failed', 'not_sent');
    }
  }

  /** The answer to a CheckPayment arrives. */
  inquired(payment: ModelPayment, play: ChargePlay | undefined, isCharged: boolean, now: number): void {
    const { state } = payment;
    if (play === 'less') {
      if (state === 'unknown' || state === 'failed') this.approved(payment, 'amount_mismatch');
      return;
    }
    if (isCharged) return this.approved(payment, null);
    if (state !== 'unknown') return;
    if (play === 'decline' || play === 'stolenDeclined') return this.move(payment, 'failed', 'declined');
    if (play === 'indeterminate') return this.move(payment, 'unknown', payment.reason);
    const isProof = payment.reason !== 'unbound';
    if (isProof && payment.notFoundAt !== null && now - payment.notFoundAt >= CONFIRMED_AFTER_MS) {
      return this.move(payment, 'failed', 'not_found');
    }
    payment.notFoundAt ??= now;
    this.move(payment, 'unknown', payment.reason);
  }

  /** An approval that may be another payment's, and that no inquiry confirmed. */
  private unbound(payment: ModelPayment): void {
    switch (payment.state) {
      case 'authorizing':
        return this.move(payment, 'unknown', 'unbound');
      case 'unknown':
        if (payment.reason !== 'unbound') this.move(payment, 'unknown', 'unbound');
        return;
      case 'failed':
      case 'expired':
        return this.move(payment, 'review', 'unbound');
    }
  }

  private approved(payment: ModelPayment, contradiction: string | null, showsIds = true): void {
    if (['charging', 'authorizing', 'unknown', 'failed', 'expired'].includes(payment.state)) {
      payment.hasIds = showsIds;
      if (contradiction === 'amount_mismatch') payment.takenInstead = LESS;
    }
    switch (payment.state) {
      case 'charging':
      case 'authorizing':
      case 'unknown':
        return this.move(payment, contradiction === null ? 'succeeded' : 'review', contradiction);
      case 'failed':
      case 'expired':
        return this.move(payment, 'review', contradiction ?? 'moved_after_all');
    }
  }

  private hold(payment: ModelPayment, state: string): void {
    const { reference, allowRepeat } = payment.sale;
    if (reference === null || allowRepeat || payment.isPinning) return;
    const holder = this.locks.get(reference);
    payment.isHolding = HOLDING.includes(state) && (holder === undefined || holder === payment);
    payment.isPinning = HOLDING.includes(state) && !payment.isHolding;
    if (payment.isPinning) this.locks.set(reference, null);
    else if (payment.isHolding) this.locks.set(reference, payment);
    else if (holder === payment) this.locks.delete(reference);
  }
}
