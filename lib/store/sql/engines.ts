import { mariadbEngine, mysqlEngine } from './engines/mysql.js';
import { postgresEngine } from './engines/postgres.js';
import { sqliteEngine } from './engines/sqlite.js';
import type { SqlEngine } from './engine.js';
import { ShownError } from './errors.js';

/** The databases that the SQL store works with. A further database is a file in `engines/` and a line here. */
export const SQL_ENGINES = [
  sqliteEngine,
  postgresEngine,
  mysqlEngine,
  mariadbEngine,
] as const satisfies readonly SqlEngine[];

/** The names of these databases. */
export type SqlDialect = (typeof SQL_ENGINES)[number]['name'];

/** Their names as a choice, for messages: `sqlite, postgres, … or …`. */
export function choiceOf(of: (engine: SqlEngine) => string): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(SQL_ENGINES.map(of));
}

export function isSqlDialect(name: string | undefined): name is SqlDialect {
  return SQL_ENGINES.some((engine) => engine.name === name);
}

/** @throws Error when there is no such database */
export function engineNamed(name: SqlDialect): SqlEngine {
  const engine = SQL_ENGINES.find((one) => one.name === name);
  if (!engine) throw new ShownError(`the dialect of a SQL store is ${choiceOf((one) => one.name)}`);
  return engine;
}

export function engineOfUrl(url: string): SqlEngine | undefined {
  return SQL_ENGINES.find((engine) => engine.owns(url));
}
