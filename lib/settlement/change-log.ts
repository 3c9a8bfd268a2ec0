import type { ChargeOutcome } from '../gateway/readings/verdicts.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { amountWithCurrency, currencyLetters } from '../payment/amount.js';
import { isRefund, type PaymentRecord } from '../payment/payment.js';
import { isEventState } from '../payment/payment-event.js';
import { factsOf, UNCLEAR_STATES } from '../payment/states.js';
import { type LogFields, LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { countOutcome } from '../telemetry/metrics.js';

const logger = new PaymentLogger();

/**
 * Logs a change of a payment or refund, as a warning if a person may have to look at it, and counts the outcome. That
 * an answer contradicts what counted as settled is an error.
 *
 * @param before the record before the change; null when it is new
 */
export function reportChange(record: PaymentRecord, before: Pick<PaymentRecord, 'state' | 'updatedAt'> | null): void {
  if (before?.state !== record.state && isEventState(record.state)) countOutcome(record);
  const line = lineOf(record, '', before);
  if (before && before.state !== record.state && factsOf(before.state).settled) logger.error(line);
  else if (UNCLEAR_STATES.includes(record.state)) logger.warn(line);
  else logger.log(line);
}

/** Logs an answer that says that no money was taken, or another sum, of a payment that counts as paid. */
export function logContradiction(record: PaymentRecord, { state, reason, result }: ChargeOutcome): void {
  const answer = [state, reason, result?.code].filter(Boolean).join(', ');
  logger.error(lineOf(record, `: an answer of the gateway contradicts this (${answer}); nothing was changed.`));
}

const NOT_STORED = {
  owed: 'the store did not accept this; the module keeps trying.',
  deleted: 'it has been deleted from the store meanwhile.',
  ofNewerRelease: 'not written, since a newer release has changed it meanwhile.',
} as const;

/**
 * Logs an outcome that is not in the store, or not yet. This line is the only record of it; of one that is owed, if the
 * process ends before it can be stored.
 */
export function logNotStored(record: PaymentRecord, why: keyof typeof NOT_STORED): void {
  logger.error(lineOf(record, `: ${NOT_STORED[why]}`));
}

function lineOf(record: PaymentRecord, end: string, before: Pick<PaymentRecord, 'updatedAt'> | null = null): LogRecord {
  const { account, kind, state, reason, code, version, updatedAt, amount, currencyCode } = record;
  const ids = idsOf(record);
  const detail = [reason, code].filter(Boolean).join(', ');
  const durationMs = before ? Math.max(0, updatedAt.getTime() - before.updatedAt.getTime()) : null;
  const message =
    ids.text +
    `${account === DEFAULT_ACCOUNT ? '' : ` (account ${account})`}` +
    `, ${amountWithCurrency(amount, currencyCode)}: ${state}` +
    `${detail ? ` (${detail})` : ''}${durationMs === null ? '' : ` after ${timeText(durationMs)}`}${end}`;
  const about = { ...ids.fields, account, kind, amount, currency: currencyLetters(currencyCode) };
  return new LogRecord(message, { ...about, state, reason, code, version, durationMs });
}

interface Ids {
  readonly text: string;
  readonly fields: LogFields;
}

function idsOf(record: PaymentRecord): Ids {
  const { conversationId, parentId, reference, kind } = record;
  const ofOrder = reference === null ? '' : ` of ${reference}`;
  if (!isRefund(record)) {
    return { text: `Payment ${conversationId}${ofOrder}`, fields: { conversationId, reference } };
  }
  return {
    text: `${kind === 'void' ? 'Void' : 'Refund'} ${conversationId} of payment ${parentId}${ofOrder}`,
    fields: { refundId: conversationId, conversationId: parentId ?? null, reference },
  };
}

function timeText(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}
