import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Finished, run, type RunOptions } from '../package/tarball.js';

const MAIN = join(process.cwd(), 'dist/esm/cli/main.js');

/** Runs the built command line as a process of its own, with these variables alone. */
export async function cli(words: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  if (!existsSync(MAIN)) throw new Error('There is no build to run: npm run build');
  const finished = await run(process.execPath, [MAIN, ...words], { cwd, env });
  // Whatever it is asked, it shows nobody its insides.
  if (/^\s+at .+:\d+/m.test(finished.stdout + finished.stderr))
    throw new Error(`a stack was shown: ${finished.stderr}`);
  return finished;
}
