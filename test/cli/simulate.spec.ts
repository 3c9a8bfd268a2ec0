import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Simulator } from '../../lib/simulator/index.js';
import { cleanEnvironment } from '../package/tarball.js';
import { SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { builtMain, cliHere } from './cli.js';
import { printedSimulator, textUntil } from './printed-simulator.js';

/** What the command prints, and the simulator by the settings in it. */
async function simulate(...words: string[]): Promise<{ printed: string; simulator: Simulator }> {
  const { status, stdout, stderr } = await cliHere(['simulate', '--port', '0', ...words], { cwd: '.' });
  expect([status, stderr]).toEqual([0, '']);
  return { printed: stdout, simulator: printedSimulator(stdout) };
}

/** Where the page of Init3d sends the buyer's browser. */
async function bankUrlOf(simulator: Simulator): Promise<string> {
  const reply = await new SimulatedMerchant(simulator).ask('Init3d');
  const page = Buffer.from(reply.htmlForm as string, 'base64').toString();
  return /action="([^"]+)"/.exec(page)?.[1] ?? '';
}

describe('simulate command', () => {
  /** The command ends at a signal, like this one that nobody sends. */
  afterEach(() => void process.emit('SIGTERM'));

  it('listens on this machine alone', async () => {
    const { printed, simulator } = await simulate();
    expect(simulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await bankUrlOf(simulator)).toMatch(`${simulator.url}/acs/`);
    expect(printed).not.toContain('--public-url');
  });

  it('listens on every address, and says how a phone or the browser outside a container gets to the bank', async () => {
    const { printed, simulator } = await simulate('--host', '0.0.0.0');
    const { port } = new URL(simulator.url);
    expect(simulator.url).toBe(`http://127.0.0.1:${port}`);
    const bank = await bankUrlOf(simulator);
    expect(bank).toMatch(`http://127.0.0.1:${port}/acs/`);
    expect((await fetch(bank)).status).toBe(200);
    // Every address of 127.0.0.0/8 is this machine's.
    expect((await fetch(bank.replace('127.0.0.1', '127.0.0.2'))).status).toBe(200);
    expect(printed).toContain(`--public-url http://192.168.1.5:${port}`);
  });

  it('sends buyers to the bank where --public-url says', async () => {
    const { printed, simulator } = await simulate('--host', '0.0.0.0', '--public-url', 'http://192.168.1.5:4010/');
    expect(await bankUrlOf(simulator)).toMatch(/^http:\/\/192\.168\.1\.5:4010\/acs\/[0-9a-f-]{36}$/);
    expect(printed).toContain("its bank's pages at http://192.168.1.5:4010\n");
    expect(printed).not.toContain('--public-url');
  });
});

describe('a newcomer with a simulator', () => {
  const { path: cwd, file, remove } = makeScratchFolder('cli');
  afterAll(remove);

  it.each([
    ['morpos', 'refund and void payments'],
    ['standard', 'neither refund nor void payments'],
  ])('what simulate prints is an .env that doctor passes (%s)', async (dialect, moneyBack) => {
    const words = ['simulate', '--port', '0', '--dialect', dialect];
    const running = spawn(process.execPath, [builtMain(), ...words], { cwd, env: cleanEnvironment() });
    const ended = once(running, 'exit');
    try {
      writeFileSync(file('.env'), await textUntil(running.stdout, /3D passwords/));
      const { status, stdout } = await cliHere(['doctor'], { cwd });
      expect(stdout).toMatch(/^✓ environment {2}\.env was read; 7 variables begin with PAYMENT_$/m);
      expect(stdout).toMatch(new RegExp(`^✓ settings {5}complete, dialect ${dialect}, which can ${moneyBack}`, 'm'));
      expect(stdout).toMatch(/^✓ gateway /m);
      expect(stdout).toMatch(
        /^– callback {5}http:\/\/localhost:3000\/payments cannot be reached \(ECONNREFUSED\)\. .* Start it/m,
      );
      expect(stdout).not.toContain('✗');
      expect(status).toBe(0);
    } finally {
      running.kill();
      await ended;
    }
  });
});
