import type { ValidationOptions } from 'class-validator';
import { passesLuhn } from '../../payment/luhn.js';
import { rule } from './rule.js';

export function IsCardNumber(): PropertyDecorator {
  return rule('cardNumber', '$property must be 12 to 19 digits, as text, without spaces or dashes', isCardNumber);
}

/** Speaks only of what is a card number otherwise. */
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
