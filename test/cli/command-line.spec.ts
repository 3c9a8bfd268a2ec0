import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answer, COMMANDS } from '../../lib/cli/command-line.js';
import { cli } from './cli.js';
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

it('has the commands that its page has', () => {
  const page = wholePage();
  const headings = [...page.matchAll(/^## ([a-z -]+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(NAMES);
  expect(Object.keys(COMMANDS)).toEqual(NAMES);
});

/** Writes the address of each module that is loaded to standard error. */
const LOADED = `export const load = (url, context, next) => { process._rawDebug(url); return next(url, context); };`;
const REGISTER = `import { register } from 'node:module'; register(${JSON.stringify(scriptUrl(LOADED))});`;

it.each([
  [['--version'], []],
  [['schema', '--dialect', 'sqlite'], ['schema.command.js']],
])('%j imports the commands %j', async (words, commands) => {
  const args = ['--import', scriptUrl(REGISTER), 'dist/esm/cli/main.js', ...words];
  const { stderr } = await promisify(execFile)(process.execPath, args);
  expect(stderr).toContain('/cli/main.js');
  expect([...stderr.matchAll(/[\w-]+\.commands?\.js/g)].map(String)).toEqual(commands);
});

function scriptUrl(script: string): string {
  return `data:text/javascript,${encodeURIComponent(script)}`;
}

describe('the command line', () => {
  const { folder: cwd, remove } = scratch();
  afterAll(remove);

  it.each([['--help'], ['help'], ['-h']])('explains itself (%s)', async (word) => {
    const { status, stdout, stderr } = await cli([word], { cwd });
    expect(status).toBe(0);
    expect(stderr).toBe('');
    for (const name of NAMES) expect(stdout).toContain(`  ${name} `);
  });

  it.each(NAMES)('explains %s', async (name) => {
    const command = await COMMANDS[name]!();
    expect(command.name).toBe(name);
    const { status, stdout, stderr } = await cli([...name.split(' '), '--help'], { cwd });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: nestjs-card-payment ${[name, ...command.words].join(' ')}`);
    for (const option of Object.keys(command.options)) expect(stdout).toContain(`--${option}`);
    expect(stdout).toContain('Exit status:');
    await expect(answer(['help', ...name.split(' ')])).resolves.toMatchObject({ status, stdout, stderr });
  });

  it.each(Object.entries(COMMANDS))('has a page that says all of %s', async (name, load) => {
    const command = await load();
    const section = documented(name);
    const page = wholePage();
    for (const word of command.words) expect(page).toContain(word.replaceAll('|', '\\|'));
    for (const option of Object.keys(command.options)) {
      const place = ['account', 'env', 'store', 'json'].includes(option) ? page : section;
      expect(place).toContain(`--${option}`);
    }
  });

  it('explains a group', async () => {
    const { status, stdout } = await cli(['payments', '--help'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toContain('payments inquire CONVERSATION_ID');
    expect(stdout).not.toContain('simulate');
  });

  it.each([['--version'], ['-v'], ['version']])('says its version (%s)', async (word) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    await expect(cli([word], { cwd })).resolves.toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [[], 'Usage:'],
    [['docter'], 'There is no command "docter". Did you mean "doctor"?'],
    [['payment', 'list'], 'There is no command "payment". Did you mean "payments"?'],
    [['migrate'], 'There is no command "migrate". The commands are: doctor, simulate, schema, payments.'],
    [
      ['payments'],
      '"payments" needs a command: list, show, stats, inquire, resolve, abandon, refund, void, refunds, record-refund, export, parked, replay.',
    ],
    [['payments', 'lst'], 'There is no command "payments lst". Did you mean "payments list"?'],
    [['payments', 'list', '--acount', 'shop'], '"payments list" has no option --acount. Did you mean --account?'],
    [['payments', 'list', '--env-file', '.env'], '"payments list" has no option --env-file. Did you mean --env?'],
    [['payments', 'list', '--colour'], '"payments list" has no option --colour.\n'],
    [['payments', 'list', '-x'], '"payments list" has no option -x.'],
    [['payments', 'list', '--store'], "Option '--store <value>' argument missing"],
    [['payments', 'list', '--json=yes'], "Option '--json' does not take an argument"],
    [['payments', 'list', 'unknown'], '"payments list" has no use for the argument "unknown".'],
    [['payments', 'stats', 'postgres://ada:geheim@db/shop'], 'no use for the argument "postgres://db".'],
    [['postgres://ada:geheim@db/shop'], 'There is no command "postgres://db".'],
    [['payments', 'list', '--state', 'unkown'], 'there is no state "unkown"; did you mean unknown?'],
    [['payments', 'list', '--state', 'lost'], 'there is no state "lost"; there are'],
    [['payments', 'list', '--limit', '0'], '--limit takes a whole number from 1 to 10000.'],
    [['payments', 'show'], '"payments show" takes CONVERSATION_ID: CONVERSATION_ID is missing.'],
    [['payments', 'replay', 'mail'], 'EVENT_ID is missing.'],
    [
      ['payments', 'resolve', 'A', 'paid', '--note', 'x'],
      'takes a conversationId or refundId, then succeeded or failed.',
    ],
    [['payments', 'refund'], '"payments refund" takes CONVERSATION_ID: CONVERSATION_ID is missing.'],
    [['payments', 'refunds', 'A', 'B'], '"payments refunds" has no use for the argument "B".'],
    [['payments', 'refunds', '--state', 'expired'], 'there is no state "expired"; there are'],
    [['payments', 'list', '--state', 'refunding'], 'there is no state "refunding"'],
    [['payments', 'resolve', 'A', 'failed'], '"payments resolve" needs --note'],
    [['payments', 'resolve', 'A', 'failed', '--note', ' '], '"payments resolve" needs --note'],
    [['schema'], '--dialect takes sqlite, postgres, mysql or mariadb.'],
    [['schema', '--dialect', 'oracle'], '--dialect takes sqlite, postgres, mysql or mariadb.'],
    [['simulate', '--port', 'http'], '--port takes a number up to 65535.'],
    [['doctor', '--skip', 'teeth'], '--skip: there is no check "teeth"'],
    [['doctor', '--timeout', '0'], '--timeout takes a whole number from 1 to 60.'],
    [['doctor', '--callback', 'shop.example'], '--callback must be an absolute https URL.'],
    [['doctor', '--env', 'production.env'], '--env: there is no file production.env.'],
  ])('refuses %j', async (words, message) => {
    const { status, stdout, stderr } = await answer(words);
    expect(stderr).toContain(message);
    expect([status, stdout]).toEqual([2, '']);
  });

  it('says what is wrong on standard error alone, with status 2', async () => {
    const { status, stdout, stderr } = await cli(['payments', 'lst', '--json'], { cwd });
    expect(stderr).toBe(
      'There is no command "payments lst". Did you mean "payments list"?\n"nestjs-card-payment --help" explains it.\n',
    );
    expect([status, stdout]).toEqual([2, '']);
  });

  it('prints the tables of a database', async () => {
    const { status, stdout } = await cli(['schema', '--dialect', 'postgres'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toContain('create table if not exists card_payment (');
  });

  it('starts the simulator until it is ended', async () => {
    const main = join(process.cwd(), 'dist/esm/cli/main.js');
    const child = spawn(process.execPath, [main, 'simulate', '--port', '0', '--host', 'localhost'], { cwd });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    while (!stdout.includes('3D passwords')) await once(child.stdout, 'data');
    const [, url = ''] = /PAYMENT_BASE_URL=(\S+)/.exec(stdout) ?? [];
    expect((await fetch(`${url}/v1/Payment/DoPayment`, { method: 'POST' })).status).toBe(401);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('ends without a word when nobody reads on', async () => {
    const main = join(process.cwd(), 'dist/esm/cli/main.js');
    const child = spawn(process.execPath, [main, 'schema', '--dialect', 'sqlite'], { cwd });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await once(child, 'exit');
    expect(stderr).toBe('');
  });
});
