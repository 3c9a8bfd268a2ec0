import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlStore } from 'nestjs-card-payment/sql';
import type { DurableStore } from './crash-trial.js';
import { opened } from './opened.js';

export function sqliteStore(): DurableStore {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-crashes-'));
  const url = `sqlite:${join(folder, 'payments.db')}`;
  return {
    url,
    open: async () => opened(await openSqlStore(url)),
    stop: () => Promise.resolve(rmSync(folder, { recursive: true })),
  };
}
