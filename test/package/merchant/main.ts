import { takePayments } from './take-payments.js';

takePayments().then(
  (taken) => process.stdout.write(`${JSON.stringify(taken)}\n`),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);
