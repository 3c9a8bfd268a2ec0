import { majorUnits, minorUnits } from './money.js';

export type SimulatorOperation = 'DoPayment' | 'Init3d' | 'Auth3d' | 'CheckPayment' | 'CheckBin';

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
  readonly kind: 'direct' | '3d';
  /** First 6 and last 4 digits. */
  readonly maskedCardNumber: string;
  readonly at: Date;
}

/** Something that a client must never do. */
export interface Violation {
  readonly kind: 'repeated-call' | 'charged-twice';
  readonly operation: SimulatorOperation;
  readonly conversationId: string;
  readonly at: Date;
}

/** What the bank decided about a payment, charged or not. */
export interface Decision {
  readonly conversationId: string;
  /** The result code that answers an inquiry; null when the inquiry does not find the payment. */
  readonly inquiry: string | null;
  readonly orderId: string;
  readonly paymentId: string;
  /** null when no money moved. */
  readonly charge: Charge | null;
}

/** Who was charged, and how often the gateway was asked to. */
export class Ledger {
  /** Oldest first. */
  readonly charges: Charge[] = [];
  /**
   * A second DoPayment or Auth3d for one conversationId, even if the first was refused or never answered; a second
   * charge.
   */
  readonly violations: Violation[] = [];
  private readonly decisions = new Map<string, Decision>();
  private readonly callCounts = new Map<string, number>();

  /** How often a payment was charged; more than once is a violation. */
  chargedTimes(conversationId: string): number {
    return this.charges.filter((charge) => charge.conversationId === conversationId).length;
  }

  /** How many requests arrived; with a conversationId, those whose body could be read and carried it. */
  calls(operation: SimulatorOperation, conversationId?: string): number {
    return this.callCounts.get(callKey(operation, conversationId)) ?? 0;
  }

  /** The sum of what was charged in a currency: major units, decimal text. */
  total(currencyCode = 949): string {
    const sum = this.charges
      .filter((charge) => charge.currencyCode === currencyCode)
      .reduce((total, charge) => total + minorUnits(charge.amount, currencyCode), 0n);
    return majorUnits(sum, currencyCode);
  }

  /** What the bank decided about a payment. */
  decision(conversationId: string): Decision | undefined {
    return this.decisions.get(conversationId);
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
    const { conversationId, charge } = decision;
    this.decisions.set(conversationId, decision);
    if (!charge) return;
    if (this.chargedTimes(conversationId) > 0) {
      const operation = charge.kind === 'direct' ? 'DoPayment' : 'Auth3d';
      this.violations.push({ kind: 'charged-twice', operation, conversationId, at: charge.at });
    }
    this.charges.push(charge);
  }

  reset(): void {
    this.charges.length = 0;
    this.violations.length = 0;
    this.decisions.clear();
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
