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

/** The card of each masked copy that `instanceToPlain` made. */
const cards = new WeakMap<object, CardFields>();

/** The card as it may be shown. */
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
 * Remembers which card a copy was made of: a `ValidationPipe` without `transform` gives its controller a masked copy
 * and not the card.
 */
export function rememberCard(copy: object, card: CardFields): void {
  cards.set(copy, card);
}

/**
 * The card from which this masked copy was made; the object itself if it is not a masked copy or has been changed
 * since.
 */
export function unmasked(value: object): object {
  const card = cards.get(value);
  if (!card) return value;
  const copy = value as Partial<CardFields>;
  const { cardNo } = maskedCard(card);
  return copy.cardNo === cardNo && isMaskedCard(copy) ? card : value;
}
