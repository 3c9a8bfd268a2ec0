import { parseArgs } from 'node:util';
import type { PaymentsOptions } from './payments/options.js';
import { SCALE_DATABASES, type ScaleDatabase, type ScaleOptions } from './scale/scale-options.js';

export const HELP = `npm run bench                             all but cost, processes and scale, about an hour
npm run bench -- BENCH…                   some of: NAMES
npm run bench -- payments --quick         whole payments in two minutes
npm run bench -- compare BASE [HEAD]      two commits in one run; fails when HEAD (default: HEAD) needs more CPU

Options of payments and compare:
  --subjects A,B     only these, and what they are put in relation to
  --at-once 1,64     calls at once
  --rounds N         processes for each subject and number at once
  --calls N          calls that each process measures
  --warm-up N        calls that each process makes before
  --json FILE        where the figures go; default reports/bench.json
  --write            also writes docs/internals/performance.md and docs/internals/performance.svg
  --bound 1.15       compare: the ratio of CPU, HEAD to BASE, median of the rounds, above which it fails

Options of scale:
  --database NAME    postgres (the default) or mariadb
  --payments N       how many it is filled with; default 1000000, ten million take 35 GB
  --partitioned      PostgreSQL: in the tables of docs/partitioned-postgres.sql

Subjects: SUBJECTS`;

export type BenchCommand =
  | { readonly run: 'help' }
  | { readonly run: 'benches'; readonly names: readonly string[]; readonly options: PaymentsOptions & ScaleOptions }
  | {
      readonly run: 'compare';
      readonly base: string;
      readonly head: string;
      readonly bound: number;
      readonly options: PaymentsOptions;
    };

const DEFAULT_BOUND = 1.15;

/** @throws Error that says what cannot be understood */
export function parseCommand(args: readonly string[]): BenchCommand {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      quick: { type: 'boolean' },
      write: { type: 'boolean' },
      subjects: { type: 'string' },
      'at-once': { type: 'string' },
      rounds: { type: 'string' },
      calls: { type: 'string' },
      'warm-up': { type: 'string' },
      json: { type: 'string' },
      bound: { type: 'string' },
      database: { type: 'string' },
      payments: { type: 'string' },
      partitioned: { type: 'boolean' },
    },
  });
  if (values.help) return { run: 'help' };
  const options: PaymentsOptions & ScaleOptions = {
    database: databaseOf(values.database ?? 'postgres'),
    stored: values.payments === undefined ? undefined : positive('payments', values.payments),
    partitioned: values.partitioned ?? false,
    quick: values.quick ?? false,
    write: values.write ?? false,
    json: values.json,
    subjects: values.subjects?.split(','),
    atOnce: values['at-once']?.split(',').map((text) => positive('at-once', text)),
    rounds: values.rounds === undefined ? undefined : positive('rounds', values.rounds),
    calls: values.calls === undefined ? undefined : positive('calls', values.calls),
    warmUp: values['warm-up'] === undefined ? undefined : positive('warm-up', values['warm-up']),
  };
  if (positionals[0] !== 'compare') return { run: 'benches', names: positionals, options };
  const [, base, head = 'HEAD', ...more] = positionals;
  if (base === undefined || more.length > 0) throw new Error('compare takes one commit or two');
  const bound = values.bound === undefined ? DEFAULT_BOUND : Number(values.bound);
  if (!(bound > 0)) throw new Error(`--bound ${values.bound} is no ratio`);
  return { run: 'compare', base, head, bound, options };
}

function databaseOf(name: string): ScaleDatabase {
  const database = SCALE_DATABASES.find((one) => one === name);
  if (!database) throw new Error(`--database ${name} is none of ${SCALE_DATABASES.join(', ')}`);
  return database;
}

function positive(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${option} ${text} is no whole number above 0`);
  return number;
}
