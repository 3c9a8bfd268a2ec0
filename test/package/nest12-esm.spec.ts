import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { SIMULATOR_CREDENTIALS, type Simulator } from 'nestjs-card-payment/simulator';
import { SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { startMariaDb } from '../services/mariadb.js';
import { startPostgres } from '../services/postgres.js';
import { addGuidePackages } from './guide-project.js';
import { BOTH_FLOWS_PAID, MerchantApp } from './merchant-app.js';
import { itFollowsTheGuide, itServesMerchants } from './merchant-suite.js';
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
    const servers = await Promise.all([startPostgres(), startMariaDb()]);
    const node = await app.nodeOf(22);
    try {
      for (const url of [`sqlite:${join(app.folder, 'payments.sqlite')}`, ...servers.map((server) => server.url)]) {
        expect(await app.payOn(url, node)).toEqual(BOTH_FLOWS_PAID);
      }
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
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
      adapters: ['Fastify', 'Express'],
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
      const url = /^PAYMENT_BASE_URL=(\S+)$/m.exec(printed)?.[1] ?? '';
      const simulator = { url, credentials: SIMULATOR_CREDENTIALS, dialect: 'morpos' } as Simulator;
      const answer = await new SimulatedMerchant(simulator).ask('DoPayment');
      expect(answer).toMatchObject({ code: 'B0000' });
    } finally {
      const ended = once(npx, 'exit');
      process.kill(-(npx.pid ?? 0), 'SIGTERM');
      await ended;
    }
  }, 60_000);

  it('has a command that prints the tables', async () => {
    const args = ['--no-install', 'nestjs-card-payment', 'schema', '--dialect', 'sqlite'];
    const { status, stdout } = await app.run('npx', args);
    expect(stdout).toContain('create table if not exists card_payment (');
    expect(status).toBe(0);
  });
});

/** Reads a stream until its text matches. */
async function textUntil(stream: NodeJS.ReadableStream, wanted: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (wanted.test(text)) return text;
  }
  throw new Error(`It ended without ${String(wanted)}: ${text}`);
}
