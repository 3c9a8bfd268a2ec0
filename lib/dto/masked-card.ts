import { maskCardNumber } from '../payment/card-mask.js';
import type { Translations } from '../payment/text-language.js';

interface CardFields {
  cardNo: string;
  expDate: string;
  cvv: string;
}

export const MASKED_VALUE = '****';

export const MASKED_CARD_TEXTS: Translations = {
  en:
    'holds a masked card, as JSON and instanceToPlain print it: pass the object that your controller received, ' +
    'not a copy, or give your ValidationPipe `transform: true`',
  tr:
    'JSON ve instanceToPlain çıktısındaki gibi maskelenmiş bir kart içeriyor: bir kopyayı değil, controller’ınıza ' +
    'gelen nesneyi verin ya da ValidationPipe’a `transform: true` ekleyin',
};

/** The cards of which `instanceToPlain` made masked copies, by the copy. */
const cards = new WeakMap<object, CardFields>();

/** What may be seen of a card. */
export function maskedCard({ cardNo }: CardFields): CardFields {
  return { cardNo: maskedCardNumber(cardNo), expDate: MASKED_VALUE, cvv: MASKED_VALUE };
}

export function maskedCardNumber(cardNo: unknown): string {
  return typeof cardNo === 'string' ? maskCardNumber(cardNo) : MASKED_VALUE;
}

export function isMaskedCard({ expDate, cvv }: Partial<CardFields>): boolean {
  return expDate === MASKED_VALUE && cvv === MASKED_VALUE;
}

/**
 * Remembers which card a copy was made of. A `ValidationPipe` without `transform` gives its controller such a copy, and
 * no way to the card.
 */
export function rememberCard(copy: object, card: CardFields): void {
  cards.set(copy, card);
}

/** The card that a masked copy was made of, unless the copy has been changed since; otherwise the object itself. */
export function unmasked(value: object): object {
  const card = cards.get(value);
  if (!card) return value;
  const copy = value as Partial<CardFields>;
  const { cardNo } = maskedCard(card);
  return copy.cardNo === cardNo && isMaskedCard(copy) ? card : value;
}
