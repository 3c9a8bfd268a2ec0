import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import { paymentSchema, SCHEMA_VERSION } from '../../lib/store/sql/schema.js';
import { startPostgres, type Postgres } from '../services/postgres.js';
import { cliHere } from './cli.js';
import { scratch } from './scratch.js';

/** Settings with which the gateway would be asked, were there a store. */
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

const { folder: cwd, file, remove } = scratch();
/** Runs a command that is refused: it prints no result, shows no secret and makes no file. */
async function refused(words: readonly string[], env: Readonly<Record<string, string>> = GATEWAY) {
  const before = contents(cwd);
  const { status, stdout, stderr } = await cliHere(words, { cwd, env });
  expect(stdout).toBe('');
  expect(stderr).not.toContain('geheim');
  expect(contents(cwd)).toEqual(before);
  return { status, stderr };
}

describe('without a store', () => {
  it.each([
    ['', 'No store is named: PAYMENT_STORE_URL is not set.'],
    ['memory:', "PAYMENT_STORE_URL is memory: those payments are known to the application's own process alone"],
    ['oracle://ada:geheim@db/shop', 'PAYMENT_STORE_URL must be memory:, sqlite:FILE, postgres://…, mysql://…'],
    ['redis://ada:geheim@127.0.0.1:1', 'PAYMENT_STORE_URL must not be Redis: a fail-over of Redis may lose'],
    ['postgres://ada:geheim%zz@127.0.0.1:1/shop', 'must have each % in its user and password written as %25'],
  ])('the store %j is refused', async (url, message) => {
    const { status, stderr } = await refused([...LIST, '--json'], { ...GATEWAY, PAYMENT_STORE_URL: url });
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each(COMMANDS.map((words) => [words.join(' '), words]))(
    '"%s" neither guesses one nor makes one',
    async (_, words) => {
      expect(await refused(words)).toEqual({
        status: 2,
        stderr: expect.stringContaining('No store is named: PAYMENT_STORE_URL is not set.'),
      });
      expect(await refused([...words, '--store', 'sqlite:payments.sqlit'])).toEqual({
        status: 1,
        stderr: expect.stringContaining('there is no SQLite file payments.sqlit'),
      });
    },
  );

  it.each([
    ['sqlite:nowhere/payments.sqlite', 'there is no SQLite file nowhere/payments.sqlite'],
    ['sqlite::memory:', 'there is no SQLite file :memory:'],
    ['postgres://ada:geheim@127.0.0.1:1/shop', 'PostgreSQL does not answer'],
    ['mysql://ada:geheim@127.0.0.1:1/shop', 'MySQL does not answer'],
    ['mariadb://ada:geheim@127.0.0.1:1/shop', 'MariaDB does not answer'],
  ])('%s fails, and nothing is made', async (url, message) => {
    const { status, stderr } = await refused([...LIST, '--store', url]);
    expect(stderr).toContain('The store (--store) cannot be opened: ');
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  it.each<[string, (name: string) => void, string]>([
    ['an empty file', (name) => writeFileSync(name, ''), 'the payment tables are missing'],
    ['a database of others', (name) => new Database(name).exec('create table orders (id text)').close(), 'are missing'],
    ['a file that is no database', (name) => writeFileSync(name, 'orders\n'.repeat(200)), 'is damaged, or no SQLite'],
    ['a folder', (name) => mkdirSync(name), 'cannot be opened'],
    ['newer tables', (name) => ofVersion(name, SCHEMA_VERSION + 1), 'newer than this release'],
  ])('%s stays as it is', async (_what, make, message) => {
    make(file('payments.sqlite'));
    for (const words of [LIST, COMMANDS[4]!, COMMANDS[6]!]) {
      const { status, stderr } = await refused([...words, '--store', 'sqlite:payments.sqlite']);
      expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    rmSync(file('payments.sqlite'), { recursive: true });
  });
});

describe('on a server', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await postgres?.stop();
    remove();
  });

  it('makes no table, and leaves newer ones alone', async () => {
    const url = await postgres.createDatabase();
    const missing = await refused([...LIST, '--store', url]);
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('the payment tables are missing')]);
    expect(await ask(url, `select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
    await ask(url, paymentSchema('postgres'));
    await ask(url, `update card_payment_schema_version set version = 99, lowest = 99`);
    const newer = await refused([...LIST, '--store', url]);
    expect(newer.stderr).toContain('the payment tables are of version 99, newer than this release');
    expect(await ask(url, 'select version from card_payment_schema_version')).toEqual([{ version: 99 }]);
  });

  it('says that a database does not exist', async () => {
    const { status, stderr } = await refused([...LIST, '--store', postgres.url.replace(/postgres$/, 'shopp')]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('PostgreSQL has no such database (3D000)')]);
  });
});

function ofVersion(name: string, version: number): void {
  const database = new Database(name);
  database.pragma('journal_mode = WAL');
  database.exec(paymentSchema('sqlite'));
  database.prepare('update card_payment_schema_version set version = ?, lowest = ?').run(version, version);
  database.close();
}

/** The names in a folder, and what is in the files. */
function contents(folder: string): Record<string, string> {
  const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const names = readdirSync(folder, { withFileTypes: true });
  return Object.fromEntries(names.map((one) => [one.name, one.isFile() ? hash(`${folder}/${one.name}`) : 'a folder']));
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
