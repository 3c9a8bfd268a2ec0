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
  /** What a fan-out locks, and whether another one then leaves its work or waits for it. */
  fanOutLock(account: string, handlerId: string): string;
  readonly nextFanOut: 'leaves it' | 'waits';
  /** The column `key_hash` of `card_payment_key` as text. */
  readonly keyHash: string;
  /** What a migration locks, and what has to be there for it. */
  readonly migrationLock: { readonly before?: string; readonly sql: string };
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
    fanOutLock: (account) => `select pg_advisory_xact_lock(hashtextextended('card_payment ${account}', 0))`,
    nextFanOut: 'leaves it',
    keyHash: 'key_hash',
    migrationLock: { sql: 'select pg_advisory_xact_lock(7242073316)' },
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
    fanOutLock: (account, handlerId) =>
      `select 1 from card_payment_handler where account = '${account}' and handler_id = '${handlerId}' for update`,
    nextFanOut: 'waits',
    keyHash: 'cast(key_hash as char)',
    migrationLock: {
      before:
        'create table card_payment_migration_lock (id integer primary key, owner varchar(100), taken_at datetime(6))',
      sql: `insert into card_payment_migration_lock values (1, 'vanished', now())`,
    },
  },
} satisfies Readonly<Record<string, SqlServer>>;
