import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder to run the command line in; `remove` deletes it. */
export function scratch(): { readonly folder: string; file(name: string): string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-cli-'));
  return {
    folder,
    file: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
