import { diffOf } from './line-diff.js';
import type { NestProject } from './nest-project.js';
import type { PlannedChange } from './planned-changes.js';
import type { WrittenChange } from './write-changes.js';

/** Of a longer difference only the first lines are shown. */
const MAX_DIFF_LINES = 60;

const ADAPTER_NAMES = { express: 'Express', fastify: 'Fastify' };

/** What was seen of the project. */
export function describeProject({ nest, modules, adapter, packageManager, doubt }: NestProject): string {
  const format = modules === 'ESM' ? 'ES modules' : 'CommonJS';
  const seen = `NestJS ${nest}, ${format}, ${ADAPTER_NAMES[adapter]}, ${packageManager}.`;
  if (doubt === null) return seen;
  const other = adapter === 'express' ? 'fastify' : 'express';
  return `${seen}\n${doubt}: --adapter ${other} writes for ${ADAPTER_NAMES[other]}.`;
}

/** What would be done. */
export function describePlan(changes: readonly PlannedChange[]): string {
  if (changes.length === 0) return 'Nothing to change: every file is as the guide says.';
  return listed('Nothing was changed. This would be done:', changes, (change) => deedOn(change));
}

/** What was done. */
export function describeDone(changes: readonly WrittenChange[]): string {
  return listed('Done:', changes, (change) =>
    change.copy === null ? deedOn(change) : `${deedOn(change)}; your own is in ${change.copy}`,
  );
}

/** What the merchant has to do instead: nothing, if nothing was left. */
export function describeLeft(project: NestProject, left: readonly PlannedChange[], wasAsked: boolean): string {
  const byHand = left.flatMap((change) => linesByHand(change));
  if (!project.hasDefaultImports) {
    byHand.push('tsconfig.json: add this to "compilerOptions", for the import of better-sqlite3');
    byHand.push('    "esModuleInterop": true,');
  }
  if (byHand.length === 0) return '';
  const why = wasAsked || left.length === 0 ? '' : ' These files exist, and there is no terminal to ask on (--yes).';
  return [`To be done by hand:${why}`, ...byHand.map((line) => `  ${line}`)].join('\n');
}

/** The question about a file of the merchant's own. */
export function replaceQuestion({ path, before, after }: PlannedChange): string {
  const diff = diffOf(textOf(before), textOf(after)).filter(({ sign }) => sign !== ' ');
  const shown = diff.slice(0, MAX_DIFF_LINES).map(({ sign, line }) => `  ${sign} ${line}`.trimEnd());
  const rest = diff.length - shown.length;
  return [
    `${path} is not as "nest new" wrote it. The guide's differs in these lines:`,
    ...shown,
    ...(rest > 0 ? [`  (and ${rest} more)`] : []),
    `Replace it, and keep yours as ${path}.bak?`,
  ].join('\n');
}

/** The question about all files that `nest new` wrote, and those that only get more lines. */
export function changeQuestion(changes: readonly PlannedChange[]): string {
  const starters = changes.filter(({ kind }) => kind === 'starter');
  const longer = changes.filter(({ kind }) => kind === 'lines');
  return [
    listed('These files are as "nest new" wrote them:', starters, (change) => deedOn(change)),
    listed('These keep their lines and get more:', longer, (change) => deedOn(change)),
    'Go ahead?',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** `src/main.ts: replaced`. Lines are shown only if they are the guide's. */
function deedOn({ path, kind, after, added }: PlannedChange): string {
  if (kind === 'new') return `${path}: new`;
  if (kind === 'lines') return `${path}: more lines (${added.join(', ')})`;
  return after === null ? `${path}: removed` : `${path}: replaced`;
}

/** Lines of the merchant's own files are not shown: what is printed without a terminal may end in a log. */
function linesByHand({ path, before, after, kind, added }: PlannedChange): string[] {
  if (after === null) return [`${path}: delete it`];
  const indented = (lines: readonly string[]) => lines.map((line) => `    ${line}`.trimEnd());
  if (kind === 'lines') return [`${path}: add`, ...indented(added)];
  const diff = diffOf(textOf(before), textOf(after)).filter(({ sign }) => sign !== ' ');
  if (kind === 'starter') return [`${path}: change`, ...indented(diff.map(({ sign, line }) => `${sign} ${line}`))];
  const missing = diff.flatMap(({ sign, line }) => (sign === '+' && line !== '' ? [line] : []));
  return [`${path}: it needs what these lines do`, ...indented(missing)];
}

function listed<Change>(title: string, changes: readonly Change[], lineOf: (change: Change) => string): string {
  return changes.length === 0 ? '' : [title, ...changes.map((change) => `  ${lineOf(change)}`)].join('\n');
}

function textOf(content: Buffer | null): string {
  return content?.toString('utf8') ?? '';
}
