import type { Compilable, CompiledQuery } from 'kysely';
import type { PaymentDb } from './payment-tables.js';

/**
 * Queries that differ in their values alone, built and compiled once. Kysely does both again at each run, which took a
 * third of a claim's time on a fast disk.
 */
export class CompiledQueries {
  private readonly compiled = new Map<string, CompiledQuery>();

  constructor(private readonly db: PaymentDb) {}

  /** @param values all values of the query, in the order of its text */
  of<Row>(name: string, values: readonly unknown[], build: (db: PaymentDb) => Compilable<Row>): CompiledQuery<Row> {
    const query = this.compiled.get(name) ?? this.compile(name, values, build(this.db));
    return { ...query, parameters: values };
  }

  private compile(name: string, values: readonly unknown[], query: Compilable<unknown>): CompiledQuery {
    const compiled = query.compile();
    const isInOrder =
      compiled.parameters.length === values.length &&
      compiled.parameters.every((value, index) => value === values[index]);
    if (!isInOrder) throw new Error(`The values of the query "${name}" are not in its order.`);
    this.compiled.set(name, compiled);
    return compiled;
  }
}
