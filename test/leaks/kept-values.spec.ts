import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { TaskProcess } from '../rigs/task-process.js';
import { type Postgres, startPostgres } from '../services/postgres.js';
import { ENGINES, type StoreUrls } from './kept-values.js';

const SCRIPT = new URL('kept-values-process.ts', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'kept-'));

let postgres: Postgres;
/** Has stores and nothing else: a snapshot of the heap of Jest, with all suites before this one, takes minutes. */
let shop: TaskProcess;

describe('kept values', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    const urls: StoreUrls = {
      sqlite: `sqlite:${join(folder, 'kept.db')}`,
      postgres: await postgres.createDatabase(),
    };
    shop = await TaskProcess.fork(SCRIPT, urls);
  });
  afterAll(async () => {
    await shop?.end();
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  test.each(ENGINES)('a store of %s prints nothing of the first customer it served', async (name) => {
    expect(await shop.ask<boolean>('isPrinted', name)).toBe(false);
  });

  test('no store keeps anything of a payment in memory', async () => {
    expect(await shop.ask<boolean[]>('areInHeap')).toEqual([true, false, false]);
  });
});
