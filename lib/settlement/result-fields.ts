import type { GatewayResult } from '../gateway/gateway-dialect.js';
import { compareAmounts } from '../payment/amount.js';
import { holdsCard } from '../payment/kept-text.js';
import type { PaymentRecord } from '../payment/payment.js';
import type { PaymentChange } from '../payment/transitions.js';
import { type DateOrder, readTransactionDate } from '../payment/transaction-date.js';

export interface TextRules {
  readonly dateOrder: DateOrder;
}

/** What of an answer may be another payment's. */
const PARTS = ['chargedAmount', 'orderId', 'paymentId'] as const;
/** Longer ones, unless they were asked for, may be a phone or a card number. */
const PLAIN_AMOUNT = /^-?\d{1,8}(?:\.\d{1,3})?$/;

/**
 * The parts of an answer that are stored: of what the gateway client keeps, what does not show this payment's card,
 * whose request may be long gone. What the answer leaves out stays as it was, and so does the masked card number, which
 * is made from the request.
 */
export function resultChanges(
  result: GatewayResult,
  record: PaymentRecord,
  { dateOrder }: TextRules,
  isOurs = namesRecord(result, record),
): PaymentChange {
  const withoutCard = (text: string | null): string | null => (text && !holdsCard(text, record) ? text : null);
  const { amount, transactionDate = null } = result;
  const isAmount = amount && (PLAIN_AMOUNT.test(amount) || compareAmounts(amount, record.amount) === 0);
  const parts = withoutNulls({
    chargedAmount: isAmount ? amount : null,
    orderId: withoutCard(result.orderId),
    paymentId: withoutCard(result.paymentId),
  });
  // What an earlier answer showed and this one leaves out stays, and may still be another payment's.
  const isLeft = PARTS.some((name) => record[name] !== null && !(name in parts));
  const isProven = isOurs && !(record.isUnproven === true && isLeft);
  // A direct payment's answer is about it unless it says otherwise, so nothing has to be noted.
  const isNoted = !isOurs || record.isUnproven === true || record.kind === '3d';
  return {
    ...parts,
    ...(isNoted && Object.keys(parts).length > 0 && { isUnproven: !isProven }),
    ...withoutNulls({
      code: withoutCard(result.code),
      message: result.message,
      bankUniqueReferenceNumber: withoutCard(result.bankUniqueReferenceNumber),
      authCode: withoutCard(result.authCode),
      commissionRate: result.commissionRate,
      commissionAmount: result.commissionAmount,
    }),
    ...(transactionDate !== null && {
      transactionDate,
      transactionAt: readTransactionDate(transactionDate, dateOrder),
    }),
  };
}

/**
 * Whether an answer is certainly about this record: it names it, or names none where that cannot be another's. What a
 * browser brings to Auth3d may be another payment's, so that answer has to name it.
 */
export function namesRecord(result: GatewayResult, record: PaymentRecord): boolean {
  const { conversationId, currency } = result;
  // A dialect in plain JavaScript may leave fields out.
  const isShown = (conversationId ?? null) !== null || result.unreadable?.includes('conversationId') === true;
  const isNamed = isShown ? conversationId === record.conversationId : record.kind !== '3d';
  return isNamed && ((currency ?? null) === null || Number(currency) === record.currencyCode);
}

function withoutNulls(change: PaymentChange): PaymentChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => (value ?? null) !== null));
}
