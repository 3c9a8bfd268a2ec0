import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface ScratchFolder {
  readonly path: string;
  /** The path of a file in it. */
  file(name: string): string;
  /** Writes a file in it, whatever folders that needs. */
  write(name: string, text: string): void;
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
  const file = (name: string): string => join(path, name);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
  };
  return { path, file, write, remove };
}

/** Another one for each test of this `describe`. */
export function useScratchFolder(name: string): ScratchFolder {
  const used = {} as ScratchFolder;
  beforeEach(() => void Object.assign(used, makeScratchFolder(name)));
  afterEach(() => used.remove());
  return used;
}
