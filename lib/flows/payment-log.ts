import { Logger } from '@nestjs/common';
import type { Payment } from '../payment/payment.js';

const logger = new Logger('PaymentModule');

/** Logs a change of a payment: what needs a person's eye is a warning. */
export function logChange(payment: LoggedPayment): void {
  if (payment.state === 'unknown' || payment.state === 'review') logger.warn(lineOf(payment));
  else logger.log(lineOf(payment));
}

/**
 * Logs an outcome that the store did not take. Should the process end before the store is back, this line is all that
 * is left of it.
 */
export function logOwed(payment: LoggedPayment): void {
  logger.error(`${lineOf(payment)}: the store did not take this; the module keeps trying.`);
}

/** Logs an outcome that came when its payment had been deleted from the store. This line is all that is left of it. */
export function logGone(payment: LoggedPayment): void {
  logger.error(`${lineOf(payment)}: the payment has been deleted from the store meanwhile.`);
}

type LoggedPayment = Pick<Payment, 'conversationId' | 'state' | 'reason' | 'code'>;

function lineOf({ conversationId, state, reason, code }: LoggedPayment): string {
  const detail = [reason, code].filter(Boolean).join(', ');
  return `Payment ${conversationId}: ${state}${detail ? ` (${detail})` : ''}`;
}
