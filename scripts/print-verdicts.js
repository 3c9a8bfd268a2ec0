// Prints the tables of verdicts into docs/unverified.md, as lists, since the first row that fits decides:
// `npm run verdicts`. `--check` writes nothing, and fails where the page is behind.
import { readFileSync, writeFileSync } from 'node:fs';
import prettier from 'prettier';
import '../bench/typescript.mjs';

const { CHARGE, INQUIRY, OPENING } = await import('../lib/gateway/readings/verdicts.ts');
const PAGE = 'docs/unverified.md';
/** What stands between these in the page is written here. */
const TABLES = /(<!-- verdicts -->)[^]*(<!-- end of the verdicts -->)/;

const tables = [
  ['The answer to DoPayment, Auth3d, a refund or a void', CHARGE],
  ['The answer to CheckPayment', INQUIRY],
  ['The answer to Init3d, or to a request for a page', OPENING],
].map(([title, table]) => {
  const rows = table.map(([when, said], index) => `${index + 1}. ${factsOf(when)}: ${wordsOf(said)}`);
  return [`### ${title}`, '', ...rows].join('\n');
});

const page = readFileSync(PAGE, 'utf8');
const options = await prettier.resolveConfig(PAGE);
const printed = await prettier.format(page.replace(TABLES, `$1\n\n${tables.join('\n\n')}\n\n$2`), {
  ...options,
  parser: 'markdown',
});
if (!process.argv.includes('--check')) writeFileSync(PAGE, printed);
else if (printed !== page) {
  console.error(`${PAGE} is behind lib/gateway/readings/verdicts.ts: npm run verdicts`);
  process.exitCode = 1;
}

/** `http 2xx; code approved, variant` */
function factsOf(when) {
  const facts = Object.entries(when).map(([name, wanted]) => `${name} ${[wanted].flat().join(', ')}`);
  return facts.join('; ') || 'anything else';
}

function wordsOf(verdict) {
  const words = [verdict].flat().filter((word) => word !== null);
  return words.length === 0 ? 'look for the page' : words.join(', ');
}
