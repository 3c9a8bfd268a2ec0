import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Scratch {
  readonly folder: string;
  file(name: string): string;
  remove(): void;
}

/** An empty folder to run the command line in; `remove` deletes it. */
export function scratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-cli-'));
  return {
    folder,
    file: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
