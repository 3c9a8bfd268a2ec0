import { maskCardNumber } from '../payment/kept-text.js';
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
