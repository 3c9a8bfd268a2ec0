import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Kysely, MysqlDialect } from 'kysely';
import mysql, { type PoolOptions } from 'mysql2';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { mysqlPaymentStore, openSqlStore, sqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import type { PaymentStore } from '../../../../../lib/store/payment-store.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { selfSigned } from '../../../../rigs/certificates.js';
import { makeScratchFolder } from '../../../../rigs/scratch-folder.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { suiteStore } from '../../../../rigs/suite-stores.js';
import { type MariaDb, queryMariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { at, StoreTrial } from '../../../contract/store-trial.js';

const certificates = makeScratchFolder('certificates');
const [keyFile, certFile] = ['key.pem', 'cert.pem'].map((name) => join(certificates.path, name)) as [string, string];

/** With TLS and a log of its changes. */
let special: MariaDb;
let url: string;
let warnings: string[];

describe('start up', () => {
  beforeAll(async () => {
    // The server runs as another user.
    chmodSync(certificates.path, 0o755);
    certifyAs('localhost');
    special = await startMariaDb({ log_bin: 'binlog', ssl_cert: certFile, ssl_key: keyFile });
  }, 60_000);
  beforeEach(async () => {
    url = await (await suiteStore('MariaDB')).create();
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((text: unknown) => void warnings.push(String(text)));
  });
  afterAll(async () => {
    await special.stop();
    certificates.remove();
  });

  function certifyAs(name: string): void {
    const { key, cert } = selfSigned(name);
    writeFileSync(keyFile, key);
    writeFileSync(certFile, cert);
    for (const file of [keyFile, certFile]) chmodSync(file, 0o644);
  }

  /** Opens the store and closes it. @returns why it could not be opened; null if it could */
  async function problemOf(store: PaymentStore): Promise<string | null> {
    const error: unknown = await store.open().then(
      () => null,
      (reason: unknown) => reason,
    );
    await store.close();
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/password-of-the-shop|geheim|\bada\b/);
    return error === null ? null : (error as Error).message;
  }

  async function problemAt(storeUrl: string): Promise<string | null> {
    return problemOf(await openSqlStore(storeUrl));
  }

  describe('TLS', () => {
    const byName = (of: string, ssl: string) =>
      `${of.replace('127.0.0.1', 'localhost')}?ssl=${encodeURIComponent(ssl)}`;

    test.each<[what: string, url: () => string, problem: string | null]>([
      ['is verified by a file of certificates', () => byName(special.url, certFile), null],
      [
        'is verified by those that Node.js trusts',
        () => byName(special.url, 'true'),
        'MariaDB has a TLS certificate that cannot be trusted; put ssl=FILE into the URL, the file of the authority that ' +
          'signed it (ERR_TLS_CERT_UNTRUSTED)',
      ],
      [
        'is asked for by the URL, of a server without it',
        () => byName(url, 'true'),
        'MariaDB has no TLS, and the URL asks for it by ssl; give it a certificate (HANDSHAKE_NO_SSL_SUPPORT)',
      ],
    ])('%s', async (_what, of, problem) => {
      expect(await problemAt(of())).toBe(problem);
    });

    // The last one: what follows uses no TLS.
    test('a certificate for another host is refused', async () => {
      certifyAs('db.example');
      await queryMariaDb(special.url, 'flush ssl');
      expect(await problemAt(byName(special.url, certFile))).toBe(
        'MariaDB has a TLS certificate for another host; put the host that it names into the URL ' +
          '(ERR_TLS_CERT_ALTNAME_INVALID)',
      );
    });
  });

  const CANNOT = 'this MySQL or MariaDB server cannot keep payments: ';

  test.each([
    [`binlog_format = 'STATEMENT'`, 'its binlog_format is STATEMENT; set it to ROW'],
    [`binlog_format = 'ROW'`, null],
    // A payment would not fit into it.
    ['max_allowed_packet = 4193280', 'its max_allowed_packet is under 4 MiB; set it to 16M'],
    ['max_allowed_packet = 4194304', null],
  ])('a server with %s: %s', async (setting, problem) => {
    const empty = await special.createDatabase();
    await queryMariaDb(empty, `set global ${setting}`);
    expect(await problemAt(empty)).toBe(problem && CANNOT + problem);
    expect((await tablesAt(empty)).length > 0).toBe(problem === null);
  });

  test('a payment with the longest texts is written whole by a server with the least packets that are allowed', async () => {
    const empty = await special.createDatabase();
    await queryMariaDb(empty, 'set global max_allowed_packet = 4194304');
    const store = await openedStoreAt(empty);
    const trial = new StoreTrial(store, store, new TestClock());
    // Each of its characters is escaped twice: in JSON, and in the query.
    const message = '"\\'.repeat(100_000);
    const { record } = await trial.publish(await trial.insert({ message, note: message }), 'succeeded', at(1));
    await trial.expectStored(record);
    await store.close();
  });

  const LOSES = 'a crash of its machine can lose payments that were reported as stored; set it to 1.';

  test.each([
    [2, 0, [`innodb_flush_log_at_trx_commit is 2: ${LOSES}`, `sync_binlog is 0: ${LOSES}`]],
    [0, 1, [`innodb_flush_log_at_trx_commit is 0: ${LOSES}`]],
    [1, 1_000, [`sync_binlog is 1000: ${LOSES}`]],
    [1, 1, []],
  ])(
    'with innodb_flush_log_at_trx_commit %i and sync_binlog %i it warns of what a power cut loses',
    async (flush, sync, expected) => {
      await queryMariaDb(
        special.url,
        `set global innodb_flush_log_at_trx_commit = ${flush}, global sync_binlog = ${sync}`,
      );
      expect(await problemAt(special.url)).toBeNull();
      expect(warnings).toEqual(expected.map((warning) => `The payment store: ${warning}`));
    },
  );

  describe('sessions of a given pool or Kysely instance', () => {
    const STRICT = `sql_mode = 'STRICT_TRANS_TABLES`;
    afterEach(() =>
      queryMariaDb(
        url,
        'set global sql_mode = default, global autocommit = 1, global completion_type = default, ' +
          'global sql_safe_updates = 0, global sql_select_limit = default',
      ),
    );

    test.each<[setting: string, problem: string, options?: PoolOptions]>([
      [`${STRICT}'`, "its connections do not use utf8mb4; set mysql2's charset", { charset: 'utf8_general_ci' }],
      [`sql_mode = 'NO_ENGINE_SUBSTITUTION'`, 'its sql_mode is not strict'],
      [`${STRICT},NO_BACKSLASH_ESCAPES'`, 'its sql_mode has NO_BACKSLASH_ESCAPES'],
      [`${STRICT},EMPTY_STRING_IS_NULL'`, 'its sql_mode has EMPTY_STRING_IS_NULL'],
      ['autocommit = 0', 'autocommit is off in the connections that the store is given'],
      [`completion_type = 'CHAIN'`, 'its completion_type begins or ends more than a transaction'],
      ['sql_safe_updates = 1', 'its sql_safe_updates is on'],
      ['sql_select_limit = 5', 'its sql_select_limit cuts what is read'],
    ])('with %s are refused: %s; connections of its own are set right', async (...row) => {
      const [setting, problem, options] = row;
      await queryMariaDb(url, `set global ${setting}`);
      const pool = mysql.createPool({ uri: url, ...options });
      const db = new Kysely<object>({ dialect: new MysqlDialect({ pool }) });
      for (const store of [mysqlPaymentStore({ pool }), sqlPaymentStore({ db, dialect: 'mariadb' })]) {
        expect(await problemOf(store)).toContain(CANNOT + problem);
      }
      expect(await tablesAt()).toEqual([]);
      expect(await problemAt(url)).toBeNull();
      await db.destroy();
    });
  });
});

async function tablesAt(of = url): Promise<unknown[]> {
  return queryMariaDb(of, 'show tables');
}
