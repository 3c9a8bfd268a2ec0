import { type AmountFormat, canonicalAmount, compareAmounts, fromMinorUnits, toMinorUnits } from './amount.js';
import { isKnown, type PaymentHistoryEntry, type PaymentReason, type PaymentRecord } from './payment.js';
import { rowOf } from './payment-state.js';

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
 * With these reasons, the gateway's answer may have been about another payment, and so may its ids and its amount be
 * that the record keeps. They stay in the record when the payment is settled later.
 */
const FOREIGN: ReadonlySet<PaymentReason> = new Set([
  'conversation_mismatch',
  'currency_mismatch',
  'unbound',
  'sign_mismatch',
]);

/**
 * A payment without the ids and the amount that may be another payment's: money must not be given back of that one. The
 * answer to Auth3d may show another amount because a browser brought another payment's ids.
 */
export function withoutForeignParts(
  payment: PaymentRecord,
  history: readonly Pick<PaymentHistoryEntry, 'reason'>[],
): PaymentRecord {
  // Records of older releases do not say whether the answer named them.
  const isOlder3d = payment.kind === '3d' && payment.isUnproven === undefined;
  const isForeign = history.some(
    ({ reason }) => reason !== null && (FOREIGN.has(reason) || (reason === 'amount_mismatch' && isOlder3d)),
  );
  if (!isForeign && payment.isUnproven !== true) return payment;
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
  if (rowOf(state).money === 'yes') return true;
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
  return !(isKnown(refund) && rowOf(refund.state).settled);
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
