import { maskCards, maskCardsInIdentifier } from '../payment/card-mask.js';
import type { GatewayResult, SaleRequest } from './gateway-dialect.js';

/** What a request carried that must not come back with its answer. */
export interface Sensitive {
  /** Credentials as kept and as sent, and the sign. */
  readonly secrets: readonly string[];
  /** Where the request carried one. */
  readonly card?: SaleRequest['cardDetails'];
}

/** A shorter secret would be found by chance in identifiers. */
const MIN_SECRET_LENGTH = 8;

/** Only beside the request is it known what was sent: a gateway that echoes it must not make us keep it. */
export function redactResult<R extends GatewayResult>(result: R, { secrets, card }: Sensitive): R {
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const entries = Object.entries(result).map(([name, text]: [string, unknown]) => {
    if (typeof text !== 'string') return [name, null];
    const clean = hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
    return [name, card ? withoutCard(clean, card, name === 'message') : clean];
  });
  return Object.fromEntries(entries) as R;
}

/** An identifier may hold the digits of a code or an expiry by chance; one that holds the card number does not. */
function withoutCard(text: string, { cardNo, cvv, expDate }: SaleRequest['cardDetails'], isMessage: boolean): string {
  const masked = maskCardsInIdentifier(text, { cardNo });
  return isMessage || masked !== text ? maskCards(masked, { cardNo, secrets: [cvv, expDate] }) : masked;
}
