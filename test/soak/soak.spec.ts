import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { built } from '../rigs/built.js';
import { inWhole } from '../rigs/extent.js';

const SCRIPT = 'test/soak/main.ts';
const EXEC_ARGV = ['--disable-warning=ExperimentalWarning', '--import', './bench/typescript.mjs'];

describe('npm run soak, for some seconds', () => {
  const running = new Set<ChildProcess>();

  afterEach(async () => {
    for (const soak of running) {
      const exit = once(soak, 'exit');
      if (soak.kill('SIGTERM')) await exit;
    }
  });

  it.each(inWhole(['postgres', 'mariadb', 'sqlite'], ['postgres', 'mariadb']))(
    'finds no difference on %s',
    async (store) => {
      const { status, output } = await soak(['0.05', '--store', store, '--seed', '8']);
      expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/^differences 0$/m) });
      expect(output).toMatch(/^payments +\d+ \(.*succeeded \d/m);
    },
    300_000,
  );

  async function soak(args: string[]): Promise<{ status: number | null; output: string }> {
    built();
    const child = fork(SCRIPT, args, { execArgv: EXEC_ARGV, silent: true });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    const [status] = (await once(child, 'close')) as [number | null];
    running.delete(child);
    return { status, output };
  }
});
