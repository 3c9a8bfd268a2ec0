import { maskCardNumber } from '../payment/kept-text.js';
import type { Translations } from '../runtime/text-language.js';

interface CardFields {
  cardNo: string;
  expDate: string;
  cvv: string;
}

export const MASKED_VALUE = '****';

export const MASKED_CARD_TEXTS: Translations = {
  en:
    'holds a masked card, as JSON and instanceToPlain print it: give your ValidationPipe `transform: true`, and pass ' +
    'the object that your controller received, not a copy',
  tr:
    'JSON ve instanceToPlain çıktısındaki gibi maskelenmiş bir kart içeriyor: ValidationPipe’a `transform: true` ' +
    'ekleyin ve bir kopyayı değil, controller’ınıza gelen nesneyi verin',
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
