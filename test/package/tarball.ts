import { execFile, type ExecFileException } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { built } from '../rigs/built.js';

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The result of a program. */
export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without the environment variables of this test run. */
export function run(command: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...cleanEnvironment(), ...env }, maxBuffer: 64 * 1024 * 1024 };
    execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ status, stdout, stderr });
    });
  });
}

/** The code of a sale that is approved. */
export const SALE_CODE = `{
  cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
  transactionDetails: { amount: '149.90', currencyCode: 949 },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
}`;

/**
 * Runs a script of a merchant, an ES module, against the build.
 *
 * @returns what it printed, once it has ended by itself
 */
export function runScript(code: string, env: Readonly<Record<string, string>> = {}, timeout = 60_000): Promise<string> {
  const args = ['--input-type=module', '-e', code];
  built();
  return new Promise((resolve, reject) => {
    const options = { env: { ...cleanEnvironment(), ...env }, timeout, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error) reject(new Error(error.killed ? `It did not end: ${stdout}` : stderr));
      else resolve(stdout.trim());
    });
  });
}

export function cleanEnvironment(): NodeJS.ProcessEnv {
  const ofTestRun = /^(PAYMENT_|JEST_|NODE_|npm_(package|lifecycle|command|execpath|config_local_prefix))/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofTestRun.test(name)));
}

/** Packs the output of `npm run build`, and returns the path of the tarball. */
export async function packTarball(folder: string): Promise<string> {
  if (!existsSync(join(built(), 'esm/index.d.ts'))) {
    throw new Error('The build has no types, which the package has: npm run build');
  }
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { status, stdout, stderr } = await run('npm', args, { cwd: process.cwd() });
  if (status !== 0) {
    throw new Error(`npm pack failed: ${stderr}`);
  }
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}

/** Runs `npm install` in a project, where better-sqlite3 can be used then. */
export async function npmInstall(cwd: string, ...words: readonly string[]): Promise<void> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  const { status, stderr } = await run('npm', ['install', ...quiet, ...words], { cwd });
  if (status !== 0) throw new Error(`npm install ${words.join(' ')} failed: ${stderr}`);
  await compileDriver(cwd);
}

export function versionIn(folder: string, packageName: string): string {
  const manifest = readFileSync(join(folder, 'node_modules', packageName, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Compiles better-sqlite3 before version 13, whose binary may fail to download, or copies the binary of this repository. */
export async function compileDriver(folder: string): Promise<void> {
  const installed = 'node_modules/better-sqlite3';
  const driver = join(folder, installed);
  const binary = 'build/Release/better_sqlite3.node';
  if (!existsSync(driver) || existsSync(join(driver, 'prebuilds')) || existsSync(join(driver, binary))) return;
  const isOurs = versionIn('.', 'better-sqlite3') === versionIn(folder, 'better-sqlite3');
  if (isOurs && existsSync(join(installed, binary))) {
    mkdirSync(join(driver, 'build/Release'), { recursive: true });
    copyFileSync(join(installed, binary), join(driver, binary));
  } else {
    await run('npm', ['rebuild', 'better-sqlite3'], { cwd: folder });
  }
}
