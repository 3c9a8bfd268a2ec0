/** A text that must be found nowhere. */
export interface Secret {
  readonly name: string;
  readonly text: string;
  /** Found only as a word of its own: a security code, an expiry or a name may be part of another text by chance. */
  readonly isWord?: boolean;
}

/** Something that was written, shown or kept. */
export interface Evidence {
  readonly source: string;
  readonly text: string;
}

export interface Leak {
  readonly secret: string;
  readonly source: string;
  /** The text around it. */
  readonly excerpt: string;
}

export const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };

/** What is shown of the card is its mask alone. */
export const CARD_SECRETS: readonly Secret[] = [
  { name: 'card number', text: CARD.cardNo },
  { name: 'first eight digits', text: CARD.cardNo.slice(0, 8) },
  { name: 'last eight digits', text: CARD.cardNo.slice(-8) },
  { name: 'security code', text: CARD.cvv, isWord: true },
  { name: 'expiry', text: CARD.expDate, isWord: true },
];

/** Finds texts as they are written, in any case, or spaced: `5246 7763-5690 3508`. */
export function searchFor(secrets: readonly Secret[], evidence: readonly Evidence[]): Leak[] {
  const sought = secrets.map((secret) => ({ secret, tight: tightOf(secret.text), pattern: patternOf(secret) }));
  const once = new Map(evidence.map((item) => [item.text, item]));
  return [...once.values()].flatMap(({ source, text }) => {
    const tight = tightOf(text);
    return sought
      .filter((one) => tight.includes(one.tight))
      .flatMap(({ secret, pattern }) => {
        const at = text.search(pattern);
        return at < 0 ? [] : [{ secret: secret.name, source, excerpt: text.slice(Math.max(0, at - 60), at + 80) }];
      });
  });
}

/** Without what may stand between its characters: thousands of signs are looked for, and patterns are slow. */
function tightOf(text: string): string {
  return text.toLowerCase().replaceAll(/[ ./-]/g, '');
}

function patternOf({ text, isWord = false }: Secret): RegExp {
  const escaped = [...text].map((character) => character.replace(/[.*+?^${}()|[\]\\/]/, '\\$&'));
  // An expiry is written 12/30, too, but 12:30 is a time.
  const pattern = isWord ? escaped.join('/?') : escaped.join('[ .-]{0,2}');
  return new RegExp(isWord ? `(?<![\\p{L}\\p{N}_.:-])${pattern}(?![\\p{L}\\p{N}_:-])` : pattern, 'iu');
}
