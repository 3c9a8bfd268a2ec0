import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median, printTable } from '../table.js';
import { printRun } from './bench-payments.js';
import { chosenLoads, chosenSubjects, COMPARISON, type PaymentsOptions } from './options.js';
import { roundRatios } from './results.js';
import { type Contender, type Run, runRounds } from './rounds.js';

export interface Comparison {
  readonly base: string;
  readonly head: string;
  /** The ratio of CPU, head to base, above which head is slower. */
  readonly bound: number;
  readonly options: PaymentsOptions;
}

/**
 * Builds two commits and measures both in one run, with this checkout's bench and installed packages.
 *
 * @returns whether no subject of head needs more CPU than base by more than the bound
 */
export async function compareCommits({ base, head, bound, options }: Comparison): Promise<boolean> {
  const subjects = chosenSubjects(options, COMPARISON).filter(({ store }) => store);
  if (subjects.length === 0) throw new Error('None of these subjects is this package.');
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
  const builds = { base: join(folder, 'base'), head: join(folder, 'head') };
  const cleanUp = (): void => {
    for (const worktree of Object.values(builds)) removeWorktree(worktree);
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupt = (): never => {
    cleanUp();
    process.exit(130);
  };
  process.once('SIGINT', interrupt);
  try {
    buildCommit(base, builds.base);
    buildCommit(head, builds.head);
    const contenders = subjects.flatMap((subject): Contender[] => [
      { subject, packageFolder: builds.base, build: 'base' },
      { subject, packageFolder: builds.head, build: 'head' },
    ]);
    const loads = chosenLoads(options, COMPARISON);
    const rounds = options.rounds ?? COMPARISON.rounds;
    return judge(await runRounds({ contenders, loads, rounds }, printRun), bound);
  } finally {
    process.off('SIGINT', interrupt);
    cleanUp();
  }
}

/** Prints the ratios, and returns whether they all are within the bound. */
export function judge(runs: readonly Run[], bound: number): boolean {
  const pairs = new Map(runs.map(({ subject, atOnce }) => [`${subject}, ${atOnce} at once`, { subject, atOnce }]));
  const judged = [...pairs].map(([name, { subject, atOnce }]) => {
    const of = (build: string) =>
      runs.filter((run) => run.subject === subject && run.atOnce === atOnce && run.build === build);
    const [base, head] = [of('base'), of('head')];
    const ratios = roundRatios(head, base);
    return { name, base: cpuOf(base), head: cpuOf(head), ratios, ratio: median(ratios) };
  });
  printTable(
    `CPU µs a call, head beside base, at most ${bound}`,
    ['subject', 'base', 'head', 'ratio, median', 'least', 'most', ''],
    judged.map(({ name, base, head, ratios, ratio }) => [
      name,
      base,
      head,
      ratio.toFixed(2),
      Math.min(...ratios).toFixed(2),
      Math.max(...ratios).toFixed(2),
      ratio > bound ? 'slower' : '',
    ]),
  );
  return judged.every(({ ratio }) => ratio <= bound);
}

function cpuOf(runs: readonly Run[]): string {
  return median(runs.map(({ cpu }) => cpu)).toFixed(0);
}

function buildCommit(commit: string, folder: string): void {
  console.log(`> building ${commit}`);
  // A name that begins with a dash is no option.
  const hash = git('rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`).trim();
  git('worktree', 'add', '--detach', '--quiet', folder, hash);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  // By its own script: older commits have it elsewhere.
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' });
}

function removeWorktree(folder: string): void {
  try {
    git('worktree', 'remove', '--force', folder);
  } catch {
    // It was never made.
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
