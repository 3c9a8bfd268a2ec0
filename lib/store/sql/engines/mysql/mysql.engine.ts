import type { KyselyPlugin } from 'kysely';
import { setTimeout } from 'node:timers/promises';
import { codeOf, importDriver } from '../../driver-errors.js';
import type { RunStatement, SqlEngine } from '../../sql-engine.js';
import type { SqlDatabase } from '../../sql-database.js';
import { MYSQL_PACKAGES, mysqlAccess } from './mysql-pool.js';
import { mysqlAddress, unprotectedMysqlHost } from './mysql-url.js';
import { checkMysqlServer } from './server-check.js';

const ALREADY_THERE: ReadonlySet<string> = new Set(['ER_TABLE_EXISTS_ERROR', 'ER_DUP_KEYNAME', 'ER_DUP_ENTRY']);
const BUSY: ReadonlySet<string> = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  // MariaDB with innodb_snapshot_isolation, which is on since 11.6: a row was changed while the statement waited for it.
  'ER_CHECKREAD',
  // Group Replication: another member has changed the same rows, and the transaction is undone.
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
]);

const DENIED =
  'does not let this user make, read or write the payment tables; grant it CREATE, INDEX, SELECT, INSERT, UPDATE and ' +
  'DELETE on its database';

/** MySQL by mysql2. */
export const mysqlEngine = {
  name: 'mysql' as const,
  displayName: 'MySQL',

  urlForm: 'mysql://…',
  owns: (url) => /^mysql:\/\/./.test(url),
  async open(url) {
    mysqlAddress(url);
    const { MysqlDialect } = await importDriver(MYSQL_PACKAGES, () => import('kysely'));
    return mysqlAccess(MysqlDialect, url);
  },

  unprotectedHost: unprotectedMysqlHost,
  tlsOption: 'ssl=true',
  checkServer: checkMysqlServer,

  schema: {
    // Every collation of texts that both databases know ignores spaces at the end.
    keyType: (maxBytes) => `varbinary(${maxBytes})`,
    jsonType: 'longtext character set utf8mb4 collate utf8mb4_bin',
    tableEnd: () => ' engine=innodb',
    indexOf: () => '',
    isTransactional: false,
    now: 'floor(unix_timestamp(now(3)) * 1000)',
  },
  // The same throughout a statement, and of no time zone.
  time: `(timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000)`,
  hasTable: (table) => ({
    sql: 'select 1 from information_schema.tables where table_schema = database() and table_name = ?',
    parameters: [table],
  }),
  changeSchema: changeUnderRow,

  begin: [{ sql: 'set transaction isolation level read committed' }, { sql: 'start transaction' }],
  // They cannot be set for one transaction. A session of the store's own has them; a host's is left as it is.
  limits: [],
  isBusy: isMysqlBusy,
  rowLock: () => 'for update skip locked',
  fanOutLock: (account) => ({
    sql: 'select 1 from card_payment_handler where account = ? order by type, handler_id limit 1 for update',
    parameters: [account],
  }),

  unlessTaken: 'on duplicate key update account = account',
  orOverwrite: (_primaryKey, column) => `on duplicate key update ${column} = values(${column})`,
  asTexts: textsOfBytes(),
  writes: async () => ({ ...(await import('./ledger-writes.js')), ...(await import('./outbox-writes.js')) }),

  failures: [
    [
      /^(ECONN|ENOTFOUND|ENOENT|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|PROTOCOL_CONNECTION_LOST)/,
      'does not answer; is it running, and reachable from here?',
    ],
    // MariaDB says so, too, where the server or the user requires TLS.
    [
      /^ER_ACCESS_DENIED(_NO_PASSWORD)?_ERROR$/,
      'refuses this user or password; if it takes connections by TLS alone, put ssl=true into the URL',
    ],
    [/^ER_HOST_NOT_PRIVILEGED$/, 'does not let this host in; make a user for it'],
    [/^ER_HOST_IS_BLOCKED$/, 'has blocked this host after failed connections; run FLUSH HOSTS on it'],
    [
      /^(AUTH_SWITCH_PLUGIN_ERROR|ER_NOT_SUPPORTED_AUTH_MODE)$/,
      'wants a log-in that mysql2 does not know; give this user caching_sha2_password or mysql_native_password',
    ],
    [/^ER_BAD_DB_ERROR$/, 'has no such database; create it first'],
    [/^ER_DBACCESS_DENIED_ERROR$/, `${DENIED}; or does the URL name another one?`],
    [/^ER_(TABLEACCESS_DENIED_ERROR|SPECIFIC_ACCESS_DENIED_ERROR)$/, DENIED],
    [
      /^ER_(CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|USER_LIMIT_REACHED)$/,
      'has too many connections already; raise its max_connections, or the limit of this user',
    ],
    [/^ER_UNKNOWN_COM_ERROR$/, 'is not ready: this node is no part of its cluster'],
    [
      /^ER_(OPTION_PREVENTS_STATEMENT|READ_ONLY_MODE|CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/,
      'is read-only; is it a replica?',
    ],
    [/^ER_LOCK_WAIT_TIMEOUT$/, 'is being changed by another process that does not finish; try again'],
    [/^ER_(STATEMENT_TIMEOUT|QUERY_TIMEOUT)$/, 'answers too slowly'],
    [/^ER_SECURE_TRANSPORT_REQUIRED$/, 'takes connections by TLS alone; put ssl=true into the URL'],
    [/^HANDSHAKE_NO_SSL_SUPPORT$/, 'has no TLS, and the URL asks for it by ssl; give it a certificate'],
    [/^EPROTO$/, 'does not agree on TLS: 1.2 or 1.3, with forward secrecy'],
    [/^HANDSHAKE_SSL_ERROR$/, 'does not agree on TLS, or has a certificate that cannot be trusted'],
    [
      /^ERR_TLS_CERT_ALTNAME_INVALID$/,
      'has a TLS certificate for another host; put the host that it names into the URL',
    ],
    [
      /^ERR_TLS_CERT_UNTRUSTED$/,
      'has a TLS certificate that cannot be trusted; put ssl=FILE into the URL, the file of the authority that signed it',
    ],
  ],
  uncodedFailures: [[/timeout/i, 'ETIMEDOUT']],
} satisfies SqlEngine;

/** MariaDB by mysql2. */
export const mariadbEngine = {
  ...mysqlEngine,
  name: 'mariadb' as const,
  displayName: 'MariaDB',
  urlForm: 'mariadb://…',
  owns: (url: string) => /^mariadb:\/\/./.test(url),
} satisfies SqlEngine;

/** How long a process keeps the row before another one takes it over, in seconds: its owner may have died. */
const ROW_SECONDS = 10;

/**
 * Changes the schema under a lock that is a row: each change commits by itself, and a lock by name is known to only one
 * node of a cluster. What another process has done already, before it died or while it was too slow, is passed over.
 */
async function changeUnderRow(database: SqlDatabase, change: (run: RunStatement) => Promise<void>): Promise<void> {
  const owner = `${Date.now()}-${Math.random()}`;
  // On a cluster, a change by another node ends this one as a deadlock.
  const run: RunStatement = (statement) =>
    database.run(statement).catch((error: unknown) => {
      if (ALREADY_THERE.has(codeOf(error))) return [];
      throw error;
    });
  const isOld = `taken_at < utc_timestamp(6) - interval ${ROW_SECONDS} second`;
  await run({
    sql: `create table if not exists card_payment_migration_lock
(id integer primary key, owner varchar(100) not null, taken_at datetime(6) not null) engine=innodb`,
  });
  const take = async (): Promise<boolean> => {
    await run({
      sql: `insert into card_payment_migration_lock (id, owner, taken_at) values (1, ?, utc_timestamp(6))
on duplicate key update owner = if(${isOld}, values(owner), owner), taken_at = if(owner = values(owner), values(taken_at), taken_at)`,
      parameters: [owner],
    });
    const held = { sql: 'select 1 from card_payment_migration_lock where owner = ?', parameters: [owner] };
    return (await run(held)).length > 0;
  };
  while (!(await take())) await setTimeout(50);
  try {
    await change(async (statement) => {
      await take();
      return run(statement);
    });
  } finally {
    await run({ sql: 'delete from card_payment_migration_lock where owner = ?', parameters: [owner] });
  }
}

function isMysqlBusy(error: unknown): boolean {
  return BUSY.has(codeOf(error));
}

/** Keys are columns of bytes. */
function textsOfBytes(): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      for (const row of result.rows) {
        for (const [name, value] of Object.entries(row)) {
          if (value instanceof Uint8Array) row[name] = Buffer.from(value).toString('utf8');
        }
      }
      return Promise.resolve(result);
    },
  };
}
