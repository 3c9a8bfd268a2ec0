/** Spaces and dashes of any kind: keyboards and copied pages have more than one of each. */
const BETWEEN_DIGITS = /[\p{Zs}\p{Pd}]/gu;
/** A sign, spaces, or both part month and year. */
const PARTED_EXPIRY = /^\p{Zs}*(0?[1-9]|1[0-2])(?:\p{Zs}*[/.\p{Pd}]\p{Zs}*|\p{Zs}+)(?:20)?(\d{2})\p{Zs}*$/u;
/** Nothing parts them: then the month has two digits. */
const JOINED_EXPIRY = /^\p{Zs}*(0[1-9]|1[0-2])(?:20)?(\d{2})\p{Zs}*$/u;

/** A card number without the spaces and dashes that people type; anything else as it is, for the rules to judge. */
export function readCardNumber(typed: unknown): unknown {
  return typeof typed === 'string' ? typed.replace(BETWEEN_DIGITS, '') : typed;
}

/**
 * `1236` where people type `12/36`, `12 / 36`, `12/2036`, `12-36`, `12.36`, `12 36` or `122036`, and `0136` where they
 * type `1/36`; anything else as it is, for the rules to judge. `136` might be January or a slip: it is not read.
 */
export function readExpiry(typed: unknown): unknown {
  if (typeof typed !== 'string') return typed;
  const [, month, year] = PARTED_EXPIRY.exec(typed) ?? JOINED_EXPIRY.exec(typed) ?? [];
  return month && year ? month.padStart(2, '0') + year : typed;
}
