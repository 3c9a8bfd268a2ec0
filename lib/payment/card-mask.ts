import { passesLuhn } from './luhn.js';

/** What is known of the card that may appear in a text. */
export interface KnownCard {
  /** The number itself, digits only. */
  readonly cardNo?: string;
  /** First digits, then anything but digits, then last digits; at least four of each, else it says too little. */
  readonly maskedCardNumber?: string | null;
}

const MIN_CARD_DIGITS = 13;
const MAX_CARD_DIGITS = 19;
/** What people and gateways put between the digits of a card number. */
const SEPARATOR = '[ .-]?';
const DIGIT_RUN = new RegExp(`\\d(?:${SEPARATOR}\\d){${MIN_CARD_DIGITS - 1},}`, 'g');

/** First six digits and last four, the rest as asterisks; of fewer than 13 digits nothing is shown. */
export function maskCardNumber(cardNo: string): string {
  return hideMiddle(cardNo.replace(/\D/g, ''));
}

/**
 * Masks what is, or could be, a card number in a text for people: the known card, however its digits are spaced and
 * whatever stands around them, and everything of 13 to 19 digits that passes Luhn. A number that merely looks like one
 * is masked too.
 *
 * @param known `secrets`: the security code and the expiry (MMyy), masked where they stand as numbers of their own
 */
export function maskCards(text: string, known: KnownCard & { readonly secrets?: readonly string[] } = {}): string {
  const withoutCards = maskCardsInIdentifier(text, known).replace(DIGIT_RUN, hideLuhnNumbers);
  return (known.secrets ?? []).reduce(hideSecret, withoutCards);
}

/** Masks only the known card: an order id that happens to pass Luhn must stay what it is. */
export function maskCardsInIdentifier(text: string, known: KnownCard): string {
  return knownPatterns(known).reduce((masked, pattern) => masked.replace(pattern, hideMiddle), text);
}

function knownPatterns({ cardNo, maskedCardNumber }: KnownCard): RegExp[] {
  const patterns: RegExp[] = [];
  if (cardNo && /^\d{12,}$/.test(cardNo)) patterns.push(spaced([...cardNo]));
  const [, first, last] = /^(\d{4,6})\D+(\d{4})$/.exec(maskedCardNumber?.replace(/[ .-]/g, '') ?? '') ?? [];
  if (first && last) {
    const others = [MIN_CARD_DIGITS, MAX_CARD_DIGITS].map((total) => total - first.length - last.length - 1);
    patterns.push(spaced([...first, `\\d(?:${SEPARATOR}\\d){${others.join()}}`, ...last]));
  }
  return patterns;
}

function spaced(digits: readonly string[]): RegExp {
  return new RegExp(digits.join(SEPARATOR), 'g');
}

/**
 * Hides every number that groups of the run make when read together; where such numbers overlap, what one hides stays
 * hidden.
 */
function hideLuhnNumbers(run: string): string {
  const groups = run.split(/[ .-]/);
  const hidden = new Set<number>();
  let start = 0;
  groups.forEach((group, index) => {
    let digits = '';
    for (const next of groups.slice(index, index + MAX_CARD_DIGITS)) {
      digits += next;
      if (digits.length > MAX_CARD_DIGITS) break;
      if (digits.length >= MIN_CARD_DIGITS && passesLuhn(digits)) {
        for (let at = 6; at < digits.length - 4; at += 1) hidden.add(start + at);
      }
    }
    start += group.length;
  });
  return eachDigit(run, (digit, index) => (hidden.has(index) ? '*' : digit));
}

function hideMiddle(number: string): string {
  const total = number.replace(/\D/g, '').length;
  return eachDigit(number, (digit, index) =>
    total >= MIN_CARD_DIGITS && (index < 6 || index >= total - 4) ? digit : '*',
  );
}

/** An expiry is found as `1230`, `12/30` and `12/2030`. */
function hideSecret(text: string, secret: string): string {
  if (!/^\d{3,4}$/.test(secret)) return text;
  const pattern = secret.length === 4 ? `${secret.slice(0, 2)}(?:[/-]?(?:20)?)${secret.slice(2)}` : secret;
  return text.replace(new RegExp(`(?<!\\d)${pattern}(?!\\d)`, 'g'), (match) => match.replace(/\d/g, '*'));
}

function eachDigit(text: string, write: (digit: string, index: number) => string): string {
  let index = 0;
  return text.replace(/\d/g, (digit) => write(digit, index++));
}
