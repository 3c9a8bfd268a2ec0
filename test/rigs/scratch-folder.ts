import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ScratchFolder {
  readonly path: string;
  /** The path of a file in it. */
  file(name: string): string;
  remove(): void;
}

/** An empty folder that is removed at the latest when this process ends, unless the process is killed. */
export function makeScratchFolder(name: string, parent = tmpdir()): ScratchFolder {
  const path = mkdtempSync(join(parent, `card-payment-${name}-`));
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    process.off('exit', remove);
  };
  process.once('exit', remove);
  return { path, file: (name) => join(path, name), remove };
}
