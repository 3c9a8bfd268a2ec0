import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cleanEnvironment } from '../package/tarball.js';
import { cliHere, MAIN } from './cli.js';
import { scratch } from './scratch.js';

describe('a newcomer with a simulator', () => {
  const { folder: cwd, file, remove } = scratch();
  afterAll(remove);

  it.each([
    ['morpos', 'refund and void payments'],
    ['standard', 'neither refund nor void payments'],
  ])('what simulate prints is an .env that doctor passes (%s)', async (dialect, moneyBack) => {
    const words = ['simulate', '--port', '0', '--dialect', dialect];
    const running = spawn(process.execPath, [MAIN, ...words], { cwd, env: cleanEnvironment() });
    const ended = once(running, 'exit');
    try {
      let printed = '';
      for await (const chunk of running.stdout) {
        printed += String(chunk);
        if (printed.includes('3D passwords')) break;
      }
      writeFileSync(file('.env'), printed);
      const { status, stdout } = await cliHere(['doctor'], { cwd });
      expect(stdout).toMatch(/^✓ environment {2}\.env was read; 7 variables begin with PAYMENT_$/m);
      expect(stdout).toMatch(new RegExp(`^✓ settings {5}complete, dialect ${dialect}, which can ${moneyBack}`, 'm'));
      expect(stdout).toMatch(/^✓ gateway /m);
      expect(stdout).toMatch(/^– callback {5}http:\/\/localhost:3000\/payments cannot be reached: .* Start it/m);
      expect(stdout).not.toContain('✗');
      expect(status).toBe(0);
    } finally {
      running.kill();
      await ended;
    }
  });

  it('is told by doctor that the simulator of simulate is not running', async () => {
    const { stdout, status } = await cliHere(['doctor'], { cwd, env: { PAYMENT_BASE_URL: 'http://127.0.0.1:9' } });
    expect(stdout).toMatch(/^✗ gateway .* A simulator\? Start it: npx nestjs-card-payment simulate\. /m);
    expect(status).toBe(1);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['alone', {}],
    ['beside real settings', { PAYMENT_DIALECT: 'morpos', PAYMENT_PUBLIC_URL: 'http://127.0.0.1:9' }],
  ])('doctor speaks of the embedded simulator, %s', async (_how, more) => {
    const env = { PAYMENT_BASE_URL: 'simulator:', ...more };
    const { stdout, status } = await cliHere(['doctor'], { cwd: '/', env });
    expect(stdout).toMatch(/^✓ settings {5}complete: the simulator inside the application/m);
    expect(stdout).toMatch(/^– gateway {6}not tried: PAYMENT_BASE_URL is the simulator inside the application/m);
    expect(stdout).toMatch(/^– credentials {2}not tried: the simulator has its own/m);
    expect(stdout).toMatch(/^– callback /m);
    expect(stdout).not.toMatch(/✗|is wrong or missing|not right/);
    expect(status).toBe(0);
  });

  it('doctor offers the simulator where nothing is set, but not in production', async () => {
    const nowhere = { cwd: '/', env: {} };
    expect((await cliHere(['doctor'], nowhere)).stdout).toContain('set PAYMENT_BASE_URL=simulator: and nothing else');
    // NODE_ENV is the only thing that is set.
    const { stdout } = await cliHere(['doctor'], { cwd: '/', env: { NODE_ENV: 'production' } });
    expect(stdout).toContain('baseUrl (PAYMENT_BASE_URL) is missing');
    expect(stdout).toContain('storeUrl (PAYMENT_STORE_URL) is missing, and NODE_ENV is production');
    expect(stdout).not.toContain('simulator:');
  });
});
