import table from '../../lib/desk/texts.json' with { type: 'json' };
import { REFUND_STATES, SALE_STATES } from '../../lib/payment/states.js';

/** Every text, by where it stands. */
function pairsIn(value: unknown, path = ''): [string, unknown[]][] {
  if (Array.isArray(value)) return [[path, value]];
  return Object.entries(value as object).flatMap(([name, inside]) => pairsIn(inside, `${path}.${name}`));
}

it('the texts of the desk name each state, in both languages, with the same values', () => {
  expect(Object.keys(table.payment).sort()).toEqual([...SALE_STATES].sort());
  expect(Object.keys(table.refund).sort()).toEqual([...REFUND_STATES].sort());
  for (const [path, pair] of pairsIn(table)) {
    const places = pair.map((text) => [/\S/.test(text as string), (text as string).match(/\{\}/g)?.length]);
    expect([path, places]).toEqual([path, [places[0], places[0]]]);
    expect([path, places[0]?.[0]]).toEqual([path, true]);
  }
});
