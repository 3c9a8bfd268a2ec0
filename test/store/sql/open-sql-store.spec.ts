import { openSqlStore } from '../../../lib/store/sql/index.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';

let postgres: Postgres;

describe('open sql store', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(() => postgres.stop());

  test.each([
    ['sqlite:', 'sqlite: needs a file: sqlite:payments.db'],
    ['sqlite://', 'sqlite: needs a file: sqlite:payments.db'],
    ['postgres://u:secret@', 'a PostgreSQL URL looks like postgres://user:password@host:5432/database'],
    ['mysql://u:secret@host', 'a MySQL URL names a database: mysql://user:password@host:3306/database'],
    ['oracle://u:secret@host', 'a SQL store is sqlite:FILE, postgres://…'],
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
