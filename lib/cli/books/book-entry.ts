import { currencyLetters } from '../../payment/amount.js';
import { isRefund, type PaymentRecord } from '../../payment/payment.js';
import { saleOf } from '../../payment/refund.js';
import type { Zone } from './period.js';

/** The columns of an export. Amounts are decimal text in major units, and never negative by a refund: see `kind`. */
export const BOOK_COLUMNS = [
  'finalizedAt',
  'kind',
  'method',
  'state',
  'reason',
  'conversationId',
  'refundId',
  'reference',
  'orderId',
  'paymentId',
  'bankUniqueReferenceNumber',
  'authCode',
  'amount',
  'chargedAmount',
  'currency',
  'currencyCode',
  'installmentCount',
  'commissionRate',
  'commissionAmount',
  'maskedCardNumber',
  'code',
  'transactionDate',
  'transactionAt',
  'createdAt',
  'account',
] as const;

export type BookColumn = (typeof BOOK_COLUMNS)[number];

/** The columns that hold amounts and rates. */
export const AMOUNT_COLUMNS: ReadonlySet<BookColumn> = new Set([
  'amount',
  'chargedAmount',
  'commissionRate',
  'commissionAmount',
]);

/** A settled payment or refund for accounting. */
export type BookEntry = Readonly<Record<BookColumn, string | number | null>>;

/** @param account the merchant's, even for a refund */
export function bookEntryOf(record: PaymentRecord, account: string, zone: Zone): BookEntry {
  const isBack = isRefund(record);
  const sale = isBack ? saleOf(record) : null;
  const time = (at: Date | null): string | null => at && zone.text(at);
  return {
    finalizedAt: time(record.finalizedAt),
    kind: isBack ? record.kind : 'sale',
    method: isBack ? (sale?.kind ?? null) : record.kind,
    state: record.state,
    reason: record.reason,
    conversationId: record.parentId ?? record.conversationId,
    refundId: isBack ? record.conversationId : null,
    reference: record.reference,
    orderId: record.orderId,
    paymentId: record.paymentId,
    bankUniqueReferenceNumber: record.bankUniqueReferenceNumber,
    authCode: record.authCode,
    amount: record.amount,
    chargedAmount: record.chargedAmount,
    currency: currencyLetters(record.currencyCode),
    currencyCode: record.currencyCode,
    installmentCount: isBack ? null : record.installmentCount,
    commissionRate: record.commissionRate,
    commissionAmount: record.commissionAmount,
    maskedCardNumber: isBack ? (sale?.maskedCardNumber ?? null) : record.maskedCardNumber,
    code: record.code,
    transactionDate: record.transactionDate,
    transactionAt: time(record.transactionAt),
    createdAt: time(record.createdAt),
    account,
  };
}
