import { recoded } from '../../payment/own-bytes.js';
import type { ResultCodeSets } from '../result-codes.js';

/** Whether an answer's text is one of those that say approved. */
export function isApprovedText(text: unknown, { approvedTexts }: Pick<ResultCodeSets, 'approvedTexts'>): boolean {
  // A dialect written in plain JavaScript may give what is no text.
  if (typeof text !== 'string') return false;
  const said = folded(text);
  return [...approvedTexts].some((approved) => said === folded(approved) || said === folded(mojibakeOf(approved)));
}

/**
 * Without case. The four letters i, İ, ı and I are one, since upper case of the one language is read as that of the other;
 * so is ý, which is what ı of ISO 8859-9 becomes when it is read as Latin-1.
 */
function folded(text: string): string {
  return text.trim().toLowerCase().replace(/[ıý]/g, 'i').replaceAll('i\u0307', 'i');
}

/** What a text becomes when its UTF-8 is read as Latin-1. */
function mojibakeOf(text: string): string {
  return recoded(text, 'utf8', 'latin1');
}
