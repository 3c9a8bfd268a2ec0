import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { runCommandLine } from '../../lib/cli/command-line.js';
import { cleanEnvironment, type Finished, run, type RunOptions } from '../package/tarball.js';
import { built } from '../rigs/built.js';

/** The script of the built command line. */
export const builtMain = (): string => built('dist/esm/cli/main.js');

/** The command that runs here: applications of the same process log, too. */
const running = new AsyncLocalStorage<true>();

/** Runs the built command line as a process of its own, with these variables alone. */
export async function cli(words: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  return withoutStack(await run(process.execPath, [builtMain(), ...words], { cwd, env }));
}

/** Where a command is run, and what a person types when it asks; without that, there is no terminal. */
export interface HereOptions extends RunOptions {
  readonly typed?: string | (() => Promise<string>);
}

/**
 * Runs a command in this process, which takes a hundredth of the time of {@link cli}. One runs at a time, since the
 * folder and the variables are those of the whole process.
 */
export async function cliHere(words: readonly string[], { cwd, env = {}, typed }: HereOptions): Promise<Finished> {
  const [folder, variables] = [process.cwd(), process.env];
  const shown = { stdout: '', stderr: '' };
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text: string | Uint8Array) => {
    if (running.getStore() !== true) return write(text);
    shown.stderr += String(text);
    return true;
  };
  process.chdir(cwd);
  process.env = { ...cleanEnvironment(), ...env };
  const ask = (question: string) => {
    shown.stderr += question;
    return typeof typed === 'function' ? typed() : Promise.resolve(typed ?? '');
  };
  const terminal = {
    print: (text: string, stream: 'stdout' | 'stderr') => {
      shown[stream] += text;
      return Promise.resolve('shown' as const);
    },
    ask: typed === undefined ? null : ask,
  };
  try {
    const { status, stdout, stderr } = await running.run(true, () => runCommandLine(words, terminal));
    return withoutStack({ status, stdout: shown.stdout + stdout, stderr: shown.stderr + stderr });
  } finally {
    process.env = variables;
    process.chdir(folder);
    Logger.overrideLogger(false);
    process.stderr.write = write;
  }
}

/** Whatever it is asked, it shows nobody its insides. */
function withoutStack(finished: Finished): Finished {
  if (/^\s+at .+:\d+/m.test(finished.stdout + finished.stderr))
    throw new Error(`a stack was shown: ${finished.stderr}`);
  return finished;
}
