import { DEFAULT_ACCOUNT } from '../../payment/account.js';
import { amountWithCurrency, currencyLetters } from '../../payment/currency.js';
import type { Payment } from '../../payment/payment.js';
import { isEventState } from '../../payment/payment-event.js';
import { UNCLEAR_STATES } from '../../payment/payment-state.js';
import { LogRecord, PaymentLogger } from '../../telemetry/payment-logger.js';
import { countOutcome } from '../../telemetry/metrics.js';

const logger = new PaymentLogger();

/**
 * Logs a change of a payment, as a warning if a person may have to look at it, and counts the outcome.
 *
 * @param before the payment before the change; null when it is new
 */
export function reportChange(payment: LoggedPayment, before: Pick<Payment, 'state' | 'updatedAt'> | null): void {
  if (before?.state !== payment.state && isEventState(payment.state)) countOutcome(payment);
  const record = recordOf(payment, '', before);
  if (UNCLEAR_STATES.includes(payment.state)) logger.warn(record);
  else logger.log(record);
}

/**
 * Logs an outcome that could not be stored. If the process ends before it can be, this line is the only record of it.
 */
export function logOwed(payment: LoggedPayment): void {
  logger.error(recordOf(payment, ': the store did not accept this; the module keeps trying.'));
}

/** Logs an outcome that arrived after its payment was deleted. This line is the only record of it. */
export function logDeleted(payment: LoggedPayment): void {
  logger.error(recordOf(payment, ': the payment has been deleted from the store meanwhile.'));
}

/** Logs an outcome that arrived after a newer release had changed the payment. This line is the only record of it. */
export function logNewerRelease(payment: LoggedPayment): void {
  logger.error(recordOf(payment, ': not written, since a newer release has changed the payment meanwhile.'));
}

type LoggedPayment = Pick<
  Payment,
  | 'conversationId'
  | 'reference'
  | 'account'
  | 'kind'
  | 'state'
  | 'reason'
  | 'amount'
  | 'currencyCode'
  | 'code'
  | 'version'
  | 'updatedAt'
>;

function recordOf(payment: LoggedPayment, end: string, before: Pick<Payment, 'updatedAt'> | null = null): LogRecord {
  const { conversationId, reference, account, kind, state, reason, code, version, updatedAt } = payment;
  const { amount, currencyCode } = payment;
  const detail = [reason, code].filter(Boolean).join(', ');
  const durationMs = before ? Math.max(0, updatedAt.getTime() - before.updatedAt.getTime()) : null;
  const message =
    `Payment ${conversationId}${reference === null ? '' : ` of ${reference}`}` +
    `${account === DEFAULT_ACCOUNT ? '' : ` (account ${account})`}` +
    `, ${amountWithCurrency(amount, currencyCode)}: ${state}` +
    `${detail ? ` (${detail})` : ''}${durationMs === null ? '' : ` after ${timeText(durationMs)}`}${end}`;
  const about = { conversationId, reference, account, kind, amount, currency: currencyLetters(currencyCode) };
  return new LogRecord(message, { ...about, state, reason, code, version, durationMs });
}

function timeText(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}
