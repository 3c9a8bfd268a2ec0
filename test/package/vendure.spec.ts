import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileDriver } from './merchant-app.js';
import { packTarball, run } from './tarball.js';

const LIMIT_MS = 600_000;

describe('the plugin for Vendure', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'card-payment-vendure-'));
    cpSync('sample/vendure', folder, { recursive: true });
    const tarball = await packTarball(folder);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { status, stderr } = await run('npm', ['install', ...quiet, tarball], { cwd: folder });
    if (status !== 0) throw new Error(`npm install failed: ${stderr}`);
    await compileDriver(folder);
  }, LIMIT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'takes and gives back money in a real Vendure, as its own test says',
    async () => {
      const { status, stdout, stderr } = await run('npm', ['test'], { cwd: folder });
      expect([status, stderr, stdout.match(/^not ok.*/gm)]).toEqual([0, '', null]);
      expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(12);
    },
    LIMIT_MS,
  );
});
