import { cpSync } from 'node:fs';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { npmInstall, packTarball, run } from './tarball.js';

const LIMIT_MS = 600_000;

describe('the plugin for Vendure', () => {
  const { path: folder, remove } = makeScratchFolder('vendure');
  beforeAll(async () => {
    cpSync('sample/vendure', folder, { recursive: true });
    await npmInstall(folder, await packTarball(folder));
  }, LIMIT_MS);
  afterAll(remove);

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
