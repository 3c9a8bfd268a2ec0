import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../services/server.js';
import type { Adapter } from './guide-project.js';
import { GuideBuyer } from './guide-buyer.js';
import type { MerchantApp } from './merchant-app.js';
import { cleanEnvironment, run } from './tarball.js';

/**
 * Goes from `nest new` to a paid order by `init` and the commands that it prints, and no others. The project is empty but
 * for the packages, which are those of the surrounding application: its test has installed what the guide says.
 */
export async function payAfterInit(app: MerchantApp, adapter: Adapter, node = process.execPath): Promise<void> {
  const port = await freePort();
  const shop = await newProject(app, adapter, node);
  const env = { ...pathOf(node), PORT: `${port}`, NO_COLOR: '1', FORCE_COLOR: '0' };
  const shell = (command: string) => run('sh', ['-c', command], { cwd: shop, env });

  const init = await shell('npx --no-install nestjs-card-payment init --yes');
  expect([init.status, init.stdout.split('\n')[0]]).toEqual([
    0,
    `NestJS ${app.kind.replace('nest', '')}, ${app.kind === 'nest11' ? 'CommonJS' : 'ES modules'}, ${adapter}, npm.`,
  ]);
  const commands = [...init.stdout.matchAll(/^ {2}((?:npm|npx) .*)$/gm)].map(([, command = '']) => command);
  const [install = '', installTypes = '', test = '', start = '', show = ''] = commands;
  expect(commands).toHaveLength(5);
  const packages = [install, installTypes].flatMap((line) => line.split(' ').slice(2)).filter((name) => name !== '-D');
  for (const name of packages) expect(app.version(name.replace(/(?<=.)@.*$/, ''))).toMatch(/^\d/);

  const tested = await shell(test);
  expect([tested.status, tested.status === 0 ? '' : tested.stdout + tested.stderr]).toEqual([0, '']);

  const [, cardNo = '', expDate = '', cvv = ''] = /Card (\d+), expiry ([\d/]+), code (\d+)/.exec(init.stdout) ?? [];
  const [, buyerGsm = ''] = /phone (\d+)/.exec(init.stdout) ?? [];
  const [, smsCode = ''] = /SMS: (\d+)/.exec(init.stdout) ?? [];
  const [, address = ''] = /open (http:\S+)/.exec(init.stdout) ?? [];
  const typed = {
    'cardDetails.cardNo': cardNo,
    'cardDetails.expDate': expDate,
    'cardDetails.cvv': cvv,
    'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
    'cardHolderInfo.buyerGsm': buyerGsm,
  };
  await whileRunning(start, shop, env, async () => {
    const buyer = new GuideBuyer(address);
    await buyer.waitForShop();
    const page = await buyer.pay(await buyer.submit(await buyer.open('/')), typed, smsCode);
    expect(page.html).toContain('Paid. Thank you!');
    const [, order = ''] = /\/orders\/([0-9a-f-]{36})/.exec(page.url) ?? [];
    const shown = await shell(show);
    expect([shown.status, shown.stdout]).toEqual([0, expect.stringMatching(/^1 payment in succeeded\n/)]);
    expect(shown.stdout).toMatch(new RegExp(`succeeded +149\\.90 TRY .* reference ${order}\n`));
  });
}

/** A project of `nest new`, with the adapter that the merchant wants. */
async function newProject(app: MerchantApp, adapter: Adapter, node: string): Promise<string> {
  const folder = join(app.folder, `new-on-${adapter}`);
  mkdirSync(folder);
  const nest = join(app.folder, 'node_modules/@nestjs/cli/bin/nest.js');
  const noQuestions = ['--skip-git', '--package-manager', 'npm', ...(app.kind === 'nest12' ? ['--no-observe'] : [])];
  const args = [nest, 'new', 'shop', '--skip-install', ...noQuestions];
  const { status, stdout, stderr } = await run(node, args, { cwd: folder, env: pathOf(node) });
  if (status !== 0) throw new Error(`nest new failed: ${stdout}${stderr}`);
  const manifest = join(folder, 'shop/package.json');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace('@nestjs/platform-express', `@nestjs/platform-${adapter.toLowerCase()}`));
  return join(folder, 'shop');
}

function pathOf(node: string): { readonly PATH: string } {
  return { PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` };
}

/** Runs a command until `use` has ended. Its processes are a group of their own, so that all of them end with it. */
async function whileRunning(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  use: () => Promise<void>,
): Promise<void> {
  const child = spawn('sh', ['-c', command], { cwd, env: { ...cleanEnvironment(), ...env }, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const ended = once(child, 'close');
  const endedEarly = ended.then(() => Promise.reject(new Error(`"${command}" ended: ${output}`)));
  endedEarly.catch(() => undefined);
  try {
    await Promise.race([use(), endedEarly]);
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
  }
}
