import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import { paymentSchema, SCHEMA_VERSION } from '../../lib/store/sql/schema.js';
import { startPostgres, type Postgres } from '../services/postgres.js';
import { cliHere } from './cli.js';
import { scratch } from './scratch.js';

/** Settings with which an inquiry would be made, were there a store. */
const GATEWAY = {
  PAYMENT_DIALECT: 'morpos',
  PAYMENT_BASE_URL: 'http://127.0.0.1:9',
  PAYMENT_MERCHANT_ID: 'M-1',
  PAYMENT_CLIENT_ID: 'C-1',
  PAYMENT_CLIENT_SECRET: 'c2VjcmV0',
  PAYMENT_API_KEY: 'K-1',
};

/** Every command that looks into a store. */
const COMMANDS = [
  ['list'],
  ['list', '--reference', 'order-1'],
  ['show', 'A'],
  ['stats'],
  ['parked'],
  ['resolve', 'A', 'failed', '--note', 'seen in the panel'],
  ['replay', 'mail', 'A:1'],
  ['inquire', 'A'],
  ['abandon', 'A'],
  ['refund', 'A', '--yes'],
  ['refunds'],
  ['record-refund', 'A', '--amount', '1', '--key', 'K', '--note', 'panel'],
  ['export', '--from', '2025-11-01', '--to', '2025-11-30'],
].map((words) => ['payments', ...words]);

const LIST = COMMANDS[0]!;
/** Those that differ in what they do next. */
const DIFFERENT = [['stats'], ['resolve', 'A', 'failed', '--note', 'seen'], ['inquire', 'A']].map((words) => [
  'payments',
  ...words,
]);

describe('without a store', () => {
  const { folder: cwd, file, remove } = scratch();
  afterAll(remove);

  it.each([
    [undefined, 'No store is named: PAYMENT_STORE_URL is not set.'],
    ['', 'No store is named: PAYMENT_STORE_URL is not set.'],
    ['memory:', "PAYMENT_STORE_URL is memory: those payments are known to the application's own process alone"],
    [
      'oracle://ada:geheim@db/shop',
      'PAYMENT_STORE_URL must be memory:, sqlite:FILE, postgres://…, mysql://…, mariadb://…',
    ],
    [
      'mysqli://ada:geheim@db/shop',
      'PAYMENT_STORE_URL must be memory:, sqlite:FILE, postgres://…, mysql://…, mariadb://…',
    ],
    ['redis://ada:geheim@127.0.0.1:1', 'PAYMENT_STORE_URL must not be Redis: a fail-over of Redis may lose'],
    ['mysql://ada:geheim%zz@127.0.0.1:1/shop', 'must have each % in its user and password written as %25'],
    ['postgres://ada:geheim%zz@127.0.0.1:1/shop', 'must have each % in its user and password written as %25'],
  ])('the store %s is refused', async (url, message) => {
    const env = { ...GATEWAY, ...(url !== undefined && { PAYMENT_STORE_URL: url }) };
    const { status, stdout, stderr } = await cliHere([...LIST, '--json'], { cwd, env });
    expect(stderr).toContain(message);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).not.toContain('geheim');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each(COMMANDS.map((words) => [words.join(' '), words]))(
    '"%s" neither guesses one nor makes one',
    async (_name, words) => {
      const unset = await cliHere(words, { cwd, env: GATEWAY });
      expect(unset.stderr).toContain('No store is named: PAYMENT_STORE_URL is not set.');
      expect([unset.status, unset.stdout]).toEqual([2, '']);
      const mistyped = await cliHere([...words, '--store', 'sqlite:payments.sqlit'], { cwd, env: GATEWAY });
      expect(mistyped.stderr).toContain('there is no SQLite file payments.sqlit');
      expect([mistyped.status, mistyped.stdout]).toEqual([1, '']);
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  it.each([
    ['sqlite:nowhere/payments.sqlite', 'there is no SQLite file nowhere/payments.sqlite'],
    ['sqlite::memory:', 'there is no SQLite file :memory:'],
    ['postgres://ada:geheim@127.0.0.1:1/shop', 'PostgreSQL does not answer'],
    ['mysql://ada:geheim@127.0.0.1:1/shop', 'MySQL does not answer'],
    ['mariadb://ada:geheim@127.0.0.1:1/shop', 'MariaDB does not answer'],
    ['mariadb://ada:geheim@127.0.0.1:1', 'a MySQL URL names a database'],
  ])('%s fails, and nothing is made', async (url, message) => {
    const { status, stdout, stderr } = await cliHere([...LIST, '--store', url], { cwd, env: GATEWAY });
    expect(stderr).toContain(`The store (--store) cannot be opened: `);
    expect(stderr).toContain(message);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).not.toContain('geheim');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each<[string, (name: string) => void, string]>([
    ['an empty file', (name) => writeFileSync(name, ''), 'the payment tables are missing'],
    ['a database of others', (name) => new Database(name).exec('create table orders (id text)').close(), 'are missing'],
    ['a file that is no database', (name) => writeFileSync(name, 'orders\n'.repeat(200)), 'is damaged, or no SQLite'],
    ['a folder', (name) => mkdirSync(name), 'cannot be opened'],
    ['older tables', (name) => ofVersion(name, 0), `of version 0|are missing`],
    ['newer tables', (name) => ofVersion(name, SCHEMA_VERSION + 1), 'newer than this release'],
  ])('%s stays as it is', async (_what, make, message) => {
    make(file('payments.sqlite'));
    const before = contents(cwd);
    for (const words of [LIST, ...DIFFERENT]) {
      const { status, stdout, stderr } = await cliHere([...words, '--store', 'sqlite:payments.sqlite'], {
        cwd,
        env: GATEWAY,
      });
      expect(stderr).toMatch(new RegExp(message));
      expect([status, stdout]).toEqual([1, '']);
      expect(contents(cwd)).toEqual(before);
    }
    rmSync(file('payments.sqlite'), { recursive: true });
  });
});

describe('on a server', () => {
  const { folder: cwd, remove } = scratch();
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await postgres?.stop();
    remove();
  });

  it.each([LIST, ...DIFFERENT].map((words) => [words.join(' '), words]))(
    '"%s" makes no table in PostgreSQL',
    async (_name, words) => {
      const url = await postgres.createDatabase();
      const { status, stdout, stderr } = await cliHere([...words, '--store', url], { cwd, env: GATEWAY });
      expect(stderr).toContain('the payment tables are missing');
      expect([status, stdout]).toEqual([1, '']);
      expect(await ask(url, 'select tablename from pg_tables where schemaname = $1', ['public'])).toEqual([]);
    },
  );

  it('leaves newer tables in PostgreSQL alone', async () => {
    const url = await postgres.createDatabase();
    await ask(url, paymentSchema('postgres'));
    await ask(url, `update card_payment_schema set version = 99, lowest = 99`);
    const { status, stderr } = await cliHere([...LIST, '--store', url], { cwd });
    expect(stderr).toContain('the payment tables are of version 99, newer than this release');
    expect(status).toBe(1);
    expect(await ask(url, 'select version from card_payment_schema')).toEqual([{ version: 99 }]);
  });

  it('says that a database does not exist', async () => {
    const url = postgres.url.replace(/postgres$/, 'shopp');
    const { status, stderr } = await cliHere(['payments', 'list', '--store', url], { cwd });
    expect(stderr).toContain('PostgreSQL has no such database (3D000)');
    expect(status).toBe(1);
  });
});

function ofVersion(file: string, version: number): void {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec(paymentSchema('sqlite'));
  if (version === 0) database.exec('delete from card_payment_schema');
  else database.prepare('update card_payment_schema set version = ?, lowest = ?').run(version, version);
  database.close();
}

/** The names in a folder, and what is in the files. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true });
  return Object.fromEntries(
    names.map((one) => [
      one.name,
      one.isFile()
        ? createHash('sha256')
            .update(readFileSync(`${folder}/${one.name}`))
            .digest('hex')
        : 'a folder',
    ]),
  );
}

async function ask(url: string, sql: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (values.length > 0 ? await client.query(sql, values) : await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
