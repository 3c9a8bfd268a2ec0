import { readFileSync } from 'node:fs';
import table from '../../lib/desk/texts.json' with { type: 'json' };
import { PAYMENT_STATES, REFUND_STATES, SALE_STATES } from '../../lib/payment/states.js';

const PAGE = readFileSync('docs/errors.md', 'utf8');

/** What a list of docs/errors.md names before its colons. */
function documented(heading: string): string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const items = [...section.matchAll(/^- ((?:`\w+`(?:, )?)+):/gm)];
  return items.flatMap(([, names = '']) => [...names.matchAll(/\w+/g)].map(([name]) => name)).sort();
}

/** Every text, by where it stands. */
function pairsIn(value: unknown, path = ''): [string, unknown[]][] {
  if (Array.isArray(value)) return [[path, value]];
  return Object.entries(value as object).flatMap(([name, inside]) => pairsIn(inside, `${path}.${name}`));
}

describe('the texts of the desk', () => {
  it('name each state of payments and refunds, and each reason that docs/errors.md names', () => {
    expect(Object.keys(table.payment).sort()).toEqual([...SALE_STATES].sort());
    expect(Object.keys(table.payment).sort()).toEqual(documented('States'));
    expect(Object.keys(table.refund).sort()).toEqual([...REFUND_STATES].sort());
    expect(Object.keys(table.reasons).sort()).toEqual(documented('Reasons'));
    expect(Object.keys(PAYMENT_STATES).length).toBeGreaterThan(9);
  });

  it.each(pairsIn(table))('%s is in both languages, with the same values', (_path, pair) => {
    const [tr, en, ...more] = pair as string[];
    expect(more).toEqual([]);
    for (const text of [tr, en]) expect(text).toMatch(/\S/);
    expect(tr?.match(/\{\}/g)?.length).toBe(en?.match(/\{\}/g)?.length);
  });
});
