import { parseArgs } from 'node:util';
import { isSqlDialect, SQL_ENGINES } from '../store/sql/engines.js';
import { paymentSchema } from '../store/sql/payment-schema.js';
import { parsed, UsageError } from './usage.error.js';

/** Prints the tables of the SQL store. */
export function schemaCommand(words: string[]): string {
  const { values } = parsed(() => parseArgs({ args: words, options: { dialect: { type: 'string' } } }));
  const { dialect } = values;
  if (!isSqlDialect(dialect)) {
    throw new UsageError(`--dialect takes ${SQL_ENGINES.map(({ name }) => name).join(' or ')}.`);
  }
  return paymentSchema(dialect);
}
