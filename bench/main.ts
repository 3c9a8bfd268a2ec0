import 'reflect-metadata';
import { HELP, parseCommand } from './command-line.js';
import { benchPayments } from './payments/bench-payments.js';
import { compareCommits } from './payments/compare-commits.js';
import { SUBJECTS } from './payments/subjects.js';
import { benchLease } from './scale/bench-lease.js';
import { benchScale } from './scale/bench-scale.js';

const command = parseCommand(process.argv.slice(2));
switch (command.run) {
  case 'help':
    console.log(HELP.replace('SUBJECTS', SUBJECTS.map(({ name }) => name).join(', ')));
    break;
  case 'payments':
    await benchPayments(command.options);
    break;
  case 'lease':
    await benchLease();
    break;
  case 'scale':
    await benchScale(command.options);
    break;
  case 'compare':
    if (!(await compareCommits(command))) process.exitCode = 1;
}
