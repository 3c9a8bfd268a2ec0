import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { COMMANDS } from '../../lib/cli/commands.js';
import { REFUND_STATES, SALE_STATES } from '../../lib/payment/states.js';
import { sqlitePaymentStore } from '../../lib/store/sql/index.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { builtMain, cli, cliHere } from './cli.js';
import { documented, wholePage } from './documented.js';
import { scratch } from './scratch.js';

/** Those that people were told of: one that is gone or renamed breaks their scripts. */
const NAMES = [
  'doctor',
  'simulate',
  'schema',
  'payments list',
  'payments show',
  'payments stats',
  'payments inquire',
  'payments resolve',
  'payments abandon',
  'payments refund',
  'payments void',
  'payments refunds',
  'payments record-refund',
  'payments export',
  'payments parked',
  'payments replay',
];
/** Those that are explained once for all commands. */
const EVERYWHERE = ['account', 'env', 'store', 'json', 'by'];

it('has the commands that its page has', () => {
  const headings = [...wholePage().matchAll(/^## ([a-z -]+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(NAMES);
  expect(Object.keys(COMMANDS)).toEqual(NAMES);
});

/** Writes the address of each module that is loaded to standard error. */
const LOADED = `export const load = (url, context, next) => { process._rawDebug(url); return next(url, context); };`;
const REGISTER = `import { register } from 'node:module'; register(${JSON.stringify(scriptUrl(LOADED))});`;

it.each([[['--version']], [['--help']], [['payments', '--help']], [['payments', 'refund', '--help']]])(
  '%j loads nothing but the command line itself',
  async (words) => {
    const args = ['--import', scriptUrl(REGISTER), builtMain(), ...words];
    const { stderr } = await promisify(execFile)(process.execPath, args);
    const loaded = stderr.split('\n').filter((url) => url.startsWith('file:'));
    const own = /\/(main|command|command-line|layout|node-version2?|rolldown-runtime)\.js$/;
    expect(loaded.filter((url) => !own.test(url))).toEqual([]);
    expect(loaded.length).toBeGreaterThan(1);
  },
);

function scriptUrl(script: string): string {
  return `data:text/javascript,${encodeURIComponent(script)}`;
}

describe('the command line', () => {
  const { folder: cwd, file, remove } = scratch();
  afterAll(remove);

  it.each([['--help'], ['help'], ['-h']])('explains itself (%s)', async (word) => {
    const { status, stdout, stderr } = await cliHere([word], { cwd });
    expect([status, stderr]).toEqual([0, '']);
    for (const name of NAMES) expect(stdout).toContain(`  ${name} `);
  });

  it.each(Object.entries(COMMANDS))('explains %s, as its page does', async (name, { args, options, load }) => {
    const { status, stdout, stderr } = await cliHere([...name.split(' '), '--help'], { cwd });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: nestjs-card-payment ${[name, ...args].join(' ')}`);
    expect(stdout).toContain('Exit status:');
    await expect(cliHere(['help', ...name.split(' ')], { cwd })).resolves.toMatchObject({ status, stdout, stderr });
    await expect(load()).resolves.toBeInstanceOf(Function);
    const [section, page] = [documented(name), wholePage()];
    for (const arg of args) expect(page).toContain(arg);
    for (const option of options) {
      expect(stdout).toContain(`--${option}`);
      expect(EVERYWHERE.includes(option) ? page : section).toContain(`--${option}`);
    }
  });

  it.each([
    ['payments list', SALE_STATES],
    ['payments refunds', REFUND_STATES],
  ])('names the states in the help of %s', (name, states) => {
    const [, named = ''] = /States: ([\s\S]*?)\./.exec(COMMANDS[name]?.notes ?? '') ?? [];
    expect(named.split(/,\s+/).sort()).toEqual([...states].sort());
  });

  it('explains a group', async () => {
    const { status, stdout } = await cliHere(['payments', '--help'], { cwd });
    expect([status, stdout]).toEqual([0, expect.stringContaining('payments inquire CONVERSATION_ID')]);
    expect(stdout).not.toContain('simulate');
  });

  it.each([['--version'], ['-v'], ['version']])('says its version (%s)', async (word) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    await expect(cli([word], { cwd })).resolves.toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('says what is wrong on standard error alone, with status 2', async () => {
    const { status, stdout, stderr } = await cli(['migrate', '--json'], { cwd });
    expect(stderr).toBe(
      'There is no command "migrate". The commands are: doctor, simulate, schema, payments.\n' +
        '"nestjs-card-payment --help" explains it.\n',
    );
    expect([status, stdout]).toEqual([2, '']);
  });

  it('prints the tables of a database, and ends without a word when nobody reads on', async () => {
    const { status, stdout } = await cliHere(['schema', '--dialect', 'postgres'], { cwd });
    expect([status, stdout]).toEqual([0, expect.stringContaining('create table if not exists card_payment (')]);
    const child = spawn(process.execPath, [builtMain(), 'schema', '--dialect', 'sqlite'], { cwd });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await once(child, 'exit');
    expect(stderr).toBe('');
  });

  it('asks at a terminal, and takes the end of the input for a no', async () => {
    // `script` gives the command a terminal.
    const command = `${process.execPath} ${builtMain()} payments refund A`;
    const store = `sqlite:${file('asked.sqlite')}`;
    const opened = sqlitePaymentStore({ file: file('asked.sqlite') });
    await opened.open();
    await opened.insert(aPaymentRecord({ conversationId: 'A' }));
    await opened.close();
    const gateway = ['MERCHANT_ID', 'CLIENT_ID', 'CLIENT_SECRET', 'API_KEY'].map((name) => [`PAYMENT_${name}`, 'x']);
    const env = {
      ...{ PATH: process.env['PATH'], PAYMENT_STORE_URL: store, PAYMENT_DIALECT: 'morpos' },
      ...{ PAYMENT_BASE_URL: 'http://127.0.0.1:9', ...(Object.fromEntries(gateway) as Record<string, string>) },
    };
    for (const typed of ['n\n', '\u0004']) {
      const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env });
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
        if (shown.includes('[y/N]')) child.stdin.end(typed);
      });
      const [status] = (await once(child, 'exit')) as [number];
      expect(shown).toContain('Nothing was sent.');
      expect(status).toBe(1);
    }
  });
});

describe('where the command line has its settings from', () => {
  const { folder: cwd, file, remove } = scratch();
  const LIST = ['payments', 'list', '--state', 'all', '--json'];
  const idsBy = async (more: readonly string[], env = {}) => {
    const { stdout } = await cliHere([...LIST, ...more], { cwd, env });
    return (JSON.parse(stdout) as { payments: { conversationId: string }[] }).payments.map((one) => one.conversationId);
  };

  beforeAll(async () => {
    for (const name of ['one', 'other']) {
      const store = sqlitePaymentStore({ file: file(`${name}.sqlite`) });
      await store.open();
      await store.insert(aPaymentRecord({ conversationId: name }));
      await store.insert(aPaymentRecord({ conversationId: `shop of ${name}`, account: 'shop-2' }));
      await store.close();
    }
    writeFileSync(file('.env'), 'PAYMENT_STORE_URL=sqlite:one.sqlite\n');
    writeFileSync(
      file('other.env'),
      'PAYMENT_STORE_URL=sqlite:other.sqlite\nPAYMENT_SHOP_2_STORE_URL=sqlite:one.sqlite\n',
    );
  });
  afterAll(remove);

  it('reads .env in the working directory, or the file that is named', async () => {
    expect(await idsBy([])).toEqual(['one']);
    expect(await idsBy(['--env', 'other.env'])).toEqual(['other']);
  });

  it('lets a variable that is set win over the file, and --store over both', async () => {
    const env = { PAYMENT_STORE_URL: `sqlite:${file('other.sqlite')}` };
    expect(await idsBy([], env)).toEqual(['other']);
    expect(await idsBy(['--store', 'sqlite:one.sqlite'], env)).toEqual(['one']);
  });

  it('reads the variables of a named account, and no others', async () => {
    const without = await cliHere([...LIST, '--account', 'shop-2'], { cwd });
    expect([without.status, without.stdout]).toEqual([2, '']);
    expect(without.stderr).toContain('PAYMENT_SHOP_2_STORE_URL is not set');
    expect(await idsBy(['--account', 'shop-2', '--env', 'other.env'])).toEqual(['shop of one']);
  });
});
