import type { QueryResult, SqliteDatabase, SqliteDialect, SqliteStatement } from 'kysely';
import { existsSync } from 'node:fs';
import { driverProblem } from '../driver-check.js';
import { shownFile } from '../shown-url.js';
import { codeOf, importDriver, MissingDatabaseError, UnfitDriverError } from './driver-errors.js';
import { retryWhileBusy } from './retry-while-busy.js';
import type { InProcessConnection, SqlAccess, SqlStatement } from './sql-engine.js';

export const SQLITE_PACKAGES = 'kysely better-sqlite3';
const MAX_STATEMENTS = 200;

/** Kysely and the in-process connection are one: a second one to `:memory:` would be another database. */
export function sqliteAccess(Dialect: typeof SqliteDialect, open: () => Promise<SqliteConnection>): SqlAccess {
  let opened: SqliteConnection | null = null;
  const database = async () => (opened = await open());
  return { dialect: new Dialect({ database }), hasLimitedSessions: () => true, inProcess: () => opened };
}

/** Opens a file, and creates it if it does not exist; with `mustExist` it does neither that nor change its mode. */
export async function openSqliteFile(file: string, mustExist = false): Promise<SqliteConnection> {
  // Version 13 ends a Node.js 20 by a segmentation fault.
  const problem = driverProblem('better-sqlite3');
  if (problem !== null) throw new UnfitDriverError(problem);
  const { default: Database } = await importDriver(SQLITE_PACKAGES, () => import('better-sqlite3'));
  if (mustExist && !existsSync(file)) throw new MissingDatabaseError(`there is no SQLite file ${shownFile(file)}`);
  // SQLite's own waiting for another process would stop this one, and be less fair.
  const database = new Database(file, { timeout: 0, fileMustExist: mustExist });
  try {
    // Changing the file's mode takes a moment without other connections.
    const makeWal = () => Promise.resolve().then(() => database.pragma('journal_mode = WAL'));
    if (!mustExist) await retryWhileBusy(isSqliteBusy, makeWal);
    database.pragma('synchronous = FULL');
    // What a savepoint may have to undo: in a file, it took a quarter of a payment's time. No table is made there.
    database.pragma('temp_store = MEMORY');
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqliteConnection(database);
}

/** Whether another process was in the way. */
export function isSqliteBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/** A file's connection. Preparing a statement each time took a third of a claim's time on a fast disk. */
export class SqliteConnection implements InProcessConnection, SqliteDatabase {
  private readonly prepared = new Map<string, SqliteStatement>();

  constructor(private readonly file: SqliteDatabase & { readonly inTransaction: boolean }) {}

  get inTransaction(): boolean {
    return this.file.inTransaction;
  }

  execute<Row>({ sql, parameters = [] }: SqlStatement): QueryResult<Row> {
    const statement = this.prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) as Row[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
  }

  /** Kysely asks for it. */
  prepare(text: string): SqliteStatement {
    const found = this.prepared.get(text);
    if (found) return found;
    const statement = this.file.prepare(text);
    if (this.prepared.size === MAX_STATEMENTS) this.prepared.clear();
    this.prepared.set(text, statement);
    return statement;
  }

  close(): void {
    this.file.close();
  }
}
