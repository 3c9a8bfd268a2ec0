import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { describeCrashes } from './crashes.js';
import { opened } from './opened.js';

describeCrashes('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-crashes-'));
  const url = `sqlite:${join(folder, 'payments.db')}`;
  return Promise.resolve({
    url,
    open: async () => opened(await openSqlStore(url)),
    stop: () => Promise.resolve(rmSync(folder, { recursive: true })),
  });
});
