import { parseArgs } from 'node:util';
import type { Comparison } from './payments/compare-commits.js';
import type { PaymentsOptions } from './payments/options.js';
import { SCALE_DATABASES, type ScaleDatabaseName, type ScaleOptions } from './scale/databases.js';

export const HELP = `npm run bench                             whole payments beside other clients
npm run bench -- payments --quick         the same in two minutes, on fewer stores
npm run bench -- compare BASE [HEAD]      two commits in one run; fails when HEAD (default: HEAD) needs more CPU
npm run bench -- scale --payments N       payments on a database with so many stored ones, beside an almost empty one
npm run bench -- lease                    a lease of events behind 10,000 that wait for an earlier one, on each store

Options of payments and compare:
  --subjects A,B     only these, and what they are put in relation to
  --at-once 1,64     calls at once
  --rounds N         processes for each subject and number at once
  --calls N          calls that each process measures
  --warm-up N        calls that each process makes before
  --json FILE        payments: where the figures go; default reports/bench.json
  --write            payments: also writes the tables of docs/internals/performance.md
  --bound 1.15       compare: the ratio of CPU, HEAD to BASE, median of the rounds, above which it fails

Options of scale:
  --database NAME    postgres (the default), mariadb or sqlite
  --payments N       default 1000000; ten million take 40 GB of disk
  --partitioned      PostgreSQL: in the tables of docs/partitioned-postgres.sql

Subjects: SUBJECTS`;

export type BenchCommand =
  | { readonly run: 'help' | 'lease' }
  | { readonly run: 'payments'; readonly options: PaymentsOptions }
  | { readonly run: 'scale'; readonly options: ScaleOptions }
  | ({ readonly run: 'compare' } & Comparison);

const DEFAULT_PAYMENTS = 1_000_000;
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
  const options: PaymentsOptions = {
    quick: values.quick ?? false,
    write: values.write ?? false,
    json: values.json,
    subjects: values.subjects?.split(','),
    atOnce: values['at-once']?.split(',').map((text) => positive('at-once', text)),
    rounds: values.rounds === undefined ? undefined : positive('rounds', values.rounds),
    calls: values.calls === undefined ? undefined : positive('calls', values.calls),
    warmUp: values['warm-up'] === undefined ? undefined : positive('warm-up', values['warm-up']),
  };
  const [run = 'payments', ...more] = positionals;
  if (run === 'compare') {
    const [base, head = 'HEAD', ...others] = more;
    if (base === undefined || others.length > 0) throw new Error('compare takes one commit or two');
    const bound = values.bound === undefined ? DEFAULT_BOUND : Number(values.bound);
    if (!(bound > 0)) throw new Error(`--bound ${values.bound} is no ratio`);
    return { run, base, head, bound, options };
  }
  if (run === 'lease' && more.length === 0) return { run };
  if ((run !== 'payments' && run !== 'scale') || more.length > 0) {
    throw new Error(`There is no bench ${positionals.join(' ')}: --help names those there are.`);
  }
  if (run === 'payments') return { run, options };
  const stored = values.payments === undefined ? DEFAULT_PAYMENTS : positive('payments', values.payments);
  const database = databaseNamed(values.database ?? 'postgres');
  return { run, options: { database, stored, partitioned: values.partitioned ?? false } };
}

function databaseNamed(name: string): ScaleDatabaseName {
  const database = SCALE_DATABASES.find((one) => one === name);
  if (!database) throw new Error(`--database ${name} is none of ${SCALE_DATABASES.join(', ')}`);
  return database;
}

function positive(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${option} ${text} is no whole number above 0`);
  return number;
}
