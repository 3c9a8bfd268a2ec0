/** Spaces and dashes of any kind: keyboards and copied pages have more than one of each. */
const BETWEEN_DIGITS = /[\p{Zs}\p{Pd}]/gu;
const MONTH_SLASH_YEAR = /^(\d{2})\p{Zs}*\/\p{Zs}*(?:20)?(\d{2})$/u;

/** A card number without the spaces and dashes that people type; anything else as it is, for the rules to judge. */
export function readCardNumber(typed: unknown): unknown {
  return typeof typed === 'string' ? typed.replace(BETWEEN_DIGITS, '') : typed;
}

/** `1236` where people type `12/36`, `12 / 36` or `12/2036`; anything else as it is, for the rules to judge. */
export function readExpiry(typed: unknown): unknown {
  const [, month, year] = (typeof typed === 'string' && MONTH_SLASH_YEAR.exec(typed)) || [];
  return month && year ? month + year : typed;
}
