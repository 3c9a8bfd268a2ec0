import { choiceOf, isSqlDialect } from '../store/sql/engines.js';
import { paymentSchema } from '../store/sql/schema.js';
import { type Run, UsageError } from './command.js';

/** Prints the tables of a SQL store. */
export const schema: Run = ({ options: { dialect } }) => {
  if (!isSqlDialect(dialect)) throw new UsageError(`--dialect takes ${choiceOf(({ name }) => name)}.`);
  return Promise.resolve({ text: paymentSchema(dialect) });
};
