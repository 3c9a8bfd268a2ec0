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
  const parts = values.map(toStatement);
  const text = parts.map((part, index) => part.sql + texts[index + 1]!);
  return new Statement(
    texts[0]! + text.join(''),
    parts.flatMap((part) => part.parameters),
  );
}

/** SQL without parameters. */
export function raw(text: string): Statement {
  return new Statement(text);
}

/** Values or parts of SQL, one after another. */
export function joined(values: readonly unknown[], separator = ', '): Statement {
  const parts = values.map(toStatement);
  return new Statement(
    parts.map((part) => part.sql).join(separator),
    parts.flatMap((part) => part.parameters),
  );
}

function toStatement(value: unknown): Statement {
  if (value instanceof Statement) return value;
  if (!Array.isArray(value)) return new Statement('?', [value]);
  const list = joined(value);
  return new Statement(`(${list.sql})`, list.parameters);
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
  return joined(Object.entries(row).map(([column, value]) => sql`${raw(column)} = ${value}`));
}

/** The rows that come after a place in an order by these columns: `<` when it is descending. */
export function isPast(place: Readonly<Record<string, number | string>>, compare: '<' | '>'): Statement {
  const [columns, values] = [Object.keys(place), Object.values(place)];
  // Some databases do not search an index by the comparison of tuples, but do by that of the first column.
  return sql`${raw(`${columns[0]} ${compare}=`)} ${values[0]}
and ${raw(`(${columns.join(', ')}) ${compare}`)} ${values}`;
}
