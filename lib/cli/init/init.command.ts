import { spawnSync } from 'node:child_process';
import { type Ask, command, CommandFailedError, UsageError } from '../command.js';
import {
  changeQuestion,
  describeDone,
  describeLeft,
  describePlan,
  describeProject,
  replaceQuestion,
} from './change-text.js';
import { type Adapter, type NestProject, nestProjectIn } from './nest-project.js';
import { installCommands, nextSteps, type Words } from './next-steps.js';
import { MODULE_FILE, type PlannedChange, plannedChanges } from './planned-changes.js';
import { writeChanges } from './write-changes.js';

const ADAPTERS: readonly string[] = ['express', 'fastify'] satisfies Adapter[];

/** What is to be changed, and what the merchant wants left as it is. */
interface Decision {
  readonly accepted: readonly PlannedChange[];
  readonly left: readonly PlannedChange[];
}

export const initCommand = command({
  name: 'init',
  summary: "Writes the guide's shop into a project of nest new, up to an order paid at a simulated bank.",
  words: [],
  options: {
    adapter: {
      type: 'string',
      value: ADAPTERS.join('|'),
      about: 'The HTTP adapter; by default the one that the project uses.',
    },
    'dry-run': { type: 'boolean', about: 'Says what it would do, and does nothing.' },
    install: { type: 'boolean', about: 'Installs the missing packages, too; by default it prints the commands.' },
    yes: {
      type: 'boolean',
      short: 'y',
      about: 'Changes files that exist without asking; of your own files it keeps copies (.bak).',
    },
  },
  notes: `Without a terminal and without --yes it changes no file that exists. The status is 1 if something is left to
do by hand, 2 if the project is none that it can write to; then it has written nothing.`,
  async run({ values, environment, announce, ask }) {
    if (values.adapter !== undefined && !ADAPTERS.includes(values.adapter)) {
      throw new UsageError(`--adapter takes ${ADAPTERS.join(' or ')}.`);
    }
    const isDry = values['dry-run'] === true;
    const isAsking = ask !== null && !isDry && values.yes !== true;
    const project = await projectFor(values.adapter as Adapter | undefined, isAsking ? ask : null);
    const changes = plannedChanges(project);
    const install = installCommands(project);
    const steps = (open: readonly Words[]) => nextSteps(project, open, environment['PORT'] ?? '3000');
    if (isDry) return { text: [describeProject(project), describePlan(changes), steps(install)].join('\n\n') };

    const { accepted, left } = await decide(changes, isAsking ? ask : values.yes === true);
    const done = changes.length === 0 ? describePlan(changes) : describeDone(writeChanges(project.folder, accepted));
    const byHand = describeLeft(project, left, ask !== null);
    const parts = [describeProject(project), done, byHand, gatewayNote(environment['PAYMENT_BASE_URL'])];
    const report = parts.filter((part) => part !== '').join('\n\n');
    const status = byHand === '' ? 0 : 1;
    if (values.install !== true || install.length === 0) return { text: `${report}\n\n${steps(install)}`, status };
    await announce(`${report}\n`);
    for (const words of install) runHere(words);
    return { text: `\n${steps([])}`, status };
  },
});

async function projectFor(adapter: Adapter | undefined, ask: Ask | null): Promise<NestProject> {
  const folder = process.cwd();
  const project = nestProjectIn(folder, adapter);
  if (project.doubt === null || ask === null || !project.dependencies.includes('@nestjs/platform-fastify')) {
    return project;
  }
  return nestProjectIn(folder, (await ask(`${project.doubt}. Write for Fastify?`)) ? 'fastify' : 'express');
}

/** Asks about each file of the merchant's own, and once about all others that exist. New files need no question. */
async function decide(changes: readonly PlannedChange[], ask: Ask | boolean): Promise<Decision> {
  const confirm = (question: string) => (typeof ask === 'boolean' ? ask : ask(question));
  const accepted = changes.filter(({ kind }) => kind === 'new');
  const left: PlannedChange[] = [];
  for (const change of changes.filter(({ kind }) => kind === 'own')) {
    ((await confirm(replaceQuestion(change))) ? accepted : left).push(change);
  }
  const isModuleLeft = left.some(({ path }) => path === MODULE_FILE);
  const rest = changes.filter(
    ({ kind, after }) => (kind === 'starter' || kind === 'lines') && !(isModuleLeft && after === null),
  );
  if (rest.length > 0) ((await confirm(changeQuestion(rest))) ? accepted : left).push(...rest);
  return { accepted, left };
}

/** For a project that has a gateway already: the tutorial's payments would be real. */
function gatewayNote(baseUrl: string | undefined): string {
  if (baseUrl === undefined || baseUrl === 'simulator:') return '';
  return 'PAYMENT_BASE_URL was set before, to something else than simulator: (it is kept). Payments go there.';
}

/** @throws CommandFailedError */
function runHere([program, ...args]: Words): void {
  // npm is a script of the shell on Windows. The words are of the package's own tables.
  const { status } = spawnSync(program, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status === 0) return;
  throw new CommandFailedError(`"${[program, ...args].join(' ')}" failed. The files are written: run it yourself.`);
}
