import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { COMMANDS } from '../../lib/cli/commands.js';
import { REFUND_STATES, SALE_STATES } from '../../lib/payment/states.js';
import { builtMain, cli, cliHere } from './cli.js';
import { documented, wholePage } from './documented.js';

/** Those that are explained once for all commands. */
const EVERYWHERE = ['account', 'env', 'store', 'json', 'by'];

it('has the commands that its page has, in its order', () => {
  const headings = [...wholePage().matchAll(/^## ([a-z -]+)$/gm)].map(([, name]) => name);
  expect(Object.keys(COMMANDS)).toEqual(headings);
});

/** Writes the address of each module that is loaded to standard error. */
const LOADED = `export const load = (url, context, next) => { process._rawDebug(url); return next(url, context); };`;
const REGISTER = `import { register } from 'node:module'; register(${JSON.stringify(scriptUrl(LOADED))});`;

it.each([[['--version']], [['payments', 'refund', '--help']]])(
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
  it.each(Object.entries(COMMANDS))('explains %s, as its page does', async (name, { args, options, load }) => {
    const { status, stdout, stderr } = await cliHere([...name.split(' '), '--help'], { cwd: '.' });
    expect([status, stderr]).toEqual([0, '']);
    await expect(cliHere(['help', ...name.split(' ')], { cwd: '.' })).resolves.toMatchObject({
      status,
      stdout,
      stderr,
    });
    await expect(load()).resolves.toBeInstanceOf(Function);
    const [section, page] = [documented(name), wholePage()];
    for (const arg of args) expect(page).toContain(arg);
    for (const option of options) expect(EVERYWHERE.includes(option) ? page : section).toContain(`--${option}`);
  });

  it.each([
    ['payments list', SALE_STATES],
    ['payments refunds', REFUND_STATES],
  ])('names the states in the help of %s', (name, states) => {
    const [, named = ''] = /States: ([\s\S]*?)\./.exec(COMMANDS[name]?.notes ?? '') ?? [];
    expect(named.split(/,\s+/).sort()).toEqual([...states].sort());
  });

  it('says its version on standard output, and what is wrong on standard error with status 2', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    for (const word of ['--version', '-v', 'version']) {
      const said = { status: 0, stdout: `${version}\n`, stderr: '' };
      await expect(cli([word], { cwd: '.' })).resolves.toEqual(said);
    }
    const { status, stdout, stderr } = await cli(['migrate', '--json'], { cwd: '.' });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('There is no command "migrate".');
  });

  it('prints the tables of a database', async () => {
    const { status, stdout } = await cliHere(['schema', '--dialect', 'postgres'], { cwd: '.' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('create table if not exists card_payment (')]);
  });
});
