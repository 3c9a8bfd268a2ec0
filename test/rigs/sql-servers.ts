import mysql from 'mysql2';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import {
  mysqlPaymentStore,
  postgresPaymentStore,
  type SqlPaymentStore,
  type SqlStoreOptions,
} from 'nestjs-card-payment/sql';
import pg from 'pg';

/** A session beside the store's. */
export interface Session {
  /** One statement or several. */
  readonly run: (sql: string) => Promise<readonly object[]>;
  /** Ends it as the end of its process would: what it holds is free. */
  readonly end: () => Promise<void>;
}

/** A pool of a host. */
export interface HostPool {
  store(options?: SqlStoreOptions): SqlPaymentStore;
  readonly run: Session['run'];
  end(): Promise<void>;
}

/** A server of databases that several processes share, and what differs between them. */
export interface SqlServer {
  /** A store with connections of its own. */
  store(url: string, options?: SqlStoreOptions & { readonly maxConnections?: number }): SqlPaymentStore;
  pool(url: string): HostPool;
  connect(url: string): Promise<Session>;
  /** Whether some other session waits for a lock, with such a statement (as for `like`). */
  isAnyoneWaiting(session: Session, statement?: string): Promise<boolean>;
  /** The other sessions of the database. */
  others(session: Session): Promise<readonly number[]>;
  kill(session: Session, id: number): Promise<unknown>;
  /** Ends what runs in another session, which goes on. */
  interrupt(session: Session, id: number): Promise<unknown>;
  /** Sets the isolation that sessions of the database have from now on, unless they ask for another one. */
  setIsolation(session: Session, level: string): Promise<unknown>;
  /** A column that is a key as text. */
  keyText(column: string): string;
}

const idsOf = (rows: readonly object[]) => rows.map((row) => (row as { readonly id: number }).id);

/** What a fan-out locks, and another one waits for. */
export function fanOutLock(account: string, handlerId: string): string {
  return `select 1 from card_payment_handler where account = '${account}' and handler_id = '${handlerId}' for update`;
}

export const SQL_SERVERS = {
  PostgreSQL: {
    store: (connectionString, options) => postgresPaymentStore({ connectionString, ...options }),
    pool(connectionString) {
      const pool = new pg.Pool({ connectionString });
      return {
        store: (options) => postgresPaymentStore({ pool, ...options }),
        run: async (sql) => (await pool.query<object>(sql)).rows,
        end: () => pool.end(),
      };
    },
    async connect(connectionString) {
      const client = new pg.Client({ connectionString });
      await client.connect();
      // Who notices a deadlock is undone: never this session, which the store's next attempt may overtake.
      await client.query("set deadlock_timeout = '1min'");
      return { run: async (sql) => (await client.query<object>(sql)).rows, end: () => client.end() };
    },
    async isAnyoneWaiting({ run }, statement = '%') {
      // Within a transaction, sessions are shown as they were when it first asked.
      await run('select pg_stat_clear_snapshot()');
      const waiting = `select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database() and query ilike '${statement}'`;
      return (await run(waiting)).length > 0;
    },
    others: async ({ run }) =>
      idsOf(
        await run(`select pid as id from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`),
      ),
    kill: ({ run }, id) => run(`select pg_terminate_backend(${id})`),
    interrupt: ({ run }, id) => run(`select pg_cancel_backend(${id})`),
    setIsolation: ({ run }, level) =>
      run(`do $$ begin execute format('alter database %I set default_transaction_isolation = %L',
        current_database(), '${level}'); end $$`),
    keyText: (column) => column,
  },
  MariaDB: {
    store: (connectionString, options) => mysqlPaymentStore({ connectionString, ...options }),
    pool(uri) {
      const pool = mysql.createPool({ uri });
      return {
        store: (options) => mysqlPaymentStore({ pool, ...options }),
        run: async (sql) => (await pool.promise().query<RowDataPacket[]>(sql))[0],
        end: () => pool.promise().end(),
      };
    },
    async connect(uri) {
      const connection = await createConnection({ uri, multipleStatements: true });
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
    others: async ({ run }) =>
      idsOf(await run('select id from information_schema.processlist where db = database() and id <> connection_id()')),
    kill: ({ run }, id) => run(`kill ${id}`),
    interrupt: ({ run }, id) => run(`kill query ${id}`),
    setIsolation: ({ run }, level) => run(`set global transaction isolation level ${level}`),
    keyText: (column) => `cast(${column} as char)`,
  },
} satisfies Readonly<Record<string, SqlServer>>;
