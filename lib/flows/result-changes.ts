import type { GatewayResult } from '../gateway/gateway-dialect.js';
import { maskCards, maskCardsInIdentifier } from '../payment/card-mask.js';
import type { PaymentRecord } from '../payment/payment.js';
import { plainText } from '../payment/plain-text.js';
import type { PaymentChange } from '../payment/states.js';
import { type DateOrder, readTransactionDate } from '../payment/transaction-date.js';

export interface TextRules {
  readonly dateOrder: DateOrder;
}

const MAX_MESSAGE = 500;
const MAX_IDENTIFIER = 255;

/**
 * What an answer says of a payment, as it is stored: card numbers masked, bounded in length, without control
 * characters. What the answer leaves out stays as it was.
 */
export function resultChanges(result: GatewayResult, record: PaymentRecord, { dateOrder }: TextRules): PaymentChange {
  // A dialect written in plain JavaScript may give what is no text: that says nothing.
  const stored = (text: unknown, most: number, mask: (line: string) => string): string | null =>
    typeof text === 'string' ? plainText(text, most, mask) : null;
  const identifier = (text: unknown): string | null =>
    stored(text, MAX_IDENTIFIER, (line) => maskCardsInIdentifier(line, record));
  const transactionDate = identifier(result.transactionDate);
  return {
    ...withoutNulls({
      code: identifier(result.code),
      message: stored(result.message, MAX_MESSAGE, (line) => maskCards(line, record)),
      chargedAmount: identifier(result.amount),
      orderId: identifier(result.orderId),
      paymentId: identifier(result.paymentId),
      bankUniqueReferenceNumber: identifier(result.bankUniqueReferenceNumber),
      authCode: identifier(result.authCode),
      maskedCardNumber: stored(result.maskedCardNumber, MAX_IDENTIFIER, knownDigits),
      commissionRate: identifier(result.commissionRate),
      commissionAmount: identifier(result.commissionAmount),
    }),
    ...(transactionDate !== null && {
      transactionDate,
      transactionAt: readTransactionDate(transactionDate, dateOrder),
    }),
  };
}

/** A "masked" number of the gateway: at most its first six and last four digits are kept, however many it shows. */
function knownDigits(masked: string): string {
  const total = masked.replace(/\D/g, '').length;
  let seen = 0;
  return masked.replace(/\d/g, (digit) => {
    seen += 1;
    return seen <= 6 || seen > total - 4 ? digit : '*';
  });
}

function withoutNulls(change: PaymentChange): PaymentChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
}
