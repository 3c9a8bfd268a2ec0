import * as kysely from 'kysely';
import { Kysely, sql } from 'kysely';
import { mysqlAccess, sessionOf } from '../../../../../lib/store/sql/engines/mysql.js';
import { type MariaDb, queryMariaDb, startMariaDb } from '../../../../services/mariadb.js';

let mariadb: MariaDb;
const opened: Kysely<object>[] = [];

describe('mysql pool', () => {
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
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.destroy();
  });
  afterAll(() => mariadb.stop());

  test("sessions are the store's, whatever the defaults of the server", async () => {
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
    };
    expect(await settingsOf(open(), ...Object.keys(expected))).toEqual(expected);
  });

  // MySQL itself cannot be installed here.
  test('a server without a limit for transactions that stand still ends connections that do', async () => {
    expect(sessionOf(new Set(['max_execution_time']))).toMatch(/, wait_timeout = 60$/);
    expect(await settingsOf(open(), 'wait_timeout')).toEqual({ wait_timeout: '28800' });
  });

  test('a quote and a backslash in a value are no more than that', async () => {
    const text = `it's 1\\' or "2" \\\\ \0 %`;
    const { rows } = await sql<{ text: string }>`select ${text} as text`.execute(open());
    expect(rows).toEqual([{ text }]);
  });
});

function open(): Kysely<object> {
  const db = new Kysely<object>({ dialect: mysqlAccess(kysely, mariadb.url).dialect });
  opened.push(db);
  return db;
}

async function settingsOf(db: Kysely<object>, ...names: string[]): Promise<Record<string, string>> {
  const { rows } = await sql<{
    Variable_name: string;
    Value: string;
  }>`show session variables where variable_name in (${sql.join(names.map((name) => sql.lit(name)))})`.execute(db);
  return Object.fromEntries(rows.map((row) => [row.Variable_name, row.Value]));
}
