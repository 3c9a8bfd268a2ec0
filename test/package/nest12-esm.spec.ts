import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { printedSimulator, textUntil } from '../cli/printed-simulator.js';
import { SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { addGuidePackages } from './guide-project.js';
import { MerchantApp } from './merchant-app.js';
import { itFollowsTheGuide, itServesMerchants, payOnServers } from './merchant-suite.js';
import { cleanEnvironment } from './tarball.js';

/** Some of these need Node 22. */
const NEWEST_DRIVERS = ['kysely', 'better-sqlite3', 'pg', 'mysql2'].map((name) => `${name}@latest`);

describe('the packed package in a NestJS 12 application, ES modules', () => {
  let app: MerchantApp;

  beforeAll(async () => {
    app = await MerchantApp.install('nest12', '@nestjs/event-emitter@12', ...NEWEST_DRIVERS);
  }, 300_000);
  afterAll(() => app?.remove());

  itServesMerchants(() => app, 12);

  it('takes payments on every store with the newest drivers', async () => {
    expect(app.version('kysely')).not.toMatch(/^0\.(\d|1\d|2[0-8])\./);
    expect(Number.parseInt(app.version('better-sqlite3'), 10)).toBeGreaterThanOrEqual(13);
    await payOnServers(app, await app.nodeOf(22), `sqlite:${join(app.folder, 'payments.sqlite')}`);
  }, 300_000);

  describe('with the packages of the guide', () => {
    beforeAll(async () => {
      // The newest drivers are already installed, which npm would not choose on Node 20.
      const isDriver = (name: string) => ['kysely', 'better-sqlite3'].includes(name);
      await app.add(app.installLines('docs/getting-started.md').filter((name) => !isDriver(name)));
      await addGuidePackages(app);
    }, 300_000);

    itFollowsTheGuide(() => app, {
      node: 22,
      orders: [
        { orm: 'typeorm', schema: 'payments' },
        { orm: 'typeorm', schema: 'public' },
        { orm: 'prisma', schema: 'payments' },
      ],
      passed: /Tests +(\d+) passed \(\d+\)/g,
      hangs: /close timed out|hanging/,
    });
  });

  it('types the stores of all entries as the option takes them', async () => {
    expect(await app.node('dist/stores.js')).toEqual({
      dialects: ['sqlite', 'postgres', 'mysql', 'mariadb'],
      areSqlStores: true,
      testing: 'function',
    });
  });

  it('has a command that simulates a gateway', async () => {
    accessSync(join(app.folder, 'node_modules/nestjs-card-payment/dist/esm/cli/main.js'), constants.X_OK);
    const args = ['--no-install', 'nestjs-card-payment', 'simulate', '--port', '0'];
    // The process group is separate, so that the processes of npx end with it.
    const npx = spawn('npx', args, { cwd: app.folder, env: cleanEnvironment(), detached: true });
    try {
      const printed = await textUntil(npx.stdout, /PAYMENT_API_KEY=\S+\n/);
      const answer = await new SimulatedMerchant(printedSimulator(printed)).ask('DoPayment');
      expect(answer).toMatchObject({ code: 'B0000' });
    } finally {
      const ended = once(npx, 'exit');
      process.kill(-(npx.pid ?? 0), 'SIGTERM');
      await ended;
    }
  });
});
