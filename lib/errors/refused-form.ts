import { readForm } from '../payment/form-fields.js';
import { holdsPartOfCard } from '../payment/kept-text.js';
import { passesLuhn } from '../payment/luhn.js';
import type { TextLanguage } from '../payment/text-language.js';

/** A form that was refused, with what may be shown in it again. */
export interface RefusedForm {
  /** The buyer's language. */
  readonly language: TextLanguage;
  /** A text to show above the form. */
  readonly tellBuyer: string;
  /** The message for each field that was refused, by its path: `cardDetails.cardNo`. */
  readonly messages: Readonly<Record<string, string>>;
  /**
   * What the buyer typed and may see again, by its path: `cardHolderInfo.cardHolderName`, `cardHolderInfo.buyerGsm`,
   * `installmentCount`. Never a card number, an expiry or a code. These texts are not escaped: escape them.
   */
  readonly typed: Readonly<Record<string, string>>;
}

/** Names and phone numbers are never longer. */
const MAX_LENGTH = 100;
const MIN_CARD_DIGITS = 12;
/** Fewer digits may be a code or an expiry, more may be a card number. */
const PHONE_DIGITS = { min: 7, max: 15 };

/** The fields that may be shown again, each with the check that its text must pass. */
const MAY_BE_SHOWN: readonly (readonly [group: string | null, name: string, isHarmless: (text: string) => boolean])[] =
  [
    // Three digits may be the security code, four the expiry.
    ['cardHolderInfo', 'cardHolderName', (text) => digitsIn(text).length < 3],
    ['cardHolderInfo', 'buyerGsm', (text) => /^[+\d ()-]+$/.test(text) && isLikePhoneNumber(digitsIn(text))],
    [null, 'installmentCount', (text) => /^\d{1,2}$/.test(text)],
  ];

/** The texts of a parsed body, nested or flat, that may be shown again. */
export function typedAgain(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return {};
  const { fields } = readForm(body);
  const cardNo = digitsIn(textAt(fields, 'cardDetails', 'cardNo'));
  return Object.fromEntries(
    MAY_BE_SHOWN.flatMap(([group, name, isHarmless]) => {
      const text = textAt(fields, group, name);
      const isShown = text !== '' && text.length <= MAX_LENGTH && isHarmless(text) && !holdsPartOfCard(text, cardNo);
      return isShown ? [[group === null ? name : `${group}.${name}`, text]] : [];
    }),
  );
}

function textAt(fields: Readonly<Record<string, unknown>>, group: string | null, name: string): string {
  const holder = group === null ? fields : fields[group];
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return '';
  const text = (holder as Readonly<Record<string, unknown>>)[name];
  return typeof text === 'string' || typeof text === 'number' ? String(text) : '';
}

function digitsIn(text: string): string {
  return text.normalize('NFKC').replace(/\P{N}/gu, '');
}

function isLikePhoneNumber(digits: string): boolean {
  const { length } = digits;
  return length >= PHONE_DIGITS.min && length <= PHONE_DIGITS.max && !isLikeCardNumber(digits);
}

/** Card numbers of this length begin with 3 to 6 and have a check digit; few phone numbers of that length do. */
function isLikeCardNumber(digits: string): boolean {
  return digits.length >= MIN_CARD_DIGITS && /^[3-6]/.test(digits) && passesLuhn(digits);
}
