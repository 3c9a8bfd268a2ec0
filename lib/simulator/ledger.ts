import { majorUnits, minorUnits } from './wire-values.js';

/**
 * What the gateway can be asked to do. `refund` and `void` share DoPayment's path; `hostedPage` is
 * HostedPaymentRedirect, `embeddedForm` is CreatePaymentForm; the others have the name of their path.
 */
export type SimulatorOperation =
  'DoPayment' | 'Init3d' | 'Auth3d' | 'CheckPayment' | 'CheckBin' | RefundOperation | HostedOperation;

/** The operations that give money back. */
export type RefundOperation = 'refund' | 'void';

/** The operations that open a page of the gateway's, at which the buyer types the card. */
export type HostedOperation = 'hostedPage' | 'embeddedForm';

/** A charge that was made. */
export interface Charge {
  readonly conversationId: string;
  readonly orderId: string;
  readonly paymentId: string;
  /** What was charged: major units, decimal text. */
  readonly amount: string;
  /** ISO 4217 numeric. */
  readonly currencyCode: number;
  readonly installmentCount: number;
  /** `hosted`: at the gateway's own page or embedded form. */
  readonly kind: 'direct' | '3d' | 'hosted';
  /** First 6 and last 4 digits. */
  readonly maskedCardNumber: string;
  readonly at: Date;
}

/** Money that was given back. */
export interface ChargeRefund {
  /** Of the refund or void itself. */
  readonly conversationId: string;
  readonly kind: RefundOperation;
  /** What it gives back, wholly or in part. */
  readonly charge: Charge;
  /** What was given back: major units, decimal text. */
  readonly amount: string;
  /** ISO 4217 numeric. */
  readonly currencyCode: number;
  readonly at: Date;
}

/** Something that a client must never do. */
export interface Violation {
  readonly kind: 'repeated-call' | 'charged-twice' | 'excessive-refund';
  readonly operation: SimulatorOperation;
  readonly conversationId: string;
  readonly at: Date;
}

/** What was decided about a payment, a refund or a void, whether or not money moved. */
export interface Decision {
  /** Of a refund or void, its own. */
  readonly conversationId: string;
  readonly kind: 'sale' | RefundOperation;
  /** The result code that answers an inquiry; null when no inquiry finds it. */
  readonly inquiry: string | null;
  /** The payment's, as far as the gateway knows the payment. */
  readonly orderId: string;
  readonly paymentId: string;
  /** What a sale took; null when no money moved, and of refunds. */
  readonly charge: Charge | null;
  /** What a refund or void gave back; null when no money moved, and of sales. */
  readonly refund: ChargeRefund | null;
}

const CHARGED_BY = { direct: 'DoPayment', '3d': 'Auth3d', hosted: 'hostedPage' } as const;

/** Who was charged, who got money back, and how often the gateway was asked to. */
export class Ledger {
  /** Oldest first. */
  readonly charges: Charge[] = [];
  /** What was given back, oldest first. */
  readonly refunds: ChargeRefund[] = [];
  /**
   * A second DoPayment, Auth3d, refund or void for one conversationId, even if the first was refused or never answered;
   * a second charge; a refund or void of more than was left, even though the gateway declines it.
   */
  readonly violations: Violation[] = [];
  private readonly decisions = new Map<string, Decision>();
  private readonly decisionsByPaymentId = new Map<string, Decision>();
  private readonly callCounts = new Map<string, number>();

  /** How often a payment was charged; more than once is a violation. */
  chargedTimes(conversationId: string): number {
    return this.charges.filter((charge) => charge.conversationId === conversationId).length;
  }

  /** How often money was given back with this conversationId of a refund or void. */
  refundedTimes(refundId: string): number {
    return this.refunds.filter(({ conversationId }) => conversationId === refundId).length;
  }

  /** How much of a payment was given back: major units, decimal text; null when it was not charged. */
  refundedAmount(conversationId: string): string | null {
    const charge = this.decision(conversationId)?.charge;
    return charge ? sumOf(this.refundsOf(charge), charge.currencyCode) : null;
  }

  /** How many requests arrived; with a conversationId, those whose body could be read and carried it. */
  calls(operation: SimulatorOperation, conversationId?: string): number {
    return this.callCounts.get(callKey(operation, conversationId)) ?? 0;
  }

  /** The sum of what was charged in a currency: major units, decimal text. */
  total(currencyCode = 949): string {
    return sumOf(this.charges, currencyCode);
  }

  /** The sum of what was given back in a currency: major units, decimal text. */
  refundedTotal(currencyCode = 949): string {
    return sumOf(this.refunds, currencyCode);
  }

  /** What was decided about a payment, a refund or a void. */
  decision(conversationId: string): Decision | undefined {
    return this.decisions.get(conversationId);
  }

  decisionOfPayment(paymentId: string): Decision | undefined {
    return this.decisionsByPaymentId.get(paymentId);
  }

  /** What was given back of a charge. */
  refundsOf(charge: Charge): readonly ChargeRefund[] {
    return this.refunds.filter((refund) => refund.charge === charge);
  }

  countArrival(operation: SimulatorOperation): void {
    this.count(callKey(operation));
  }

  /** @param movesMoney whether a second call is a violation */
  countCall(operation: SimulatorOperation, conversationId: string, at: Date, movesMoney: boolean): void {
    const times = this.count(callKey(operation, conversationId));
    if (times > 1 && movesMoney) this.violations.push({ kind: 'repeated-call', operation, conversationId, at });
  }

  record(decision: Decision): void {
    const { conversationId, kind, paymentId, charge, refund } = decision;
    this.decisions.set(conversationId, decision);
    if (kind === 'sale') this.decisionsByPaymentId.set(paymentId, decision);
    if (refund) this.refunds.push(refund);
    if (!charge) return;
    if (this.chargedTimes(conversationId) > 0) {
      const operation = CHARGED_BY[charge.kind];
      this.violations.push({ kind: 'charged-twice', operation, conversationId, at: charge.at });
    }
    this.charges.push(charge);
  }

  reset(): void {
    this.charges.length = 0;
    this.refunds.length = 0;
    this.violations.length = 0;
    this.decisions.clear();
    this.decisionsByPaymentId.clear();
    this.callCounts.clear();
  }

  private count(key: string): number {
    const times = (this.callCounts.get(key) ?? 0) + 1;
    this.callCounts.set(key, times);
    return times;
  }
}

/** The ledger as tests read it. */
export type SimulatorLedger = Readonly<Omit<Ledger, 'countArrival' | 'countCall' | 'record' | 'reset'>>;

function callKey(operation: SimulatorOperation, conversationId?: string): string {
  return conversationId === undefined ? operation : `${operation} ${conversationId}`;
}

function sumOf(
  moved: readonly { readonly amount: string; readonly currencyCode: number }[],
  currencyCode: number,
): string {
  const sum = moved
    .filter((row) => row.currencyCode === currencyCode)
    .reduce((total, { amount }) => total + minorUnits(amount, currencyCode), 0n);
  return majorUnits(sum, currencyCode);
}
