/** The languages that the module's own texts are written in. */
export type TextLanguage = 'tr' | 'en';

/** One text in each language. */
export type Translations = Readonly<Record<TextLanguage, string>>;

/** Turkish for `tr` and `tr-TR`, English for any other tag. */
export function textLanguage(tag: string): TextLanguage {
  return /^tr(-|$)/i.test(tag) ? 'tr' : 'en';
}

/** What browsers send has less than 200. */
const MAX_HEADER_LENGTH = 500;

/**
 * Which of the languages a browser prefers, by its `Accept-Language`; where it names none of them, that of the given
 * tag. Anyone may send anything: what is longer than any browser's is cut.
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
