import { type AmountFormat, canonicalAmount, compareAmounts, fromMinorUnits, toMinorUnits } from './amount.js';
import { isKnown, Payment, type PaymentReason, type PaymentRecord, type RefundKind, toPayment } from './payment.js';
import { type RefundState, factsOf } from './states.js';

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
    settled: isKnown(record) && factsOf(record.state).settled,
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
    by: record.by,
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

/** What was taken of a payment and given back, in major units as decimal text. */
export class RefundTotals {
  /** What the gateway took: `chargedAmount`, or `amount` if it does not say. 0 if it is not proven that money moved. */
  readonly taken!: string;
  /** What was given back; after a void, all that was taken. */
  readonly refunded!: string;
  /** What refunds may be giving back whose outcome is not known. It counts as given. */
  readonly open!: string;
  /** What is left to give back. Never below 0. */
  readonly refundable!: string;

  /** @hidden */
  constructor(fields: RefundTotals) {
    Object.assign(this, fields);
  }
}

/** The reasons for a review that prove that money was taken. The others say that it may be another payment's. */
const MONEY_PROVEN: ReadonlySet<PaymentReason> = new Set(['moved_after_all', 'amount_mismatch']);

/**
 * A payment without the ids and the amount that may be another payment's: money must not be given back of that one. The
 * answer to Auth3d may show another amount because a browser brought another payment's ids.
 */
export function withProvenParts(payment: PaymentRecord): PaymentRecord {
  if (payment.isUnproven !== true) return payment;
  const { amount, chargedAmount } = payment;
  const isLess = chargedAmount !== null && (compareAmounts(chargedAmount, amount) ?? 1) < 0;
  return {
    ...payment,
    orderId: null,
    paymentId: null,
    chargedAmount: isLess && payment.state === 'succeeded' ? chargedAmount : null,
  };
}

type TakenOf = Pick<PaymentRecord, 'state' | 'kind' | 'reason' | 'amount' | 'chargedAmount' | 'currencyCode'>;
type GivenBack = Pick<PaymentRecord, 'state' | 'kind' | 'amount'>;

/** Whether money was taken for certain, so that it can be given back. */
export function isMoneyTaken({
  state,
  reason,
  kind,
  chargedAmount,
}: Omit<TakenOf, 'amount' | 'currencyCode'>): boolean {
  if (!isKnown({ state, kind })) return false;
  if (factsOf(state).money === 'yes') return true;
  // Of another amount than was asked, it must be known which one was taken.
  const isAmountKnown = reason !== 'amount_mismatch' || chargedAmount !== null;
  return state === 'review' && reason !== null && MONEY_PROVEN.has(reason) && isAmountKnown;
}

/** The totals of a payment, by all its refunds. */
export function refundTotals(payment: TakenOf, refunds: readonly GivenBack[], format: AmountFormat): RefundTotals {
  const { currencyCode } = payment;
  const units = (amount: string): bigint => toMinorUnits(amount, currencyCode) ?? 0n;
  const taken = isMoneyTaken(payment)
    ? (toMinorUnits(payment.chargedAmount ?? payment.amount, currencyCode) ?? units(payment.amount))
    : 0n;
  const sum = (some: readonly GivenBack[]): bigint => some.reduce((total, { amount }) => total + units(amount), 0n);
  const given = refunds.filter(({ state }) => state === 'succeeded');
  const refunded = isVoided(refunds) ? taken : sum(given);
  const open = sum(refunds.filter(isOpenRefund));
  const left = taken - refunded - open;
  const text = (minor: bigint): string => amountText(minor, currencyCode, format);
  return new RefundTotals({
    taken: text(taken),
    refunded: text(refunded),
    open: text(open),
    refundable: text(left > 0n ? left : 0n),
  });
}

/**
 * Whether a refund may still turn out to have given money back. That counts as given, even in a newer release's state.
 */
export function isOpenRefund(refund: Pick<GivenBack, 'state' | 'kind'>): boolean {
  return !(isKnown(refund) && factsOf(refund.state).settled);
}

/** Whether the whole sale was called off. */
export function isVoided(refunds: readonly GivenBack[]): boolean {
  return refunds.some(({ kind, state }) => kind === 'void' && state === 'succeeded');
}

function amountText(minor: bigint, currencyCode: number, format: AmountFormat): string {
  const text = fromMinorUnits(minor, currencyCode);
  // 0 has no canonical text, since no request carries it.
  const canonical = canonicalAmount(text, currencyCode, format);
  return 'text' in canonical ? canonical.text : text;
}
