import { parseArgs } from 'node:util';
import { paymentSchema } from '../store/sql/payment-schema.js';
import { parsed, UsageError } from './usage.error.js';

/** Prints the tables of the SQL store. */
export function schemaCommand(words: string[]): string {
  const { values } = parsed(() => parseArgs({ args: words, options: { dialect: { type: 'string' } } }));
  const { dialect } = values;
  if (dialect !== 'sqlite' && dialect !== 'postgres') throw new UsageError('--dialect takes sqlite or postgres.');
  return paymentSchema(dialect);
}
