import type { SqlDatabase } from './sql-database.js';
import type { SqlWrites } from './sql-writes.js';
import { writesInOneStatement } from './writes-in-one-statement.js';
import { writesInTransaction } from './writes-in-transaction.js';

const WRITES = { inTransaction: writesInTransaction, inOneStatement: writesInOneStatement };

export function writesOf({ engine }: SqlDatabase): SqlWrites {
  return WRITES[engine.writes];
}
