import type { GatewayResult } from '../../gateway/gateway-dialect.js';
import { cardFinder } from '../../payment/card-mask.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { plainText } from '../../payment/plain-text.js';
import type { PaymentChange } from '../../payment/transitions.js';
import { type DateOrder, readTransactionDate } from '../../payment/transaction-date.js';

export interface TextRules {
  readonly dateOrder: DateOrder;
}

const MAX_MESSAGE = 500;
const CODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/;
const IDENTIFIER = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const AUTH_CODE = /^[A-Za-z0-9][A-Za-z0-9-]{0,15}$/;
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,8})?$/;
const YEAR = '(?:19|20)\\d\\d';
/** Whether the day or the month comes first is not known. */
const DAY_OR_MONTH = '(?:0?[1-9]|[12]\\d|3[01])';
const DATE = `(?:${DAY_OR_MONTH}[/.-]${DAY_OR_MONTH}[/.-]${YEAR}|${YEAR}[/.-]${DAY_OR_MONTH}[/.-]${DAY_OR_MONTH})`;
const MINUTE = '[0-5]\\d';
const TIME = `(?:[01]?\\d|2[0-3]):${MINUTE}(?::${MINUTE}(?:[.,]\\d{1,7})?)?`;
const DATE_TIME = new RegExp(
  `^(?:${DATE}(?:[ T]${TIME}(?: ?(?:Z|[AP]M|[+-]\\d{2}:?\\d{2}))?)?|(?:19|20)\\d{6}(?:\\d{6})?)$`,
);

/**
 * The parts of an answer that are stored. Its message is sanitized; the other texts are stored only if they have the
 * form of their field and hold no card. What the answer leaves out stays as it was, and so does the masked card number,
 * which is made from the request.
 */
export function resultChanges(
  result: GatewayResult,
  record: PaymentRecord,
  { dateOrder }: TextRules,
  isOurs = namesRecord(result, record),
): PaymentChange {
  const holdsCard = cardFinder(record);
  // A dialect written in plain JavaScript may return something else than text.
  const fitting = (text: unknown, form: RegExp): string | null =>
    typeof text === 'string' && form.test(text) && !holdsCard(text) ? text : null;
  const message: unknown = result.message;
  const transactionDate = fitting(result.transactionDate, DATE_TIME);
  const parts = withoutNulls({
    chargedAmount: fitting(result.amount, DECIMAL),
    orderId: fitting(result.orderId, IDENTIFIER),
    paymentId: fitting(result.paymentId, IDENTIFIER),
  });
  // A direct payment's answer is about it unless it says otherwise, so nothing has to be noted.
  const isNoted = !isOurs || record.isUnproven === true || record.kind === '3d';
  return {
    ...parts,
    ...(isNoted && Object.keys(parts).length > 0 && { isUnproven: !isOurs }),
    ...withoutNulls({
      code: fitting(result.code, CODE),
      message: typeof message === 'string' ? plainText(message, MAX_MESSAGE, record) : null,
      bankUniqueReferenceNumber: fitting(result.bankUniqueReferenceNumber, IDENTIFIER),
      authCode: fitting(result.authCode, AUTH_CODE),
      commissionRate: fitting(result.commissionRate, DECIMAL),
      commissionAmount: fitting(result.commissionAmount, DECIMAL),
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
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
}
