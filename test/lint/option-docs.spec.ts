import { readFileSync } from 'node:fs';
import { REQUIRED } from '../../lib/options/option-kinds.js';
import { OPTIONS } from '../../lib/options/option-table.js';
import { variableOf } from '../../lib/payment/account.js';

/** Name, variable and default of each option; null if it has no variable, or no default to name. */
const TABLED = Object.entries(OPTIONS).map(([name, option]) => ({
  name,
  variable: option.isCodeOnly ? null : variableOf('default', name),
  default: option.default === REQUIRED ? 'required' : option.default === null ? null : String(option.default) || null,
}));

describe('the lists of options in docs/configuration.md', () => {
  const page = readFileSync('docs/configuration.md', 'utf8').split('\n## Set in code only\n')[0] ?? '';
  const rows = page.split('\n').filter((line) => line.startsWith('- `'));

  /** The default that is stated: a value, or `required`; null if it is described in words. */
  function defaultIn(stated: string): string | null {
    if (stated === 'required') return 'required';
    const [part = ''] = stated.split(',');
    const [, quoted, plain] = /^\s*(?:`([^`]+)`|([^\s`:]+))\s*(?::|$)/.exec(part) ?? [];
    return quoted ?? plain ?? null;
  }

  /** As the page says: `PAYMENT_BASE_URL` is `baseUrl`. */
  const optionOf = (variable: string): string =>
    variable
      .replace('PAYMENT_', '')
      .toLowerCase()
      .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

  it('agrees with the code', () => {
    const described = rows.map((row) => {
      const [, named = '', stated = ''] = /^- `(\w+)` \((.*?)\): /.exec(row) ?? [];
      if (stated.startsWith('code only')) return { name: named, variable: null, default: null };
      return { name: optionOf(named), variable: named, default: defaultIn(stated) };
    });
    const byName = (a: { name: string }, b: { name: string }): number => a.name.localeCompare(b.name);
    expect(described.sort(byName)).toEqual(TABLED.sort(byName));
  });
});

describe('what an editor shows for an option', () => {
  const table = readFileSync('lib/options/option-table.ts', 'utf8');
  const comments = new Map(
    Array.from(table.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(\w+):/g), ([, comment = '', name]) => [
      name,
      comment.replace(/\s+(?:\* )?/g, ' ').trim(),
    ]),
  );

  it.each(TABLED)('has the variable and the default of $name', ({ name, variable, default: byDefault }) => {
    const [shown = ''] = comments.get(name)?.split(' @') ?? [];
    expect(shown).toMatch(variable === null ? /^Code only\./ : new RegExp(`^\`${variable}\`[:.]`));
    if (byDefault === 'required') expect(shown).toMatch(/ Required\./);
    else expect(/ Default `?([^\s`]+?)`?(?:[.,]? |\.$)/.exec(shown)?.[1] ?? null).toBe(byDefault);
  });
});
