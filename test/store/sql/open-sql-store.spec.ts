import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlStore } from '../../../lib/store/sql/index.js';
import type { TestClock } from '../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';
import { paymentStoreContract } from '../contract/payment-store-contract.js';

let postgres: Postgres;
const folder = mkdtempSync(join(tmpdir(), 'payments-'));

describe('open sql store', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['sqlite', (): Promise<string> => Promise.resolve(`sqlite:${join(folder, 'url.db')}`)],
    ['postgres', () => postgres.createDatabase()],
    ['postgresql', async () => (await postgres.createDatabase()).replace('postgres:', 'postgresql:')],
  ])('%s', async (_name, url) => {
    const create = async (clock: TestClock) => {
      const store = await openSqlStore(await url(), { clock });
      await store.open();
      return store;
    };
    for (const check of paymentStoreContract.slice(0, 3)) await check.run({ create });
  });

  test.each([
    ['sqlite:', 'sqlite: needs a file: sqlite:payments.db'],
    ['postgres://u:secret@', 'a PostgreSQL URL looks like postgres://user:password@host:5432/database'],
    ['mysql://u:secret@host', 'a MySQL URL names a database: mysql://user:password@host:3306/database'],
    ['oracle://u:secret@host', 'a SQL store is sqlite:FILE, postgres://…, mysql://… or mariadb://…'],
  ])('%s is refused', async (url, message) => {
    await expect(openSqlStore(url)).rejects.toThrow(message);
  });

  test.each([
    [
      'a dead server',
      () => 'postgres://ada:geheim@127.0.0.1:1/shop',
      'PostgreSQL does not answer; is it running, and reachable from here? (ECONNREFUSED)',
    ],
    [
      'no such database',
      () => postgres.url.replace('postgres@', 'postgres:geheim@').replace(/postgres$/, 'geheim'),
      'PostgreSQL has no such database (3D000)',
    ],
    [
      'no such user',
      () => postgres.url.replace('postgres@', 'ada:geheim@'),
      'PostgreSQL refuses this user or password (28000)',
    ],
  ])('%s: a start-up error that says so', async (_name, url, message) => {
    const store = await openSqlStore(url());
    const error = await store.open().then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    expect(error?.message).toBe(message);
    expect(`${error?.stack}${JSON.stringify(error)}${String(error?.cause)}`).not.toMatch(/geheim|ada/);
    await store.close();
  });
});
