import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program left behind. */
export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program as a merchant's shell would: nothing of this test run is in its environment. */
export function run(command: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...cleanEnvironment(), ...env }, maxBuffer: 64 * 1024 * 1024 };
    execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ status, stdout, stderr });
    });
  });
}

export function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(PAYMENT_|JEST_|NODE_|npm_(package|lifecycle|command|execpath|config_local_prefix))/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

/** Packs what `npm run build` made (`npm test` runs it first), and gives the tarball's path. */
export async function packTarball(folder: string): Promise<string> {
  if (!existsSync('dist/cjs/package.json')) {
    throw new Error('There is no build to pack: npm run build');
  }
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { status, stdout, stderr } = await run('npm', args, { cwd: process.cwd() });
  if (status !== 0) {
    throw new Error(`npm pack failed: ${stderr}`);
  }
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}
