import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import Database from 'better-sqlite3';
import { paymentSchema, SCHEMA_VERSION } from '../../lib/store/sql/schema.js';
import { cliHere } from './cli.js';
import { scratch } from './scratch.js';
import { Shop } from './shop.js';

type Variables = Readonly<Record<string, string>>;
type Words = readonly string[];

/** Settings with which the gateway would be asked, were there a store. */
const GATEWAY = {
  PAYMENT_DIALECT: 'morpos',
  PAYMENT_BASE_URL: 'http://127.0.0.1:9',
  PAYMENT_MERCHANT_ID: 'M-1',
  PAYMENT_CLIENT_ID: 'C-1',
  PAYMENT_CLIENT_SECRET: 'c2VjcmV0',
  PAYMENT_API_KEY: 'K-1',
};

const NOVEMBER = ['export', '--from', '2025-11-01', '--to', '2025-11-30'];

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
  NOVEMBER,
].map((words) => ['payments', ...words]);
const LIST = COMMANDS[0]!;

const EXPORT = ['payments', ...NOVEMBER, '--store', 'sqlite:payments.sqlit'];
const RESOLVE = ['payments', 'resolve', 'A', 'failed'];

describe('what is typed', () => {
  const { folder: cwd, file, remove } = scratch();
  const shopFolder = scratch();
  let shop: Shop;
  /** A payment that succeeded. */
  let id: string;
  beforeAll(async () => {
    shop = await Shop.open(shopFolder.folder);
    id = await shop.paid();
    mkdirSync(file('folder'));
    symlinkSync(file('others.csv'), file('link.csv'));
  });
  afterAll(async () => {
    await shop?.close();
    shopFolder.remove();
    remove();
  });

  /** Runs a command that is refused: it prints no result, shows no secret, makes no file and sends nothing. */
  async function refused(words: Words, env: Variables = GATEWAY) {
    const { requests } = shop.simulator;
    const before = [contents(cwd), requests.length];
    const { status, stdout, stderr } = await cliHere(words, { cwd, env });
    expect(stdout).toBe('');
    expect(stderr).not.toContain('geheim');
    expect([contents(cwd), requests.length]).toEqual(before);
    return { status, stderr };
  }

  it.each<[Words, string]>([
    [[], 'Usage:'],
    [['payments'], '"payments" needs a command: list, show, stats, inquire, resolve, abandon, refund, void, refunds,'],
    [['payments', 'lst'], 'There is no command "payments lst". The commands are: list, show, stats, inquire, resolve,'],
    [
      [...LIST, '--acount', 'shop'],
      `Unknown option '--acount'\n"nestjs-card-payment payments list --help" explains it.`,
    ],
    [[...LIST, '-x'], "Unknown option '-x'\n"],
    [[...LIST, '--store'], "Option '--store <value>' argument missing"],
    [[...LIST, '--json=yes'], "Option '--json' does not take an argument"],
    [[...LIST, 'unknown'], '"payments list" has no use for the argument "unknown".'],
    [['payments', 'stats', 'postgres://ada:geheim@db/shop'], 'no use for the argument "postgres://…".'],
    [['postgres://ada:geheim@db/shop'], 'There is no command "postgres://…".'],
    [[...LIST, '--state', 'unkown'], 'there is no state "unkown"; there are charging, initiating, awaiting,'],
    [[...LIST, '--state', 'refunding'], 'there is no state "refunding"'],
    [[...LIST, '--limit', '0'], '--limit takes a whole number from 1 to 1000.'],
    [[...LIST, '--limit', '1001'], '--limit takes a whole number from 1 to 1000.'],
    [[...LIST, '--env', 'folder'], '--env: folder is a folder.'],
    [[...LIST, '--account', 'default/refunds', '--store', 'STORE'], 'name: must begin with a letter or digit'],
    [['payments', 'show'], '"payments show" takes CONVERSATION_ID: CONVERSATION_ID is missing.'],
    [['payments', 'replay', 'mail'], 'EVENT_ID is missing.'],
    [
      ['payments', 'resolve', 'A', 'paid', '--note', 'x'],
      'takes a conversationId or refundId, then succeeded or failed.',
    ],
    [RESOLVE, '"payments resolve" needs --note'],
    [[...RESOLVE, '--note', ' '], '"payments resolve" needs --note'],
    [[...RESOLVE, '--note', 'x', '--by', ''], '--by takes the name of who asks'],
    [['payments', 'refunds', 'A', 'B'], '"payments refunds" has no use for the argument "B".'],
    [['payments', 'refunds', '--state', 'expired'], 'there is no state "expired"; there are'],
    [['payments', 'record-refund', 'A', '--key', 'K'], '"payments record-refund" needs --amount.'],
    [['payments', 'record-refund', 'A', '--amount', '1'], '"payments record-refund" needs --refund-id or --key'],
    [['payments', 'record-refund', 'A', '--amount', '1', '--key', 'K'], '"payments record-refund" needs --note'],
    [[...EXPORT, '--from', '2025-12-01'], 'give the earlier one to --from'],
    [[...EXPORT, '--to', '2025-11-31'], '--to: there is no day 2025-11-31.'],
    [[...EXPORT, '--from', 'yesterday'], '--from takes a day such as 2026-11-01'],
    [[...EXPORT, '--zone', '+03:00'], 'there is no time zone "+03:00"; it takes a name such as Europe/Istanbul'],
    [[...EXPORT, '--format', 'xlsx'], '--format takes csv, excel or json.'],
    [['schema'], '--dialect takes sqlite, postgres, mysql or mariadb.'],
    [['schema', '--dialect', 'oracle'], '--dialect takes sqlite, postgres, mysql or mariadb.'],
    [['doctor', '--skip', 'teeth'], '--skip: there is no check "teeth"'],
    [['doctor', '--timeout', '0'], '--timeout takes a whole number from 1 to 60.'],
    [['doctor', '--callback', 'shop.example'], '--callback must be an absolute https URL.'],
    [['doctor', '--callback', 'https://shop.example/back?token=geheim'], '--callback must'],
    [['doctor', '--callback', 'https://ada:geheim@shop.example'], '--callback must'],
    [['doctor', '--env', 'production.env'], '--env: there is no file production.env.'],
    [['simulate', '--host', '192.0.2.1'], 'of 192.0.2.1 cannot be opened (EADDRNOTAVAIL): choose another with --port'],
    [['simulate', '--host', 'no-such-host.invalid'], 'of no-such-host.invalid cannot be opened (E'],
    [['simulate', '--port', '65536'], '--port takes a whole number from 0 to 65535.'],
    [['simulate', '--port', 'http'], '--port takes a whole number from 0 to 65535.'],
    [['simulate', '--public-url', 'phone'], '--public-url takes an address such as'],
    [['simulate', '--public-url', 'ftp://phone'], '--public-url takes an address such as'],
    [['simulate', '--dialect', 'zzz'], '--dialect takes morpos or standard'],
  ])('is refused: %j', async (words, message) => {
    const { status, stderr } = await refused(
      words.map((word) => (word === 'STORE' ? shop.env['PAYMENT_STORE_URL']! : word)),
    );
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  const UNKNOWN_CLIENT = { PAYMENT_CLIENT_ID: '', PAYMENT_CLIENT_SECRET: 'geheim' };
  const EMBEDDED =
    'PAYMENT_BASE_URL is the simulator inside the application, which only the application itself can ask';
  const STANDARD = 'The dialect "standard" (PAYMENT_DIALECT) has no request for this';

  /** Where PAYMENT stands, it is a payment that succeeded. A message that ends its line is the whole one. */
  it.each<[Words, Variables, status: 1 | 2, message: string]>([
    [['inquire', 'A'], { PAYMENT_DIALECT: '' }, 2, STANDARD],
    [['inquire', 'A'], { PAYMENT_BASE_URL: 'simulator:', PAYMENT_STORE_URL: '' }, 2, EMBEDDED],
    [['inquire', 'A'], { PAYMENT_BASE_URL: 'Simulator:', PAYMENT_STORE_URL: 'memory:' }, 2, EMBEDDED],
    [['inquire', 'A'], UNKNOWN_CLIENT, 2, 'clientId (PAYMENT_CLIENT_ID): is missing'],
    [['abandon', 'A'], { PAYMENT_DIALECT: 'standard' }, 2, STANDARD],
    [['abandon', 'A'], { PAYMENT_BASE_URL: 'simulator:' }, 2, EMBEDDED],
    [['abandon', 'PAYMENT'], {}, 1, 'A direct payment that is succeeded cannot be abandoned.'],
    [['refund', 'PAYMENT', '--yes'], { PAYMENT_DIALECT: '' }, 2, STANDARD],
    [['void', 'PAYMENT', '--yes'], { PAYMENT_DIALECT: 'standard' }, 2, STANDARD],
    [['refund', 'PAYMENT', '--yes'], { PAYMENT_BASE_URL: 'simulator:' }, 2, EMBEDDED],
    [['void', 'PAYMENT', '--yes'], { PAYMENT_BASE_URL: 'simulator:' }, 2, EMBEDDED],
    [['refund', 'PAYMENT', '--yes'], UNKNOWN_CLIENT, 2, 'clientId (PAYMENT_CLIENT_ID): is missing'],
    [['refund', 'PAYMENT', '--yes', '--amount', '0'], {}, 2, '--amount'],
    [['refund', 'PAYMENT', '--yes', '--amount=-1'], {}, 2, '--amount'],
    [['refund', 'PAYMENT', '--yes', '--amount', '1,50'], {}, 2, '--amount'],
    [['refund', 'PAYMENT', '--yes', '--amount', '1.999'], {}, 2, '--amount'],
    [['refund', 'PAYMENT', '--yes', '--amount', '149.91'], {}, 1, 'it is more than is left. 149.90 is left to give'],
    [['refund', 'PAYMENT', '--yes', '--refund-id', ''], {}, 2, 'refundId must be'],
    [['refund', 'PAYMENT', '--yes', '--key', ' '], {}, 2, 'idempotencyKey must be'],
    [['refund', 'PAYMENT', '--yes', '--by', ' '], {}, 2, '--by'],
    [['refund', 'PAYMENT', '--yes', '--refund-id', 'A', '--key', 'B'], {}, 2, 'Give --refund-id or --key, not both.'],
    [['refund', 'PAYMENT', '--json'], {}, 2, '"payments refund" asks before it sends anything'],
    [['void', 'PAYMENT', '--json'], {}, 2, '"payments void" asks before it sends anything'],
    [['show', 'NOBODY', '--json'], {}, 1, 'There is no payment or refund NOBODY in the account "default".\n'],
    [['resolve', 'NOBODY', 'failed', '--note', 'seen'], {}, 1, 'There is no payment or refund NOBODY'],
    [['inquire', 'NOBODY'], {}, 1, 'There is no payment or refund NOBODY'],
    [['abandon', 'NOBODY'], {}, 1, 'There is no payment or refund NOBODY'],
    [['refund', 'NOBODY', '--yes'], {}, 1, 'There is no payment NOBODY in the account "default".\n'],
    [['refunds', 'NOBODY'], {}, 1, 'There is no payment NOBODY'],
    [['replay', 'mail', 'NOBODY:4'], {}, 1, 'There is no parked delivery of NOBODY:4 to mail'],
    [[...NOVEMBER, '--output', 'folder'], {}, 2, 'folder is something else.'],
    [[...NOVEMBER, '--output', 'link.csv'], {}, 2, 'link.csv is something else.'],
    [[...NOVEMBER, '--output', 'no/x.csv'], {}, 1, 'is there such a folder'],
  ])('is refused in a shop: %j with %j', async (words, change, status, message) => {
    const typed = ['payments', ...words].map((word) => (word === 'PAYMENT' ? id : word));
    const before = await shop.payments.refunds(id);
    const { status: ended, stderr } = await refused(typed, { ...shop.env, ...change });
    expect(stderr).toContain(message);
    if (message.endsWith('\n')) expect(stderr).toBe(message);
    expect(ended).toBe(status);
    expect(await shop.payments.refunds(id)).toEqual(before);
  });

  it.each([
    ['', 'No store is named: PAYMENT_STORE_URL is not set.'],
    ['memory:', "PAYMENT_STORE_URL is memory: those payments are known to the application's own process alone"],
    ['oracle://ada:geheim@db/shop', 'PAYMENT_STORE_URL must be memory:, sqlite:FILE, postgres://…, mysql://…'],
    ['redis://ada:geheim@127.0.0.1:1', 'PAYMENT_STORE_URL must not be Redis: a fail-over of Redis may lose'],
    ['postgres://ada:geheim%zz@127.0.0.1:1/shop', 'must have each % in its user and password written as %25'],
  ])('is refused with the store %j', async (url, message) => {
    const { status, stderr } = await refused([...LIST, '--json'], { ...GATEWAY, PAYMENT_STORE_URL: url });
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each(COMMANDS.map((words) => [words]))('%j neither guesses a store nor makes one', async (words) => {
    const unset = await refused(words);
    expect([unset.status, unset.stderr]).toEqual([2, expect.stringContaining('PAYMENT_STORE_URL is not set.')]);
    const missing = await refused([...words, '--store', 'sqlite:payments.sqlit']);
    const text = expect.stringContaining('there is no SQLite file payments.sqlit') as string;
    expect([missing.status, missing.stderr]).toEqual([1, text]);
  });

  it.each([
    ['sqlite:nowhere/payments.sqlite', 'there is no SQLite file nowhere/payments.sqlite'],
    ['sqlite::memory:', 'there is no SQLite file :memory:'],
    ['postgres://ada:geheim@127.0.0.1:1/shop', 'PostgreSQL does not answer'],
    ['mysql://ada:geheim@127.0.0.1:1/shop', 'MySQL does not answer'],
    ['mariadb://ada:geheim@127.0.0.1:1/shop', 'MariaDB does not answer'],
  ])('says that %s cannot be opened, and makes nothing', async (url, message) => {
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
  ])('leaves %s as it is', async (_what, make, message) => {
    make(file('payments.sqlite'));
    for (const words of [LIST, COMMANDS[4]!, COMMANDS[6]!]) {
      const { status, stderr } = await refused([...words, '--store', 'sqlite:payments.sqlite']);
      expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    rmSync(file('payments.sqlite'), { recursive: true });
  });

  it("shows nothing of a driver's message", async () => {
    // A server that does not speak PostgreSQL, and whose reply contains a password.
    const server = createServer((socket) => socket.end('FATAL password=geheim')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { status, stderr } = await refused([...LIST, '--store', `postgres://ada:geheim@127.0.0.1:${port}/shop`]);
    server.close();
    expect([status, stderr]).toEqual([1, expect.stringContaining('cannot be opened: PostgreSQL')]);
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
  return Object.fromEntries(names.map((one) => [one.name, one.isFile() ? hash(`${folder}/${one.name}`) : 'no file']));
}
