import { openSqlStore } from 'nestjs-card-payment/sql';
import { checkMysqlVersion } from '../../../../lib/store/sql/engines/mysql-server.js';
import { checkPostgresServer } from '../../../../lib/store/sql/engines/postgres-server.js';
import type { RunStatement } from '../../../../lib/store/sql/engine.js';

/** What servers that speak MySQL's protocol say of themselves, and what they are refused as; null if they are not. */
const MYSQL: readonly (readonly [version: string, comment: string, refused: string | null])[] = [
  ['8.0.11-TiDB-v8.5.6', 'TiDB Server (Apache License 2.0), MySQL 8.0 compatible', 'cannot be kept in TiDB: it '],
  ['8.0.31-Vitess', `Version: 19.0.3 (Git revision 3b4fcf8e8d branch 'HEAD')`, 'cannot be kept in Vitess: it '],
  ['8.0.0-dmr', 'MySQL Community Server (GPL)', 'and this is 8.0.0'],
  ['10.5.23-MariaDB-1:10.5.23+maria~ubu2004', 'mariadb.org', 'need MariaDB 10.6 or later'],
  ['8.0.1-dmr', 'MySQL Community Server (GPL)', null],
  ['8.0.36-28.1', 'Percona XtraDB Cluster (GPL), Release rel28, Revision bfb687f, WSREP version 26.1.4.3', null],
  ['10.6.0-MariaDB', 'mariadb.org binary distribution', null],
  ['11.4.2-MariaDB-ubu2404-log', 'mariadb.org binary distribution', null],
];

/** The same for PostgreSQL's protocol, with a catalog of their own where they give PostgreSQL's version. */
const POSTGRES: readonly (readonly [version: string, catalog: RegExp, refused: string | null])[] = [
  ['CockroachDB CCL v24.1.2 (x86_64-pc-linux-gnu)', /crdb_/, 'cannot be kept in CockroachDB: it '],
  ['PostgreSQL 8.0.2 on i686, Redshift 1.0.77467', /svv_/, 'cannot be kept in Amazon Redshift: it '],
  ['PostgreSQL 14.1', /spanner_sys/, 'cannot be kept in Spanner: it '],
  ['PostgreSQL 11.2-YB-2.20.3.1-b2 on x86_64-pc-linux-gnu, 64-bit', /yb_/, 'need YugabyteDB 2025.1 or later'],
  ['PostgreSQL 15.2-YB-2.25.0.0-b0 on aarch64-unknown-linux-gnu', /yb_/, 'and this is 2.25'],
  ['PostgreSQL 14.1 (Debian 14.1-1.pgdg110+1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit', /^$/, null],
  ['PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu', /^$/, null],
];

describe('a server that only looks like one, or is too old', () => {
  test.each(MYSQL)('MySQL or MariaDB that calls itself %s (%s): %s', async (version, comment, message) => {
    const asked = checkMysqlVersion(() => Promise.resolve([{ version, comment }]));
    await expectRefusal(asked, message);
  });

  test.each(POSTGRES)('PostgreSQL that calls itself %s, with %s: %s', async (version, catalog, message) => {
    const run: RunStatement = ({ sql }) => {
      if (/version\(\)/.test(sql)) return Promise.resolve([{ version }]);
      return Promise.resolve(catalog.test(sql) ? [{ one: 1 }] : []);
    };
    await expectRefusal(checkPostgresServer(run), message);
  });

  test.each([
    ['postgres://admin:geheim@foobarbazquxabcdefghijklmn.dsql.us-east-1.on.aws/postgres', 'Aurora DSQL'],
    ['postgres:///postgres?host=foobarbazquxabcdefghijklmn.dsql.us-east-1.on.aws', 'Aurora DSQL'],
    ['mysql://ada:geheim@aws.connect.psdb.cloud/shop?ssl=true', 'PlanetScale'],
  ])('%s is refused by its host, without a connection', async (url, name) => {
    const store = await openSqlStore(url);
    await expect(store.open()).rejects.toThrow(`payments cannot be kept in ${name}: it `);
    await store.close();
  });
});

async function expectRefusal(asked: Promise<unknown>, message: string | null): Promise<void> {
  if (message === null) await expect(asked).resolves.not.toBeNull();
  else await expect(asked).rejects.toThrow(message);
}
