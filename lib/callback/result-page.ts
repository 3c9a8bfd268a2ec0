import { buyerPage } from '../errors/buyer-page.js';
import { RESULT_TEXTS } from '../errors/buyer-texts.js';
import type { TextLanguage } from '../payment/text-language.js';

/** What a page of the callback says. */
export type ResultPageKind = keyof typeof RESULT_TEXTS;

/** A plain page. Nothing of what was received stands in it. */
export function resultPage(kind: ResultPageKind, language: TextLanguage, shopUrl: string): string {
  return buyerPage(RESULT_TEXTS[kind][language], language, shopUrl);
}
