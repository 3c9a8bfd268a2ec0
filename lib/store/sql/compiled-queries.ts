import { type Compilable, CompiledQuery, sql } from 'kysely';
import type { PaymentDb } from './payment-tables.js';

/**
 * Queries that differ in their values alone, built and compiled once. Kysely does both again at each run, which took a
 * third of a claim's time on a fast disk. Only their texts are kept: what Kysely compiled also holds the values of the
 * payment it was compiled for.
 */
export class CompiledQueries {
  private readonly reusable = new Map<string, CompiledQuery>();

  constructor(private readonly db: PaymentDb) {}

  /** @param values all values of the query, in the order of its text */
  of<Row>(name: string, values: readonly unknown[], build: (db: PaymentDb) => Compilable<Row>): CompiledQuery<Row> {
    const query = this.reusable.get(name) ?? this.compile(name, values, build(this.db));
    return { ...(query as CompiledQuery<Row>), parameters: values };
  }

  private compile(name: string, values: readonly unknown[], query: Compilable<unknown>): CompiledQuery {
    const { sql: text, parameters } = query.compile();
    // Kysely's compiler keeps the values of the last query until the next one: this one has none.
    sql``.compile(this.db);
    const isInOrder =
      parameters.length === values.length && parameters.every((value, index) => value === values[index]);
    if (!isInOrder) throw new Error(`The values of the query "${name}" are not in its order.`);
    const reusable = CompiledQuery.raw(text);
    this.reusable.set(name, reusable);
    return reusable;
  }
}
