import type { Html } from '../html.js';
import type { Bilingual } from '../visitor/language.js';

export interface Product {
  readonly id: string;
  readonly name: Bilingual;
  readonly detail: Bilingual;
  /** The price, a whole number of kuruş. */
  readonly kurus: number;
  readonly picture: Html;
}
