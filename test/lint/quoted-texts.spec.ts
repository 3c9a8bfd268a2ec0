import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pages that quote what the code says: errors and lines of the log. "…" stands for what differs. */
const PAGES = ['docs/troubleshooting.md', 'docs/upgrading.md'];

/** The texts of the library, each in one piece, however many literals it is written in. */
const TEXTS = readdirSync('lib', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join('lib', name), 'utf8').replace(/['"`]\s*\+\s*['"`]/g, ''))
  .join('\n');

/** What is in bold and in backticks at once, or has a gap, and is a sentence: no command and no setting. */
function quotedIn(page: string): string[] {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/(\*\*)?`([^`]+)`/g)]
    .filter(([, bold, quoted]) => bold !== undefined || quoted!.includes('…'))
    .map(([, , quoted]) => quoted!.replace(/\s+/g, ' '))
    .filter((quoted) => quoted.includes(' ') && !/^(?:[A-Z_]+=|npx )/.test(quoted));
}

describe.each(PAGES)('%s', (page) => {
  const quotes = quotedIn(page);

  it('quotes the code', () => expect(quotes.length).toBeGreaterThan(2));

  it.each(quotes)('quotes what the code says: %s', (quoted) => {
    const pieces = quoted.split('…').map((piece) => piece.trim());
    expect(pieces.filter((piece) => !TEXTS.includes(piece))).toEqual([]);
  });
});
