import { explainCode, type Payment } from 'nestjs-card-payment';
import type { Language } from '../visitor/language.js';
import { TEXTS } from './texts.js';

/** Why nothing was charged, in words for the buyer. */
export function reasonText({ reason, code }: Payment, language: Language): string {
  const { reasons } = TEXTS[language];
  if (reason === 'declined') return explainCode(code, language).tellBuyer;
  if (reason === 'not_sent') return reasons.notSent;
  if (reason === 'refused') return reasons.refused;
  return reasons.other;
}
