import { cardFinder, holdsPartOfCard } from '../payment/card-mask.js';
import { decodings } from '../payment/decodings.js';
import type { Payment } from '../payment/payment.js';
import { hideInReadings, plainText } from '../payment/plain-text.js';
import { describeThrown, type Thrown } from '../payment/thrown.js';
import type { GatewayCredentials, GatewayResult, SaleRequest } from './gateway-dialect.js';

/** What a request carried that must not come back with its answer. */
export interface SensitiveData {
  /** Credentials as configured and as sent, and the sign. */
  readonly secrets: readonly string[];
  /** Where the request carried one. */
  readonly card?: SaleRequest['cardDetails'];
}

/** A shorter secret would be found by chance in identifiers. */
const MIN_SECRET_LENGTH = 8;
/** What is longer is no identifier, amount or date. */
const MAX_VALUE_LENGTH = 255;
/** More than is stored of a message. */
const MAX_MESSAGE_LENGTH = 1_000;
/** More than is shown of what a function of the host threw. */
const MAX_ERROR_LENGTH = 300;
/** How much longer a secret may be where each of its characters is escaped. */
const MAX_ESCAPE_LENGTH = 6;

/**
 * The texts of a result without what the request carried: only here is it known what was sent, and a gateway that
 * echoes it must not make us store it. A message is stored without it; any other text is not stored. What is no text
 * is left out.
 */
export function redactResult<R extends GatewayResult>(result: R, sensitive: SensitiveData): R {
  const { unreadable: _decided, ...texts } = result;
  const sent = soughtIn(sensitive);
  const entries = Object.entries(texts).map(([name, text]: [string, unknown]) => {
    if (typeof text !== 'string') return [name, null];
    if (name === 'message') return [name, redactedMessage(text, sent)];
    return [name, text.length > MAX_VALUE_LENGTH || isOrHolds(text, sent) ? null : text];
  });
  return Object.fromEntries(entries) as R;
}

/** A text of whoever was given the request, without what the request carried. */
function redactText(text: string, sensitive: SensitiveData): string {
  return redactedMessage(text, soughtIn(sensitive)) ?? '***';
}

/** What a function of the host threw, who knows its own secrets, and perhaps the card. */
export function describeHostError(
  thrown: unknown,
  { clientSecret, apiKey }: Pick<GatewayCredentials, 'clientSecret' | 'apiKey'>,
  payment: Pick<Payment, 'maskedCardNumber'>,
): Thrown {
  return describeRedacted(thrown, { secrets: [clientSecret, apiKey ?? ''] }, payment);
}

/** What the dialect or the signer threw, who had all that the request carries. */
export function describeRedacted(
  thrown: unknown,
  sensitive: SensitiveData,
  payment: Partial<Pick<Payment, 'maskedCardNumber'>> = {},
): Thrown {
  return describeThrown(thrown, (text) => plainText(redactText(text, sensitive), MAX_ERROR_LENGTH, payment));
}

function soughtIn({ secrets, card }: SensitiveData): Sought {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const lowered = known.map((secret) => secret.toLowerCase());
  const shortest = Math.min(...lowered.map(({ length }) => length));
  return { secrets: known, lowered, shortest, card, holdsCard: cardFinder({ cardNo: card?.cardNo }) };
}

/** The same, made ready to be searched for. */
interface Sought extends SensitiveData {
  readonly lowered: readonly string[];
  /** The length of the shortest secret; Infinity where there is none. */
  readonly shortest: number;
  /** Whether a text holds the whole card. */
  readonly holdsCard: (text: string) => boolean;
}

/** Whether a code, an id or an amount is or holds what was sent, or enough of the card to work out the rest. */
function isOrHolds(text: string, sent: Sought): boolean {
  const { card } = sent;
  if (card && (text === card.cvv || text === card.expDate || holdsPartOfCard(text, card.cardNo))) return true;
  return holdsAny(text, sent);
}

function redactedMessage(text: string, sent: Sought): string | null {
  const margin = MAX_ESCAPE_LENGTH * Math.max(0, ...sent.secrets.map(({ length }) => length));
  const isCut = text.length > MAX_MESSAGE_LENGTH + margin;
  const hidden = hideInReadings(text.slice(0, MAX_MESSAGE_LENGTH + margin), (reading) => hideSent(reading, sent));
  // The last characters may be the beginning of a secret that was cut in two.
  const whole = isCut ? hidden.slice(0, hidden.length - margin) : hidden;
  const maxLength = isCut ? Math.min(MAX_MESSAGE_LENGTH, whole.length - 1) : MAX_MESSAGE_LENGTH;
  const message = plainText(whole, maxLength, { cardNo: sent.card?.cardNo });
  return holdsAny(message, sent) ? null : message;
}

function hideSent(text: string, { secrets, card }: SensitiveData): string {
  const withoutSecrets = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  if (!card) return withoutSecrets;
  return codePatterns(card).reduce(
    (rest, pattern) => rest.replace(pattern, (match) => match.replace(/\d/g, '*')),
    withoutSecrets,
  );
}

/** The security code and the expiry where they stand as numbers of their own: `1230`, `3012`, `12/30`, `2030-12`. */
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

function holdsAny(text: string, { lowered, shortest, holdsCard }: Sought): boolean {
  if (holdsCard(text)) return true;
  return decodings(text, shortest).some((reading) => {
    const inLowerCase = reading.toLowerCase();
    return lowered.some((secret) => inLowerCase.includes(secret));
  });
}
