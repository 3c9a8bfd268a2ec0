import { readFileSync } from 'node:fs';
import {
  EVENT_WORDS,
  REASON_WORDS,
  REFUND_KIND_WORDS,
  REFUND_STATE_WORDS,
  STATE_WORDS,
} from '../../sample/src/texts/payment-words.js';

const PAGE = readFileSync('docs/errors.md', 'utf8');

/** The names that a table or list of docs/errors.md begins its lines with. */
function documented(heading: string): string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const cells = [...section.matchAll(/^(?:\||-) (`.*?)(?: +\||:)/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)).sort();
}

it.each([
  ['States', STATE_WORDS, 9],
  ['Reasons', REASON_WORDS, 21],
])('%s: a Turkish and an English word for each that docs/errors.md names', (heading, words, atLeast) => {
  const { en, tr } = words as Record<'en' | 'tr', Record<string, string>>;
  const names = documented(heading);
  expect(names.length).toBeGreaterThanOrEqual(atLeast);
  expect(Object.keys(tr).sort()).toEqual(names);
  expect(Object.keys(en).sort()).toEqual(names);
  for (const name of names) {
    expect([name, tr[name]]).toEqual([name, expect.stringMatching(/\p{L}{3}/u)]);
    expect([name, en[name]]).toEqual([name, expect.stringMatching(/\p{L}{3}/u)]);
    expect(tr[name]).not.toBe(name);
    expect(tr[name]).not.toBe(en[name]);
  }
  for (const language of [en, tr]) expect(new Set(Object.values(language)).size).toBe(names.length);
});

it('names the events by the states', () => {
  expect(EVENT_WORDS.tr('payment.failed')).toBe('ödeme başarısız');
  expect(EVENT_WORDS.en('payment.failed')).toBe('payment.failed');
  expect(EVENT_WORDS.tr('refund.failed')).toBe('para iadesi başarısız');
  expect(EVENT_WORDS.en('refund.failed')).toBe('refund.failed');
});

it('names refunds and voids as people in payments do, and calls a state the same as a payment’s', () => {
  expect(REFUND_KIND_WORDS.tr).toEqual({ refund: 'iade', partial: 'kısmi iade', void: 'iptal' });
  for (const language of ['en', 'tr'] as const) {
    const { refunding, ...shared } = REFUND_STATE_WORDS[language];
    expect(STATE_WORDS[language]).toMatchObject(shared);
    expect(Object.values(shared)).not.toContain(refunding);
  }
});
