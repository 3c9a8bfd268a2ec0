import type { ValidationOptions } from 'class-validator';
import { passesLuhn } from '../../payment/luhn.js';
import { rule } from './rule.js';

/** The rule of {@link IsNotExpired}, for those who judge by another clock. */
export const EXPIRED = {
  rule: 'notExpired',
  message: 'expDate must not be in the past: the card has expired',
} as const;

export function IsCardNumber(): PropertyDecorator {
  return rule('cardNumber', '$property must be 12 to 19 digits, as text, perhaps with spaces or dashes', isCardNumber);
}

/** Passes what is no card number at all: {@link IsCardNumber} reports that. */
export function PassesLuhn(options: ValidationOptions): PropertyDecorator {
  return rule(
    'luhn',
    '$property has a mistyped digit: its check digit (Luhn) does not fit',
    (value) => !isCardNumber(value) || passesLuhn(value),
    options,
  );
}

function isCardNumber(value: unknown): value is string {
  return typeof value === 'string' && /^\d{12,19}$/.test(value);
}

export function IsExpiry(): PropertyDecorator {
  return rule('expiry', '$property must be MMyy or MM/yy: the month 01 to 12, then two digits of the year', isExpiry);
}

/** Judges by the system's clock. */
export function IsNotExpired(options: ValidationOptions): PropertyDecorator {
  return rule(EXPIRED.rule, EXPIRED.message, (value) => !hasExpired(value, new Date()), options);
}

/**
 * Whether this is an expiry in the past. A card is good until its month has ended everywhere: at noon UTC on the first
 * day of the next.
 */
export function hasExpired(expDate: unknown, now: Date): boolean {
  if (!isExpiry(expDate)) return false;
  const [month, year] = [Number(expDate.slice(0, 2)), 2000 + Number(expDate.slice(2))];
  return now.getTime() >= Date.UTC(year, month, 1, 12);
}

function isExpiry(value: unknown): value is string {
  return typeof value === 'string' && /^(0[1-9]|1[0-2])\d{2}$/.test(value);
}

export function IsSecurityCode(): PropertyDecorator {
  return rule(
    'securityCode',
    '$property must be 3 or 4 digits, as text',
    (value) => typeof value === 'string' && /^\d{3,4}$/.test(value),
  );
}
