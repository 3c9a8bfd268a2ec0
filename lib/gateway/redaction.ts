import { cardFinder, holdsPartOfCard } from '../payment/card-mask.js';
import { decodings } from '../payment/decodings.js';
import type { Payment } from '../payment/payment.js';
import { hideInReadings, plainText } from '../payment/plain-text.js';
import { describeThrown, type Thrown } from '../payment/thrown.js';
import type { GatewayCredentials, GatewayResult, SaleRequest } from './gateway-dialect.js';

/** Shorter secrets are not searched for: identifiers may contain them by chance. */
const MIN_SECRET_LENGTH = 8;
/** Identifiers, amounts and dates are shorter. */
const MAX_VALUE_LENGTH = 255;
/** Longer than any message that is stored. */
const MAX_MESSAGE_LENGTH = 1_000;
/** For the description of what a function of the host threw. */
const MAX_ERROR_LENGTH = 300;
/** How many characters an escape may have, such as `\u0041`. */
const MAX_ESCAPE_LENGTH = 6;

/** What a request carried, and what must not be stored or logged if the answer or an error repeats it. */
export interface SensitiveData {
  /** The credentials, as configured and as sent, and the sign. */
  readonly secrets: readonly string[];
  /** Absent if the request carried none. */
  readonly card?: SaleRequest['cardDetails'];
  /** The first digits of a card, of a request that carried no more of it. */
  readonly bin?: string;
}

/** {@link SensitiveData}, prepared for searching many texts. */
interface SearchTerms extends SensitiveData {
  readonly lowered: readonly string[];
  /** The length of the shortest secret; Infinity if there is none. */
  readonly shortest: number;
  /** Whether a text holds the whole card number. */
  readonly holdsCard: (text: string) => boolean;
}

/**
 * Removes from a result what the request carried: a gateway may echo it, and it must not be stored. In a message it is
 * replaced by asterisks. Any other text that holds it becomes null, and so does a value that is not a text.
 */
export function redactResult<R extends GatewayResult>(result: R, sensitive: SensitiveData): R {
  const { unreadable: _decided, ...texts } = result;
  const sent = searchTermsOf(sensitive);
  const entries = Object.entries(texts).map(([name, text]: [string, unknown]) => {
    if (typeof text !== 'string') return [name, null];
    if (name === 'message') return [name, redactedMessage(text, sent)];
    return [name, text.length > MAX_VALUE_LENGTH || repeatsSent(text, sent) ? null : text];
  });
  return Object.fromEntries(entries) as R;
}

/** Describes what a function of the host threw. Its text may hold the host's secrets, and perhaps the card. */
export function describeHostError(
  thrown: unknown,
  { clientSecret, apiKey }: Pick<GatewayCredentials, 'clientSecret' | 'apiKey'>,
  payment: Pick<Payment, 'maskedCardNumber'>,
): Thrown {
  return describeRedacted(thrown, { secrets: [clientSecret, apiKey ?? ''] }, payment);
}

/** Describes what the dialect or the signer threw. Its text may hold anything that the request carries. */
export function describeRedacted(
  thrown: unknown,
  sensitive: SensitiveData,
  payment: Partial<Pick<Payment, 'maskedCardNumber'>> = {},
): Thrown {
  const hide = (text: string): string => redactedMessage(text, searchTermsOf(sensitive)) ?? '***';
  return describeThrown(thrown, (text) => plainText(hide(text), MAX_ERROR_LENGTH, payment));
}

function searchTermsOf({ secrets, card, bin }: SensitiveData): SearchTerms {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const lowered = known.map((secret) => secret.toLowerCase());
  const shortest = Math.min(...lowered.map(({ length }) => length));
  return { secrets: known, lowered, shortest, card, bin, holdsCard: cardFinder({ cardNo: card?.cardNo }) };
}

/** Whether a code, an id or an amount repeats what was sent, or enough of the card number to work out the rest. */
function repeatsSent(text: string, sent: SearchTerms): boolean {
  const { card, bin } = sent;
  if (bin !== undefined && text.includes(bin)) return true;
  if (card && (text === card.cvv || text === card.expDate || holdsPartOfCard(text, card.cardNo))) return true;
  return holdsAny(text, sent);
}

function redactedMessage(text: string, sent: SearchTerms): string | null {
  const margin = MAX_ESCAPE_LENGTH * Math.max(0, ...sent.secrets.map(({ length }) => length));
  const isCut = text.length > MAX_MESSAGE_LENGTH + margin;
  const hidden = hideInReadings(text.slice(0, MAX_MESSAGE_LENGTH + margin), (reading) => hideSent(reading, sent));
  // The last characters may be the beginning of a secret whose rest was cut off.
  const whole = isCut ? hidden.slice(0, hidden.length - margin) : hidden;
  const maxLength = isCut ? Math.min(MAX_MESSAGE_LENGTH, whole.length - 1) : MAX_MESSAGE_LENGTH;
  const message = plainText(whole, maxLength, { cardNo: sent.card?.cardNo });
  return holdsAny(message, sent) ? null : message;
}

function hideSent(text: string, { secrets, card, bin }: SensitiveData): string {
  const hidden = bin === undefined ? secrets : [...secrets, bin];
  const withoutSecrets = hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  if (!card) return withoutSecrets;
  return codePatterns(card).reduce(
    (rest, pattern) => rest.replace(pattern, (match) => match.replace(/\d/g, '*')),
    withoutSecrets,
  );
}

/** Match the security code and the expiry where they are whole numbers: `1230`, `3012`, `12/30`, `2030-12`. */
function codePatterns({ cvv, expDate }: SaleRequest['cardDetails']): RegExp[] {
  const [month, year] = [`0?${Number(expDate.slice(0, 2))}`, `(?:20)?${expDate.slice(2)}`];
  const between = '[\\s./-]{0,3}';
  return [
    cvv,
    `${expDate.slice(0, 2)}${between}${year}`,
    `${month}[\\s./-]{1,3}${year}`,
    `${year}${between}${month}`,
  ].map((digits) => new RegExp(`(?<!\\d)${digits}(?!\\d)`, 'g'));
}

function holdsAny(text: string, { lowered, shortest, holdsCard }: SearchTerms): boolean {
  if (holdsCard(text)) return true;
  return decodings(text, shortest).some((reading) => {
    const inLowerCase = reading.toLowerCase();
    return lowered.some((secret) => inLowerCase.includes(secret));
  });
}
