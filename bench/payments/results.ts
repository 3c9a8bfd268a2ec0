import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { median } from '../table.js';
import type { Load } from './figures.js';
import type { Run } from './rounds.js';
import { GROUPS, subjectNamed } from './subjects.js';

/** The result of a run of the bench, of which the tables are made. */
export interface Results {
  readonly at: string;
  readonly commit: string | null;
  readonly machine: Machine;
  readonly rounds: number;
  readonly loads: readonly Load[];
  readonly runs: readonly Run[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly platform: string;
  readonly node: string;
}

interface Spread {
  readonly min: number;
  readonly median: number;
}

/** A subject over all rounds, in µs per call; the figures without a minimum are medians. */
export interface Row {
  readonly subject: string;
  readonly cpu: Spread;
  /** Its CPU in relation to its baseline's in the same round; null for a baseline. */
  readonly ratio: Spread | null;
  readonly goal: number | undefined;
  readonly wall: number;
  readonly latency: number;
  readonly p99: number;
}

/** The subjects of a group at one number at once. */
export interface Section {
  readonly title: string;
  readonly atOnce: number;
  readonly baseline: string;
  readonly rows: readonly Row[];
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  };
}

/** The commit of the checkout; null where there is none. */
export function thisCommit(): string | null {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
}

/** Groups in which nothing ran are left out. */
export function sectionsOf({ runs, loads }: Pick<Results, 'runs' | 'loads'>): Section[] {
  return GROUPS.flatMap(({ title, subjects }) =>
    loads.map(({ atOnce }) => {
      const atThis = runs.filter((run) => run.atOnce === atOnce);
      const ran = subjects.filter(({ name }) => atThis.some(({ subject }) => subject === name));
      const baseline = subjects.find(({ beside }) => beside === undefined)!.name;
      return { title, atOnce, baseline, rows: ran.map(({ name }) => factsOf(name, atThis)) };
    }),
  ).filter(({ rows }) => rows.length > 0);
}

function factsOf(subject: string, runs: readonly Run[]): Row {
  const { beside, goal } = subjectNamed(subject);
  const own = runs.filter((run) => run.subject === subject);
  const ratios = roundRatios(
    own,
    runs.filter((run) => run.subject === beside),
  );
  return {
    subject,
    cpu: spreadOf(own.map(({ cpu }) => cpu)),
    ratio: ratios.length > 0 ? spreadOf(ratios) : null,
    goal,
    wall: median(own.map(({ wall }) => wall)),
    latency: median(own.map(({ latency }) => latency.median)),
    p99: median(own.map(({ latency }) => latency.p99)),
  };
}

function spreadOf(values: readonly number[]): Spread {
  return { min: Math.min(...values), median: median(values) };
}

/** The ratio of CPU of two lists of figures, round by round. */
export function roundRatios(these: readonly Run[], those: readonly Run[]): number[] {
  return these.flatMap(({ round, cpu }) => {
    const other = those.find((run) => run.round === round);
    return other ? [cpu / other.cpu] : [];
  });
}
