import type { Insertable } from 'kysely';
import type { SqlStatement } from './engine.js';
import type { PaymentTables } from './tables.js';

/** A statement, or a part of one, with a `?` for each of its parameters. */
export class Statement implements SqlStatement {
  constructor(
    readonly sql: string,
    readonly parameters: readonly unknown[] = [],
  ) {}
}

/**
 * SQL with values in it. Each value becomes a parameter, a list becomes as many, in parentheses, and a
 * {@link Statement} remains SQL. Kysely would build a tree and compile it at each run, which takes a fifth of a
 * payment's CPU time on SQLite, and it keeps the values of its last query, which are a payment's.
 */
export function sql(texts: TemplateStringsArray, ...values: readonly unknown[]): Statement {
  const parameters: unknown[] = [];
  const parts = values.map((value, index) => textOf(value, parameters) + texts[index + 1]!);
  return new Statement(texts[0]! + parts.join(''), parameters);
}

/** SQL without parameters. */
export function raw(text: string): Statement {
  return new Statement(text);
}

/** Values or parts of SQL, one after another. */
export function joined(values: readonly unknown[], separator = ', '): Statement {
  const parameters: unknown[] = [];
  return new Statement(values.map((value) => textOf(value, parameters)).join(separator), parameters);
}

/** The SQL of a value, whose parameters are added to these. */
function textOf(value: unknown, parameters: unknown[]): string {
  if (value instanceof Statement) {
    parameters.push(...value.parameters);
    return value.sql;
  }
  if (Array.isArray(value)) return `(${value.map((one) => textOf(one, parameters)).join(', ')})`;
  parameters.push(value);
  return '?';
}

/** A row to insert. Its values may be SQL. */
type NewRow<Table extends keyof PaymentTables> = {
  readonly [Column in keyof Insertable<PaymentTables[Table]>]: Insertable<PaymentTables[Table]>[Column] | Statement;
};

/** Inserts rows, which all have the columns of the first one. */
export function insertInto<Table extends keyof PaymentTables>(table: Table, rows: readonly NewRow<Table>[]): Statement {
  const columns = Object.keys(rows[0]!).join(', ');
  return sql`insert into ${raw(`${table} (${columns})`)} values ${joined(rows.map((row) => Object.values(row)))}`;
}

/** The values that an update sets. */
export function assigned<Table extends keyof PaymentTables>(row: Partial<NewRow<Table>>): Statement {
  const parameters: unknown[] = [];
  const parts = Object.entries(row).map(([column, value]) => `${column} = ${textOf(value, parameters)}`);
  return new Statement(parts.join(', '), parameters);
}

/**
 * The rows that come after a place in an order by these columns: `<` when it is descending. Databases do not search an
 * index by the comparison of tuples, or misjudge how many rows that finds; they do search by that of the first column.
 */
export function isPast(place: Readonly<Record<string, number | string>>, compare: '<' | '>'): Statement {
  const compared = ([column, value]: readonly [string, number | string], by: string) =>
    sql`${raw(`${column} ${by}`)} ${value}`;
  const [last, ...before] = Object.entries(place).reverse();
  return before.reduce(
    (rest, one) => sql`${compared(one, `${compare}=`)} and (${compared(one, compare)} or ${rest})`,
    compared(last!, compare),
  );
}
