import { createConnection, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { startMariaDb } from '../services/mariadb.js';
import { startPostgres } from '../services/postgres.js';

/** A session beside the store's. */
export interface Session {
  readonly run: (sql: string) => Promise<readonly object[]>;
  /** Ends it as the end of its process would: what it holds is free. */
  readonly end: () => Promise<void>;
}

/** A server of databases that several processes share, and what differs between them. */
export interface SqlServer {
  start(): Promise<{ createDatabase(): Promise<string>; stop(): Promise<void> }>;
  connect(url: string): Promise<Session>;
  /** Whether some other session waits for a lock, with such a statement (as for `like`). */
  isAnyoneWaiting(session: Session, statement?: string): Promise<boolean>;
  /** A column that is a key as text. */
  keyText(column: string): string;
}

/** What a fan-out locks, and another one waits for. */
export function fanOutLock(account: string, handlerId: string): string {
  return `select 1 from card_payment_handler where account = '${account}' and handler_id = '${handlerId}' for update`;
}

export const SQL_SERVERS = {
  PostgreSQL: {
    start: startPostgres,
    async connect(connectionString) {
      const client = new pg.Client({ connectionString });
      await client.connect();
      return { run: async (sql) => (await client.query<object>(sql)).rows, end: () => client.end() };
    },
    async isAnyoneWaiting({ run }, statement = '%') {
      // Within a transaction, sessions are shown as they were when it first asked.
      await run('select pg_stat_clear_snapshot()');
      const waiting = `select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database() and query ilike '${statement}'`;
      return (await run(waiting)).length > 0;
    },
    keyText: (column) => column,
  },
  MariaDB: {
    start: startMariaDb,
    async connect(url) {
      const connection = await createConnection(url);
      return {
        run: async (sql) => (await connection.query<RowDataPacket[]>(sql))[0],
        end: () => Promise.resolve(connection.destroy()),
      };
    },
    async isAnyoneWaiting({ run }, statement = '%') {
      // `innodb_trx` shows what was true at first while it is read often, and the count of row locks is of all databases.
      const waiting = `select 1 from information_schema.processlist
        where db = database() and id <> connection_id() and command = 'Query' and time_ms > 300 and info like '${statement}'`;
      return (await run(waiting)).length > 0;
    },
    keyText: (column) => `cast(${column} as char)`,
  },
} satisfies Readonly<Record<string, SqlServer>>;
