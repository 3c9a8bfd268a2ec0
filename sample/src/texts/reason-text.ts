import type { Payment } from 'nestjs-card-payment';
import type { Texts } from './en.js';

type ReasonKey = keyof Texts['reasons'];

/** Codes a buyer can act on. Anything else a bank reports, a stolen card for example, is not shown to the buyer. */
const KEY_OF_CODE: Readonly<Record<string, ReasonKey>> = {
  B0014: 'wrongCard',
  B0017: 'cancelled',
  B0033: 'expiredCard',
  B0051: 'funds',
  B0054: 'expiredCard',
  B0055: 'notVerified',
  B0056: 'wrongCard',
  B0061: 'funds',
};

/** Why nothing was charged, in words for the buyer. */
export function reasonText({ reason, code }: Payment, { reasons }: Texts): string {
  if (reason === 'declined') return reasons[KEY_OF_CODE[code ?? ''] ?? 'declined'];
  if (reason === 'not_sent') return reasons.notSent;
  if (reason === 'refused') return reasons.refused;
  return reasons.other;
}
