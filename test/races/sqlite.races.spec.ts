import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeRaces } from './races.js';

describeRaces('one SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-races-'));
  let files = 0;
  return Promise.resolve({
    create: () => Promise.resolve(`sqlite:${join(folder, `${(files += 1)}.db`)}`),
    stop: () => Promise.resolve(rmSync(folder, { recursive: true })),
  });
});
