import type { ValidationOptions } from 'class-validator';
import { passesLuhn } from '../../payment/luhn.js';
import { type Rule, rule } from './rule.js';

/** The rule of {@link IsNotExpired}, exported for a check by another clock. */
export const EXPIRED = {
  name: 'notExpired',
  texts: {
    en: '$property is in the past: the card has expired',
    tr: '$property geçmiş: kartın süresi dolmuş',
  },
} as const satisfies Rule;

/** A card number is allowed in its own field only: the other fields are shown, stored or sent in URLs. */
export const CARD_FREE = {
  name: 'cardFree',
  texts: {
    en: '$property must not hold a card number',
    tr: '$property kart numarası içermemeli',
  },
} as const satisfies Rule;

/** The rule of {@link IsBin}, exported for `checkBin`, which takes the digits alone. */
export const BIN = {
  name: 'bin',
  texts: {
    en: '$property must be the first 6 to 8 digits of a card number, never the whole number',
    tr: '$property kart numarasının ilk 6 ila 8 rakamı olmalı; asla numaranın tamamı değil',
  },
} as const satisfies Rule;

const BIN_DIGITS = /^\d{6,8}$/;
const MIN_CARD_DIGITS = 12;
const CARD_NUMBER = /^\d{12,19}$/;
const EXPIRY = /^(0[1-9]|1[0-2])\d{2}$/;
const SECURITY_CODE = /^\d{3,4}$/;

/** The first six to eight digits of a card number. A longer number is refused, not cut. */
export function IsBin(): PropertyDecorator {
  return rule({ ...BIN, constraints: [BIN_DIGITS] }, isBin);
}

export function isBin(value: unknown): value is string {
  return typeof value === 'string' && BIN_DIGITS.test(value);
}

export function IsCardNumber(): PropertyDecorator {
  const texts = {
    en: '$property must be 12 to 19 digits, perhaps with spaces or dashes',
    tr: '$property 12 ila 19 rakam olmalı; arada boşluk veya tire olabilir',
  };
  return rule({ name: 'cardNumber', texts }, isCardNumber);
}

/** Accepts a value that is not a card number at all: {@link IsCardNumber} reports it. */
export function PassesLuhn(options: ValidationOptions): PropertyDecorator {
  const texts = {
    en: '$property has a mistyped digit',
    tr: '$property yanlış yazılmış bir rakam içeriyor',
  };
  return rule({ name: 'luhn', texts }, (value) => !isCardNumber(value) || passesLuhn(value), options);
}

function isCardNumber(value: unknown): value is string {
  return typeof value === 'string' && CARD_NUMBER.test(value);
}

export function IsExpiry(): PropertyDecorator {
  const texts = {
    en: '$property must be the month and the year, such as 12/36',
    tr: '$property ay ve yıl olmalı, örneğin 12/36',
  };
  return rule({ name: 'expiry', texts }, isExpiry);
}

/** Uses the system's clock. */
export function IsNotExpired(options: ValidationOptions): PropertyDecorator {
  return rule(EXPIRED, (value) => !hasExpired(value, new Date()), options);
}

/**
 * Whether this is an expiry in the past. A card is good until its month has ended everywhere on Earth, which is at noon
 * UTC on the first day of the next month.
 */
export function hasExpired(expDate: unknown, now: Date): boolean {
  if (!isExpiry(expDate)) return false;
  const [month, year] = [Number(expDate.slice(0, 2)), 2000 + Number(expDate.slice(2))];
  return now.getTime() >= Date.UTC(year, month, 1, 12);
}

function isExpiry(value: unknown): value is string {
  return typeof value === 'string' && EXPIRY.test(value);
}

export function IsSecurityCode(): PropertyDecorator {
  const texts = {
    en: '$property must be 3 or 4 digits',
    tr: '$property 3 veya 4 rakam olmalı',
  };
  return rule(
    { name: 'securityCode', texts, constraints: [SECURITY_CODE] },
    (value) => typeof value === 'string' && SECURITY_CODE.test(value),
  );
}

/** Refuses a text with as many digits as a card number has, whatever is between them. */
export function IsCardFree(): PropertyDecorator {
  return rule(
    CARD_FREE,
    (value) => typeof value !== 'string' || (value.normalize('NFKC').match(/\p{N}/gu) ?? []).length < MIN_CARD_DIGITS,
  );
}
