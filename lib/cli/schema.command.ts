import { choiceOf, isSqlDialect, SQL_ENGINES } from '../store/sql/engines.js';
import { paymentSchema } from '../store/sql/schema.js';
import { command, UsageError } from './command.js';

const DIALECTS = SQL_ENGINES.map(({ name }) => name);

export const schemaCommand = command({
  name: 'schema',
  summary: 'Prints the tables of a SQL store, if you run your own migrations.',
  words: [],
  options: { dialect: { type: 'string', value: DIALECTS.join('|'), about: 'The database. Required.' } },
  run({ values: { dialect } }) {
    if (!isSqlDialect(dialect)) throw new UsageError(`--dialect takes ${choiceOf(({ name }) => name)}.`);
    return { text: paymentSchema(dialect) };
  },
});
