import type { ChargePlay } from './model-gateway.js';

/** From the claim on, an inquiry may be begun that ends with it: three tries of a minute and two seconds, and half a minute, less a minute. */
const ASKED_WITHIN_MS = 156_000;
export const SESSION_MS = 3_600_000;
const CONFIRMED_AFTER_MS = 600_000;
const HOLDING = ['charging', 'authorizing', 'unknown', 'review', 'succeeded'];
const TOLD = ['succeeded', 'failed', 'expired', 'unknown', 'review'];

export interface Line {
  readonly version: number;
  readonly state: string;
  readonly reason: string | null;
}

/** What a payment is asked with. */
export interface ModelSale {
  readonly kind: 'direct' | '3d';
  readonly conversationId: string;
  readonly reference: string | null;
  readonly allowRepeat: boolean;
  readonly idempotencyKey: string | null;
  readonly amount: string;
}

/** A payment as it should stand. */
export class ModelPayment {
  readonly history: Line[] = [];
  readonly events: string[] = [];
  idempotencyKey: string | null;
  notFoundAt: number | null = null;
  claimedAt = 0;

  constructor(
    readonly sale: ModelSale,
    readonly expiresAt: number,
  ) {
    this.idempotencyKey = sale.idempotencyKey;
  }

  get state(): string {
    return this.history.at(-1)?.state ?? '';
  }

  get reason(): string | null {
    return this.history.at(-1)?.reason ?? null;
  }
}

/** The states of a payment as they are promised, without a store, a wire or a clock of its own. */
export class PaymentModel {
  readonly payments: ModelPayment[] = [];
  /** Who holds a reference. */
  private readonly locks = new Map<string, ModelPayment>();

  find(conversationId: string): ModelPayment | undefined {
    return this.payments.find(({ sale }) => sale.conversationId === conversationId);
  }

  withKey(key: string | null): ModelPayment | undefined {
    return key === null ? undefined : this.payments.find((payment) => payment.idempotencyKey === key);
  }

  isHeld({ reference, allowRepeat }: ModelSale): boolean {
    return reference !== null && !allowRepeat && this.locks.has(reference);
  }

  /** Whether another payment of the reference counts, be it without the lock: it is what a 3D payment looks at before it begins. */
  isBusy({ reference, allowRepeat }: ModelSale): boolean {
    const isOther = ({ sale, state }: ModelPayment): boolean =>
      sale.reference === reference && !sale.allowRepeat && HOLDING.includes(state);
    return reference !== null && !allowRepeat && this.payments.some(isOther);
  }

  open(sale: ModelSale, now: number, state: string, reason: string | null = null): ModelPayment {
    const payment = new ModelPayment(sale, now + SESSION_MS);
    this.payments.push(payment);
    this.move(payment, state, reason);
    return payment;
  }

  move(payment: ModelPayment, state: string, reason: string | null = null): void {
    const before = payment.state;
    const version = payment.history.length + 1;
    payment.history.push({ version, state, reason });
    if (state !== before && TOLD.includes(state))
      payment.events.push(`${payment.sale.conversationId}:${version} ${state}`);
    this.hold(payment, state);
  }

  free(payment: ModelPayment): void {
    payment.idempotencyKey = null;
  }

  /** What a DoPayment's or Auth3d's answer makes of it, now or late. */
  answered(payment: ModelPayment, play: ChargePlay, { now, isDown }: { now: number; isDown: boolean }): void {
    const isConfirmed = !isDown && now - payment.claimedAt <= ASKED_WITHIN_MS;
    switch (play) {
      case 'bare':
      case 'hangBare':
        return payment.sale.kind === 'direct' || isConfirmed ? this.approved(payment, null) : this.unbound(payment);
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
        this.free(payment);
        return this.move(payment, 'failed', 'not_sent');
    }
  }

  /** What a CheckPayment's answer makes of it. */
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

  private approved(payment: ModelPayment, contradiction: string | null): void {
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
    if (reference === null || allowRepeat) return;
    if (!HOLDING.includes(state)) {
      if (this.locks.get(reference) === payment) this.locks.delete(reference);
    } else if (!this.locks.has(reference)) this.locks.set(reference, payment);
  }

  holds(payment: ModelPayment): boolean {
    return payment.sale.reference !== null && this.locks.get(payment.sale.reference) === payment;
  }
}
