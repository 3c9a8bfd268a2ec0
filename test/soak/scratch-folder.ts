import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is gone when this process ends, however it ends, unless it is killed. */
export function makeScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-soak-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
