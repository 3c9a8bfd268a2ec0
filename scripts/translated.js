// Turkish pages end with a note of the English text that they were translated from. `npm run translated` lists those
// whose English page has changed since; `npm run translated -- PAGE…` writes the note anew, once PAGE is up to date.
// With `--list` pages that are behind are no failure: they are translated in one go, before a release.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const FOLDER = 'docs/tr';
const README = 'docs/README.tr.md';
const NOTE = /\n*<!-- translated from \S+, ([0-9a-f]+) -->\s*$/;

const [isListOnly, words] = [
  process.argv.includes('--list'),
  process.argv.slice(2).filter((word) => word !== '--list'),
];
const pages = words.map((page) => page.replaceAll('\\', '/').replace(/^\.\//, ''));
const behind = pages.length === 0 ? translations().flatMap(whatToDo) : [];
for (const page of pages) writeNote(page);
if (behind.length > 0) {
  console.error(behind.join('\n\n'));
  process.exitCode = isListOnly ? 0 : 1;
}

function translations() {
  const inFolder = existsSync(FOLDER) ? readdirSync(FOLDER, { recursive: true }) : [];
  const guide = inFolder
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${FOLDER}/${name}`.replaceAll('\\', '/'));
  return [...(existsSync(README) ? [README] : []), ...guide.sort()];
}

function originalOf(page) {
  if (page === README) return 'README.md';
  if (!page.startsWith(`${FOLDER}/`))
    throw new Error(`${page} is no Turkish page: give ${README} or one of ${FOLDER}/`);
  return page.replace(FOLDER, 'docs');
}

/** Formatting is no change of the text. */
function hashOf(original) {
  const text = readFileSync(original, 'utf8')
    .replaceAll('\r\n', '\n')
    .replace(/-{3,}/g, '---')
    .replace(/\s+/g, ' ')
    .trim();
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function writeNote(page) {
  const original = originalOf(page);
  const text = readFileSync(page, 'utf8').replace(NOTE, '').trimEnd();
  writeFileSync(page, `${text}\n\n<!-- translated from ${original}, ${hashOf(original)} -->\n`);
}

function whatToDo(page) {
  const original = originalOf(page);
  if (!existsSync(original)) return [`${page} has no English page: delete it, or name it as ${original} is named now.`];
  const noted = NOTE.exec(readFileSync(page, 'utf8'))?.[1];
  if (noted === hashOf(original)) return [];
  const lookAt =
    noted === undefined
      ? `Compare the two: ${page} does not say which text it was translated from.`
      : `Look at what changed: git diff $(git log -1 --format=%h -S ${noted} -- ${page}) -- ${original}`;
  return [
    [
      `${page} is behind ${original}.`,
      `  1. ${lookAt}`,
      `  2. Bring ${page} up to date.`,
      `  3. Write that down: npm run translated -- ${page}`,
    ].join('\n'),
  ];
}
