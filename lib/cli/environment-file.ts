import { existsSync, statSync } from 'node:fs';
import { UsageError } from './usage.error.js';

const DEFAULT_FILE = '.env';

/**
 * Reads variables into the process, as `ConfigModule` does: those that are set already win.
 * @param file by default `.env` in the working directory, if it is there
 * @returns the file that was read; null where there was none
 * @throws UsageError when it cannot be read
 */
export function loadEnvironmentFile(file: string | undefined): string | null {
  const name = file ?? DEFAULT_FILE;
  if (!existsSync(name)) {
    if (file === undefined) return null;
    throw new UsageError(`--env: there is no file ${file}.`);
  }
  if (statSync(name).isDirectory()) {
    if (file === undefined) return null;
    throw new UsageError(`--env: ${file} is a folder.`);
  }
  try {
    process.loadEnvFile(name);
    return name;
  } catch {
    throw new UsageError(`${name} cannot be read; may this user read it?`);
  }
}
