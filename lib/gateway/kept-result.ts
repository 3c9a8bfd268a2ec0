import type { Masker } from '../payment/kept-text.js';
import type { GatewayResult, ResultCodeSets } from './gateway-dialect.js';

/** As the vendor writes them, `B0051` or `RVV0000000401`. Nothing that a request carries looks like this. */
const RESULT_CODE = /^(?:[A-Z]\d{4}|[A-Z]{3}0{4}\d{6})$/;
const MAX_CODE_LENGTH = 20;
const LONG_NUMBER = /\d{7}/;
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,8})?$/;
/** A commission is never as long as a phone or a card number, its decimals included. */
const SHORT_DECIMAL = /^-?\d{1,7}(?:\.\d{1,4})?$/;
const YEAR = '(?:19|20)\\d\\d';
/** Whether the day or the month comes first is not known. */
const DAY_OR_MONTH = '(?:0?[1-9]|[12]\\d|3[01])';
const DATE = `(?:${DAY_OR_MONTH}[/.-]${DAY_OR_MONTH}[/.-]${YEAR}|${YEAR}[/.-]${DAY_OR_MONTH}[/.-]${DAY_OR_MONTH})`;
const MINUTE = '[0-5]\\d';
const TIME = `(?:[01]?\\d|2[0-3]):${MINUTE}(?::${MINUTE}(?:[.,]\\d{1,7})?)?`;
const COMPACT_DATE = `${YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])(?:(?:[01]\\d|2[0-3])${MINUTE}${MINUTE})?`;
const DATE_TIME = new RegExp(`^(?:${DATE}(?:[ T]${TIME}(?: ?(?:Z|[AP]M|[+-]\\d{2}:?\\d{2}))?)?|${COMPACT_DATE})$`);

/**
 * What of an answer may be kept, once it has been judged as it came: values that have the form of their field, ids and
 * a message without anything secret. The rest becomes null, and so does what is no text: a dialect in plain JavaScript
 * may give anything. What only says which payment the answer is about stays as it came, and is not stored.
 */
export function keptResult(result: GatewayResult, masker: Masker, sets: ResultCodeSets): GatewayResult {
  return {
    code: keptCode(result.code, masker, sets),
    resultCode: keptCode(result.resultCode, masker, sets),
    message: masker.keptMessage(result.message),
    conversationId: result.conversationId,
    amount: fitting(result.amount, DECIMAL),
    currency: result.currency,
    orderId: masker.keptId(result.orderId),
    paymentId: masker.keptId(result.paymentId),
    bankUniqueReferenceNumber: masker.keptId(result.bankUniqueReferenceNumber),
    authCode: masker.keptId(result.authCode),
    transactionDate: fitting(result.transactionDate, DATE_TIME),
    commissionRate: fitting(result.commissionRate, SHORT_DECIMAL),
    commissionAmount: fitting(result.commissionAmount, SHORT_DECIMAL),
  };
}

/** A code that is known, or looks like one. Any other text in its place is kept if it may be an id, and a short one. */
function keptCode(code: unknown, masker: Masker, sets: ResultCodeSets): string | null {
  if (typeof code !== 'string') return null;
  const isListed = Object.values(sets).some((list) => list instanceof Set && list.has(code));
  if (isListed || RESULT_CODE.test(code)) return code;
  const isNumber = LONG_NUMBER.test(code.replace(/[._-]/g, ''));
  return code.length <= MAX_CODE_LENGTH && !isNumber ? masker.keptId(code) : null;
}

function fitting(text: unknown, form: RegExp): string | null {
  return typeof text === 'string' && form.test(text) ? text : null;
}
