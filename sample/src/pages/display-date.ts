import type { Language } from '../visitor/language.js';

/** In the shop's own time zone. */
export function displayDate(date: Date, language: Language): string {
  return date.toLocaleString(language === 'tr' ? 'tr-TR' : 'en-GB', {
    timeZone: 'Europe/Istanbul',
    dateStyle: 'medium',
    timeStyle: 'medium',
  });
}
