import type { Language } from './visitor/language.js';

/** ISO 4217 number of the Turkish lira. Prices in the shop are whole numbers of kuruş. */
export const TURKISH_LIRA = 949;

/** 14990 kuruş is `149.90`, the decimal text that the payment module takes. */
export function decimalText(kurus: number): string {
  const digits = String(kurus).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** `149.90` is 14990 kuruş, and so is `149.9`. */
export function kurusOf(decimal: string): number {
  const [whole = '', fraction = ''] = decimal.split('.');
  return Number(whole + fraction.padEnd(2, '0').slice(0, 2));
}

/** Decimal text as people who speak that language write it: `₺1.149,90`. */
export function displayMoney(decimal: string, language: Language): string {
  const format = new Intl.NumberFormat(language === 'tr' ? 'tr-TR' : 'en-GB', {
    style: 'currency',
    currency: 'TRY',
    currencyDisplay: 'narrowSymbol',
  });
  return format.format(decimal as `${number}`);
}

export function displayKurus(kurus: number, language: Language): string {
  return displayMoney(decimalText(kurus), language);
}
