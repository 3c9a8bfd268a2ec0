import * as kysely from 'kysely';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { SqlDatabase } from '../../../../lib/store/sql/database.js';
import { mysqlAccess, sessionOf } from '../../../../lib/store/sql/engines/mysql.js';
import { postgresAccess, postgresEngine, SESSION_LIMITS } from '../../../../lib/store/sql/engines/postgres.js';
import { suiteStore } from '../../../rigs/suite-stores.js';
import { type MariaDb, queryMariaDb, startMariaDb } from '../../../services/mariadb.js';
import { type PgBouncer, startPgBouncer } from '../../../services/pgbouncer.js';
import { queryPostgres } from '../../../services/postgres.js';

type Db = Kysely<object>;

const LIMITS = ['10s', '5s', '10s'];
const opened: Db[] = [];

/** With a single connection: one that is not given back is missed. */
function open(url: string) {
  const access = url.startsWith('postgres:') ? postgresAccess(kysely, url, 1) : mysqlAccess(kysely, url, 1);
  const db = new Kysely<object>({ dialect: access.dialect });
  opened.push(db);
  return { db, access };
}

describe('the sessions of a store', () => {
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.destroy();
  });

  describe('on PostgreSQL', () => {
    let url: string;
    let bouncer: PgBouncer;
    /** One that passes over the limits without a word. */
    let deaf: PgBouncer;

    beforeAll(async () => {
      url = await (await suiteStore('PostgreSQL')).create();
      bouncer = await startPgBouncer(url);
      deaf = await startPgBouncer(url, { ignore_startup_parameters: Object.keys(SESSION_LIMITS).join() });
    });
    afterAll(async () => {
      for (const server of [deaf, bouncer]) await server.stop();
    });

    async function settingsOf(db: Db, ...names: string[]): Promise<string[]> {
      const query = sql<{ value: string }>`select current_setting(name) as value from unnest(${names}::text[]) as name`;
      return (await query.execute(db)).rows.map(({ value }) => value);
    }
    const limitsOf = (db: Db) => settingsOf(db, ...Object.keys(SESSION_LIMITS));

    test('have the limits from their beginning, and are known to', async () => {
      const { db, access } = open(url);
      expect(access.hasLimitedSessions()).toBe(false);
      expect(await limitsOf(db)).toEqual(LIMITS);
      expect(access.hasLimitedSessions()).toBe(true);
    });

    test.each<[where: string, urlOf: () => string]>([
      ...Object.keys(SESSION_LIMITS).map((name): [string, () => string] => [
        `where the URL sets another ${name}`,
        () => `${url}?${name}=4321`,
      ]),
      ['behind a pooler that refuses the limits', () => bouncer.urlOf(url)],
      ['behind a pooler that passes over the limits', () => deaf.urlOf(url)],
    ])('%s, each transaction has to set them', async (_where, urlOf) => {
      const { db, access } = open(urlOf());
      await limitsOf(db);
      expect(access.hasLimitedSessions()).toBe(false);
    });

    test('read what others have committed, and have limits, whatever the default of the database', async () => {
      const connectionString = await (await suiteStore('PostgreSQL')).create();
      const name = new URL(connectionString).pathname.slice(1);
      await queryPostgres(url, `alter database ${name} set default_transaction_isolation = 'serializable'`);
      const given = new Kysely<object>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString }) }) });
      opened.push(given);
      const database = new SqlDatabase(given, postgresEngine);
      expect(
        await database.transaction(async (db) => [
          ...(await settingsOf(db as unknown as Db, 'transaction_isolation')),
          ...(await limitsOf(db as unknown as Db)),
        ]),
      ).toEqual(['read committed', ...LIMITS]);
    });
  });

  describe('on MariaDB', () => {
    let mariadb: MariaDb;

    beforeAll(async () => {
      // Every default is another one than the store's.
      mariadb = await startMariaDb({
        sql_mode: 'NO_BACKSLASH_ESCAPES,ONLY_FULL_GROUP_BY',
        autocommit: '0',
        transaction_isolation: 'SERIALIZABLE',
        default_time_zone: '+05:00',
        innodb_lock_wait_timeout: '50',
        character_set_server: 'latin1',
        max_statement_time: '0',
        completion_type: 'CHAIN',
        innodb_snapshot_isolation: 'ON',
        character_set_client_handshake: '0',
      });
      await queryMariaDb(mariadb.url, 'set global sql_select_limit = 12');
      await queryMariaDb(mariadb.url, 'set global sql_safe_updates = 1');
    });
    afterAll(() => mariadb.stop());

    test('are as it needs them, whatever the defaults of the server', async () => {
      const expected = {
        sql_mode: 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
        autocommit: 'ON',
        tx_isolation: 'READ-COMMITTED',
        time_zone: '+00:00',
        innodb_lock_wait_timeout: '5',
        max_statement_time: '10.000000',
        idle_transaction_timeout: '10',
        lock_wait_timeout: '5',
        sql_select_limit: '18446744073709551615',
        sql_safe_updates: 'OFF',
        completion_type: 'NO_CHAIN',
        innodb_snapshot_isolation: 'OFF',
        character_set_client: 'utf8mb4',
        character_set_connection: 'utf8mb4',
        character_set_results: 'utf8mb4',
        wait_timeout: '28800',
      };
      const names = sql.join(Object.keys(expected).map((name) => sql.lit(name)));
      const { rows } = await sql<{ Variable_name: string; Value: string }>`
        show session variables where variable_name in (${names})`.execute(open(mariadb.url).db);
      expect(Object.fromEntries(rows.map(({ Variable_name: name, Value: value }) => [name, value]))).toEqual(expected);
      // MySQL itself cannot be installed here. It has no limit for transactions that stand still.
      expect(sessionOf(new Set(['max_execution_time']))).toMatch(/, wait_timeout = 60$/);
    });

    test('take a quote and a backslash in a value for no more than that', async () => {
      const text = `it's 1\\' or "2" \\\\ \0 %`;
      const { rows } = await sql<{ text: string }>`select ${text} as text`.execute(open(mariadb.url).db);
      expect(rows).toEqual([{ text }]);
    });
  });
});
