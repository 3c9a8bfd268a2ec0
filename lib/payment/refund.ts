import { isKnown, Payment, type PaymentReason, type PaymentRecord, type RefundKind, toPayment } from './payment.js';
import { type RefundState, rowOf } from './payment-state.js';

/** What the module shows of a refund or void. A payment's own state never changes by it. */
export class Refund {
  /** The gateway's id for this attempt; of the form of a conversationId, and that of no payment. */
  readonly refundId!: string;
  /** The payment whose money is given back. */
  readonly conversationId!: string;
  /** The merchant account: `default`, or the `name` given to `PaymentModule.forRoot`. */
  readonly account!: string;
  /** The `reference` of the payment: the merchant's order. */
  readonly reference!: string | null;
  readonly kind!: RefundKind;
  readonly state!: RefundState;
  /** True for `succeeded` and `failed`: an outcome that can be acted upon. */
  readonly settled!: boolean;
  /** False if the outcome is known but could not be written to the store yet. The module keeps trying. */
  readonly stored!: boolean;
  /** Why it is in this state, if the state alone does not say. */
  readonly reason!: PaymentReason | null;
  /** What is given back, in major units as canonical decimal text; of a void, all that was taken. */
  readonly amount!: string;
  /** ISO 4217 numeric code: 949 is the Turkish lira. */
  readonly currencyCode!: number;
  /** The gateway's result code; null if there is none. */
  readonly code!: string | null;
  /** The gateway's result text, its digits masked. For people only: never make a decision based on it. */
  readonly message!: string | null;
  /** As the answer shows it; whether it is the refund's own or the payment's is not known (unverified). */
  readonly orderId!: string | null;
  /** As the answer shows it; whether it is the refund's own or the payment's is not known (unverified). */
  readonly paymentId!: string | null;
  readonly bankUniqueReferenceNumber!: string | null;
  /** The gateway's date and time, text as received. */
  readonly transactionDate!: string | null;
  /** `transactionDate`, read by the option `dateOrder` as Turkish time (unverified); null if it cannot be read. */
  readonly transactionAt!: Date | null;
  /** The note given with the refund, or with `resolveRefund` since. */
  readonly note!: string | null;
  /** Who asked for it, or resolved it since; null if nobody gave a name. */
  readonly by!: string | null;
  readonly createdAt!: Date;
  readonly updatedAt!: Date;
  /** When it was settled; null until then. */
  readonly finalizedAt!: Date | null;
  /** Grows by one with every change. */
  readonly version!: number;

  constructor(fields: Refund) {
    Object.assign(this, fields);
  }
}

/** A refund in one of these states, for the type checker. */
export type RefundIn<S extends RefundState> = S extends unknown ? Refund & { readonly state: S } : never;

/** The public view of a refund's record. */
export function toRefund(record: PaymentRecord, stored = true): Refund {
  return new Refund({
    refundId: record.conversationId,
    conversationId: record.parentId ?? '',
    account: record.account,
    reference: record.reference,
    kind: record.kind as RefundKind,
    state: record.state as RefundState,
    settled: isKnown(record) && rowOf(record.state).settled,
    stored,
    reason: record.reason,
    amount: record.amount,
    currencyCode: record.currencyCode,
    code: record.code,
    message: record.message,
    orderId: record.orderId,
    paymentId: record.paymentId,
    bankUniqueReferenceNumber: record.bankUniqueReferenceNumber,
    transactionDate: record.transactionDate,
    transactionAt: record.transactionAt,
    note: record.note,
    by: record.by ?? null,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    finalizedAt: record.finalizedAt,
    version: record.version,
  });
}

const SALE_DATES = ['transactionAt', 'createdAt', 'updatedAt', 'finalizedAt'] as const;

/** A refund's payment, as its record keeps it: text, so that every store gives it back as it is. */
export function saleText(payment: Payment): string {
  return JSON.stringify(payment);
}

/** The payment of a refund as it was when the refund was asked for; null for a record without one. */
export function saleOf({ sale }: Pick<PaymentRecord, 'sale'>): Payment | null {
  if (sale === undefined) return null;
  const payment = JSON.parse(sale) as Payment;
  const dates = SALE_DATES.map((name) => [name, payment[name] === null ? null : new Date(payment[name])] as const);
  return new Payment({ ...payment, ...Object.fromEntries(dates) });
}

/** A refund's payment, as it was when the refund was asked for. */
export function refundedPayment(refund: PaymentRecord): Payment {
  return saleOf(refund) ?? toPayment(refund);
}

/** The amounts of a refund's payment: it is not known whether an answer about the refund shows one of these. */
export function saleAmountsOf(refund: Pick<PaymentRecord, 'sale'>): readonly string[] {
  const sale = saleOf(refund);
  return [sale?.amount, sale?.chargedAmount].filter((text) => typeof text === 'string');
}
