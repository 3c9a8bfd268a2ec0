import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { SIMULATOR_CREDENTIALS, type Simulator } from '../../lib/simulator/index.js';
import { SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { cliHere } from './cli.js';

const AN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

/** What the command prints: on standard output, or on standard error where it refuses. */
async function printedBy(args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await cliHere(['simulate', ...args], { cwd: '.' });
  expect([status, status === 0 ? stderr : stdout]).toEqual([stderr === '' ? 0 : 2, '']);
  return stdout + stderr;
}

/** What the command prints, and the simulator by the settings in it. */
async function simulate(...words: string[]): Promise<{ printed: string; simulator: Simulator }> {
  const printed = await printedBy(['--port', '0', ...words]);
  const url = /^PAYMENT_BASE_URL=(\S+)$/m.exec(printed)?.[1] ?? '';
  return { printed, simulator: { url, credentials: SIMULATOR_CREDENTIALS, dialect: 'morpos' } as Simulator };
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
    expect(printed).toContain(`--public-url http://${AN_ADDRESS ?? '192.168.1.5'}:${port}`);
    if (AN_ADDRESS) expect((await fetch(bank.replace('127.0.0.1', AN_ADDRESS))).status).toBe(200);
  });

  it('sends buyers to the bank where --public-url says', async () => {
    const { printed, simulator } = await simulate('--host', '0.0.0.0', '--public-url', 'http://192.168.1.5:4010/');
    expect(await bankUrlOf(simulator)).toMatch(/^http:\/\/192\.168\.1\.5:4010\/acs\/[0-9a-f-]{36}$/);
    expect(printed).toContain("its bank's pages at http://192.168.1.5:4010\n");
    expect(printed).not.toContain('--public-url');
  });

  it('says that a port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect(await printedBy(['--port', String(port)])).toContain(
      `Port ${port} of 127.0.0.1 is in use; choose another with --port (0 takes any free port).`,
    );
    await new Promise((resolve) => taken.close(resolve));
  });
});
