// Writes lib/cli/init/tutorial-files.ts, what `nestjs-card-payment init` writes and says, from the guide's own pages.
// `--print` prints it instead.
import { readFileSync, writeFileSync } from 'node:fs';

const FIRST_PAGE = 'docs/getting-started.md';
const TESTS_PAGE = 'docs/testing.md';
const FILE = 'lib/cli/init/tutorial-files.ts';
/** The tests of TESTS_PAGE that replace those of `nest new`, and the adapter that each is for. */
const TESTS = { 'src/order.service.spec.ts': null, 'test/checkout.e2e-spec.ts': 'express' };
const FASTIFY_TESTS = { 'test/checkout-fastify.e2e-spec.ts': 'fastify' };

const page = readFileSync(FIRST_PAGE, 'utf8');
const written = blocks(section(page, 'Write'), 'ts').map(sourceFile);
const wanted = { ...TESTS, ...FASTIFY_TESTS };
const tests = blocks(readFileSync(TESTS_PAGE, 'utf8'), 'ts')
  .map(sourceFile)
  .filter(({ path }) => path in wanted)
  .map((file) => ({ ...file, adapter: wanted[file.path] }));
if (written.length !== 8 || tests.length !== 3) throw new Error(`${FIRST_PAGE} or ${TESTS_PAGE} lacks a file`);

const settings = blocks(section(page, 'Configure'), 'ini').map((block) => {
  const [, path = '', lines = ''] = /^# (\S+)\n([\s\S]*)$/.exec(block) ?? [];
  return { path, lines };
});
const ignored = blocks(section(page, 'Configure'), 'text').flatMap((block) => block.trimEnd().split('\n').slice(1));
const steps = [...section(page, 'Pay').matchAll(/^\d\. (.*)$/gm)].map(([, step]) => step.replaceAll('`', ''));
if (settings.length !== 2 || ignored.length !== 2 || steps.length !== 3)
  throw new Error(`${FIRST_PAGE} has other settings or steps`);

const text = `// Written by generate-tutorial.js (npm run tutorial) from ${FIRST_PAGE} and ${TESTS_PAGE}. Do not edit it by hand.

/** A file of the tutorial. In CommonJS its relative imports need no \`.js\`. */
export interface TutorialFile {
  readonly path: string;
  /** The only adapter that it is for; null if it is the same on both. */
  readonly adapter: 'express' | 'fastify' | null;
  readonly isTest: boolean;
  readonly text: string;
}

/** A file of variables. */
export interface TutorialSettings {
  readonly path: string;
  readonly text: string;
}

/** The packages of the tutorial, as \`npm install\` takes them. */
export interface TutorialPackages {
  readonly needed: readonly string[];
  readonly development: readonly string[];
  readonly fastify: readonly string[];
}

export const PACKAGES: Readonly<Record<11 | 12, TutorialPackages>> = {
  11: ${packagesOf('NestJS 11')},
  12: ${packagesOf('NestJS 12')},
};

export const SETTINGS: readonly TutorialSettings[] = [
${settings.map(({ path, lines }) => `  {\n    path: '${path}',\n    text: \`${lines}\`,\n  },\n`).join('')}];

/** The lines that \`.gitignore\` needs. */
export const IGNORED: readonly string[] = ${list(ignored)};

/** What a buyer does, from the shop's page to the order that is paid. */
export const STEPS: readonly string[] = [
${steps.map((step) => `  ${quoted(step)},\n`).join('')}];

export const FILES: readonly TutorialFile[] = [
${[...written.map((file) => ({ ...file, isTest: false })), ...tests.map((file) => ({ ...file, isTest: true }))]
  .map(
    ({ path, adapter, isTest, code }) => `  {
    path: '${path}',
    adapter: ${adapter === null ? 'null' : `'${adapter}'`},
    isTest: ${isTest},
    text: \`${code.replace(/\\|`|\$\{/g, '\\$&')}\`,
  },
`,
  )
  .join('')}];
`;
if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(FILE, text);

function section(markdown, title) {
  const found = markdown.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (found === undefined) throw new Error(`${FIRST_PAGE} has no section "${title}"`);
  return found;
}

function blocks(markdown, language) {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code);
}

/** The first line of a block says which file it is; it is not part of the file. */
function sourceFile(block) {
  const [head, path = '', adapter] = /^\/\/ (\S+\.ts)(?: on (Express|Fastify))?\n/.exec(block) ?? [''];
  return { path, adapter: adapter?.toLowerCase() ?? null, code: block.slice(head.length) };
}

function packagesOf(nest) {
  const block = blocks(section(page, 'Install'), 'sh').find((lines) => lines.startsWith(`# ${nest}`)) ?? '';
  const lines = [...block.matchAll(/^npm install ([^#\n]*)/gm)].map(([, words]) => words.trim().split(/\s+/));
  const development = lines.filter(([first]) => first === '-D').flatMap(([, ...names]) => names);
  const fastify = lines.flat().filter((name) => name.startsWith('@nestjs/platform-fastify'));
  const needed = lines
    .filter(([first]) => first !== '-D')
    .flat()
    .filter((name) => !fastify.includes(name));
  if (needed.length < 5 || development.length !== 1 || fastify.length !== 1) throw new Error(`no packages for ${nest}`);
  const rows = needed.map((name) => `      '${name}',\n`).join('');
  return `{
    needed: [
${rows}    ],
    development: ${list(development)},
    fastify: ${list(fastify)},
  }`;
}

function list(texts) {
  return `[${texts.map(quoted).join(', ')}]`;
}

/** A literal, as Prettier writes it. */
function quoted(text) {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`;
}
