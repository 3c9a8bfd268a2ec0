import type { TextLanguage } from '../runtime/text-language.js';
import table from './texts.json' with { type: 'json' };

/** In Turkish and in English. */
type Pair = readonly string[];
/** What a state is called, what happened when it was reached, and what staff should do. */
type StatePart = 'label' | 'story' | 'advice';
type StateTexts = Readonly<Record<StatePart, Pair>>;

const STATES: Readonly<Record<'payment' | 'refund', Readonly<Record<string, StateTexts>>>> = table;
const REASONS: Readonly<Record<string, Pair>> = table.reasons;

export type TextName = keyof typeof table.texts;

/** The texts of the pages in one language. */
export class Words {
  constructor(readonly language: TextLanguage) {}

  /** @param values what its `{}` stand for, in their order */
  readonly say = (name: TextName, ...values: readonly (string | number)[]): string => {
    const left = values.map(String);
    return this.of(table.texts[name]).replaceAll('{}', () => left.shift() ?? '');
  };

  /** @returns the state itself if a newer release wrote it */
  readonly state = (part: StatePart, of: 'payment' | 'refund', state: string): string =>
    Object.hasOwn(STATES[of], state) ? this.of(STATES[of][state]![part]) : state;

  /** @returns the reason itself if a newer release wrote it */
  readonly reason = (reason: string): string => (Object.hasOwn(REASONS, reason) ? this.of(REASONS[reason]!) : reason);

  private of(pair: Pair): string {
    return pair[this.language === 'tr' ? 0 : 1] ?? '';
  }
}
