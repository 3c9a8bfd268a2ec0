/** Browsers send fewer than 200 characters. */
const MAX_HEADER_LENGTH = 500;

/** The languages of the module's own texts. */
export type TextLanguage = 'tr' | 'en';

/** A text in each language. */
export type Translations = Readonly<Record<TextLanguage, string>>;

/** Turkish for `tr` and `tr-TR`, English for any other tag. */
export function textLanguage(tag: string): TextLanguage {
  return /^tr(-|$)/i.test(tag) ? 'tr' : 'en';
}

/**
 * The language that a browser prefers, by its `Accept-Language`; if that names neither, the language of the tag
 * `otherwise`. A header that is longer than any browser's is cut.
 */
export function preferredLanguage(acceptLanguage: string | undefined, otherwise: string): TextLanguage {
  const wanted = (acceptLanguage ?? '')
    .slice(0, MAX_HEADER_LENGTH)
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()))
    .map(([tag = '', weight = 'q=1']) => ({ tag, weight: Number(/^q=([\d.]+)$/i.exec(weight)?.[1] ?? NaN) }))
    .filter(({ tag, weight }) => /^(tr|en)(-|$)/i.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return textLanguage(wanted[0]?.tag ?? otherwise);
}
