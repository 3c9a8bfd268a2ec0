import type { ValidationOptions } from 'class-validator';
import { rule } from './rule.js';

export const EXPIRED = {
  rule: 'notExpired',
  message: 'expDate must not be in the past: the card has expired',
} as const;

export function IsExpiry(): PropertyDecorator {
  return rule('expiry', '$property must be MMyy: the month 01 to 12, then two digits of the year', isExpiry);
}

/** Judges by the system's clock. */
export function IsNotExpired(options: ValidationOptions): PropertyDecorator {
  return rule(EXPIRED.rule, EXPIRED.message, (value) => !hasExpired(value, new Date()), options);
}

/**
 * Whether this is an expiry, and in the past: a card is good until its month has ended everywhere, which is at noon UTC of the next
 * month's first day.
 */
export function hasExpired(expDate: unknown, now: Date): boolean {
  if (!isExpiry(expDate)) return false;
  const [month, year] = [Number(expDate.slice(0, 2)), 2000 + Number(expDate.slice(2))];
  return now.getTime() >= Date.UTC(year, month, 1, 12);
}

function isExpiry(value: unknown): value is string {
  return typeof value === 'string' && /^(0[1-9]|1[0-2])\d{2}$/.test(value);
}
