import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { chosenLoads, chosenSubjects, FULL, type PaymentsOptions, QUICK, withBaselines } from './options.js';
import { type Results, thisCommit, thisMachine } from './results.js';
import { type Run, runRounds } from './rounds.js';
import { printResults, writePage } from './tables.js';

const RESULTS_FILE = 'reports/bench.json';

/** Whole payments beside other clients. */
export async function benchPayments(options: PaymentsOptions): Promise<void> {
  const form = options.quick ? QUICK : FULL;
  const loads = chosenLoads(options, form);
  const rounds = options.rounds ?? form.rounds;
  const contenders = withBaselines(chosenSubjects(options, form)).map((subject) => ({
    subject,
    packageFolder: process.cwd(),
  }));
  const { status } = spawnSync(process.execPath, ['bench/peers/install.mjs'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the peers of the bench could not be installed');
  const at = new Date().toISOString();
  const runs = await runRounds({ contenders, loads, rounds }, printRun);
  const results: Results = { at, commit: thisCommit(), machine: thisMachine(), rounds, loads, runs };
  printResults(results);

  const file = options.json ?? RESULTS_FILE;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  console.log(`\nThe figures: ${file}`);
  if (options.write) await writePage(results);
}

export function printRun({ round, atOnce, subject, build, cpu, wall }: Run): void {
  const name = build === undefined ? subject : `${subject} at ${build}`;
  console.log(`round ${round}, ${atOnce} at once, ${name}: CPU ${cpu.toFixed(0)} µs, wall ${wall.toFixed(0)} µs`);
}
