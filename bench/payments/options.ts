import type { Load } from './figures.js';
import { type Subject, SUBJECTS } from './subjects.js';

/** What can be chosen on the command line. */
export interface PaymentsOptions {
  readonly quick: boolean;
  readonly write: boolean;
  readonly json?: string;
  readonly subjects?: readonly string[];
  readonly atOnce?: readonly number[];
  readonly rounds?: number;
  readonly calls?: number;
  readonly warmUp?: number;
}

/** The default form of a run. */
export interface RunForm {
  readonly rounds: number;
  readonly subjects: readonly string[];
  readonly atOnce: readonly number[];
  /** What each process does with many at once, and with few. */
  readonly many: Omit<Load, 'atOnce'>;
  readonly few: Omit<Load, 'atOnce'>;
}

export const FULL: RunForm = {
  rounds: 5,
  subjects: SUBJECTS.map(({ name }) => name),
  atOnce: [1, 64],
  many: { warmUp: 2_000, calls: 3_000 },
  few: { warmUp: 500, calls: 500 },
};

export const QUICK: RunForm = {
  rounds: 3,
  subjects: ['stripe-node', 'naive', 'memory', 'sqlite', 'bare-route', 'callback-memory', 'callback-sqlite'],
  atOnce: [64],
  many: { warmUp: 1_000, calls: 1_000 },
  few: { warmUp: 500, calls: 500 },
};

/** How two commits are compared. */
export const COMPARISON: RunForm = {
  rounds: 5,
  subjects: ['memory', 'sqlite', 'callback-memory', 'callback-sqlite'],
  atOnce: [64],
  many: { warmUp: 1_500, calls: 2_000 },
  few: { warmUp: 500, calls: 500 },
};

const MANY_AT_ONCE = 16;

export function chosenLoads({ atOnce, calls, warmUp }: PaymentsOptions, form: RunForm): Load[] {
  return (atOnce ?? form.atOnce).map((number) => {
    const usual = number >= MANY_AT_ONCE ? form.many : form.few;
    return { atOnce: number, calls: calls ?? usual.calls, warmUp: warmUp ?? usual.warmUp };
  });
}

/** In the order of the tables; an unknown name is an error. */
export function chosenSubjects({ subjects }: PaymentsOptions, form: RunForm): Subject[] {
  const names = new Set(subjects ?? form.subjects);
  const unknown = [...names].filter((name) => !SUBJECTS.some((subject) => subject.name === name));
  if (unknown.length > 0) throw new Error(`There is no subject ${unknown.join(', ')}: --help names those there are.`);
  return SUBJECTS.filter(({ name }) => names.has(name));
}

/** These subjects, and their baselines. */
export function withBaselines(chosen: readonly Subject[]): Subject[] {
  const baselines = new Set(chosen.map(({ beside }) => beside));
  return SUBJECTS.filter((subject) => chosen.includes(subject) || baselines.has(subject.name));
}
