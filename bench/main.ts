import 'reflect-metadata';
import { benchClaims } from './claims.js';
import { benchColdStart } from './cold-start.js';
import { HELP, parseCommand } from './command-line.js';
import { benchCost } from './cost.js';
import { benchInFlight } from './in-flight.js';
import { benchMemory } from './memory.js';
import { benchPayments } from './payments/bench-payments.js';
import { compareCommits } from './payments/compare-commits.js';
import { SUBJECTS } from './payments/subjects.js';
import { benchProcesses } from './processes.js';
import { benchReconciler } from './reconciler.js';
import { benchScale } from './scale.js';

const USUAL = {
  payments: benchPayments,
  claims: benchClaims,
  'cold-start': benchColdStart,
  'in-flight': benchInFlight,
  memory: benchMemory,
  reconciler: benchReconciler,
};
/** These take long or need much disk, and run only when they are named. */
const NAMED = { cost: benchCost, processes: benchProcesses, scale: benchScale };
const BENCHES = { ...USUAL, ...NAMED };
const NAMES = Object.keys(BENCHES);

const command = parseCommand(process.argv.slice(2));
switch (command.run) {
  case 'help':
    console.log(
      HELP.replace('NAMES', NAMES.join(', ')).replace('SUBJECTS', SUBJECTS.map(({ name }) => name).join(', ')),
    );
    break;
  case 'compare':
    if (!(await compareCommits(command))) process.exitCode = 1;
    break;
  case 'benches': {
    const unknown = command.names.filter((name) => !NAMES.includes(name));
    if (unknown.length > 0) throw new Error(`There is no bench ${unknown.join(', ')}: --help names those there are.`);
    const chosen = command.names.length === 0 ? Object.keys(USUAL) : command.names;
    for (const [name, bench] of Object.entries(BENCHES)) if (chosen.includes(name)) await bench(command.options);
  }
}
