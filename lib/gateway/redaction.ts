import { maskCards, maskCardsInIdentifier } from '../payment/card-mask.js';
import type { GatewayResult, SaleRequest } from './gateway-dialect.js';

/** What a request carried that must not come back with its answer. */
export interface SensitiveData {
  /** Credentials as configured and as sent, and the sign. */
  readonly secrets: readonly string[];
  /** Where the request carried one. */
  readonly card?: SaleRequest['cardDetails'];
}

/** A shorter secret would be found by chance in identifiers. */
const MIN_SECRET_LENGTH = 8;

/**
 * The texts of a result without what the request carried: only here is it known what was sent, and a gateway that
 * echoes it must not make us store it. What is no text is left out.
 */
export function redactResult<R extends GatewayResult>(result: R, { secrets, card }: SensitiveData): R {
  const { unreadable: _decided, ...texts } = result;
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const entries = Object.entries(texts).map(([name, text]: [string, unknown]) => {
    if (typeof text !== 'string') return [name, null];
    const withoutSecrets = hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
    return [name, card ? maskSentCard(withoutSecrets, card, name === 'message') : withoutSecrets];
  });
  return Object.fromEntries(entries) as R;
}

/**
 * An identifier may hold the digits of a security code or an expiry by chance, unless it holds the card number as well.
 */
function maskSentCard(text: string, { cardNo, cvv, expDate }: SaleRequest['cardDetails'], isMessage: boolean): string {
  const masked = maskCardsInIdentifier(text, { cardNo });
  return isMessage || masked !== text ? maskCards(masked, { cardNo, secrets: [cvv, expDate] }) : masked;
}
