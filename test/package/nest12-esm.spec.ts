import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { SIMULATOR_CREDENTIALS, type Simulator } from 'nestjs-card-payment/simulator';
import { SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { startMariaDb } from '../services/mariadb.js';
import { startPostgres } from '../services/postgres.js';
import { listedVersions } from './guide.js';
import { payOrders } from './guide-orders.js';
import { sample } from '../rigs/extent.js';
import {
  addGuidePackages,
  compileGuide,
  FOUND_IN_BROKEN_PAGE,
  payAsInGettingStarted,
  testAsInTesting,
} from './guide-project.js';
import {
  BOTH_FLOWS_PAID,
  expectApiDocument,
  FAILING_LOGGER_SCRIPT,
  HEALTH_SCRIPT,
  EXPECTED_HEALTH,
  LOG_SCRIPT,
  EXPECTED_LOG,
  MerchantApp,
  ONE_COPY_SCRIPT,
  PAID_DESPITE_LOGGER,
} from './merchant-app.js';
import { cleanEnvironment } from './tarball.js';

/** Some of these need Node 22. */
const NEWEST_DRIVERS = ['kysely', 'better-sqlite3', 'pg', 'mysql2'].map((name) => `${name}@latest`);

describe('the packed package in a NestJS 12 application, ES modules', () => {
  let app: MerchantApp;

  beforeAll(async () => {
    app = await MerchantApp.install('nest12', '@nestjs/event-emitter@12', ...NEWEST_DRIVERS);
  }, 300_000);
  afterAll(() => app?.remove());

  it('can be installed with NestJS 12', () => {
    expect(app.version('@nestjs/core')).toMatch(/^12\./);
  });

  it('can be installed with every version that the first page names for NestJS 12', async () => {
    const versions = listedVersions('docs/getting-started.md', 'NestJS 12');
    expect(versions.length).toBeGreaterThan(10);
    await app.add(versions, '--dry-run');
  }, 120_000);

  it('type-checks, including the declarations of libraries', async () => {
    expect(await app.compile()).toBe('');
  }, 120_000);

  it('takes direct and 3D payments when configured by .env', async () => {
    expect(await app.node('dist/main.js')).toEqual(BOTH_FLOWS_PAID);
  }, 60_000);

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

  it('compiles with every code block of every page', async () => {
    // The newest drivers are already installed, which npm would not choose on Node 20.
    const isDriver = (name: string) => ['kysely', 'better-sqlite3'].includes(name);
    await app.add(app.installLines('docs/getting-started.md').filter((name) => !isDriver(name)));
    await addGuidePackages(app);
    expect(await compileGuide(app)).toEqual(FOUND_IN_BROKEN_PAGE);
  }, 300_000);

  it.each(sample(2, ['Fastify', 'Express'] as const))(
    'takes a merchant from the first page to a paid order on %s',
    async (adapter) => {
      await payAsInGettingStarted(app, adapter, await app.nodeOf(22));
    },
    120_000,
  );

  it.each([
    ['typeorm', 'payments'],
    ['typeorm', 'public'],
    ['prisma', 'payments'],
  ] as const)(
    'marks orders as paid once with %s, with payments in the schema %s',
    async (orm, schema) => {
      const postgres = await startPostgres();
      try {
        await payOrders(app, postgres, { orm, schema, node: await app.nodeOf(22) });
      } finally {
        await postgres.stop();
      }
    },
    120_000,
  );

  it('can be tested as the guide says in Vitest, which ends by itself', async () => {
    const output = await testAsInTesting(app, await app.nodeOf(22));
    expect(output.match(/Tests +\d+ passed \(\d+\)/g)).toEqual(['Tests  3 passed (3)', 'Tests  4 passed (4)']);
    expect(output).not.toMatch(/close timed out|hanging/);
  }, 300_000);

  it('is described by @nestjs/swagger', async () => {
    await expectApiDocument(await app.node('dist/api-document.js'));
  });

  it('types the stores of all entries as the option takes them', async () => {
    expect(await app.node('dist/stores.js')).toEqual({
      dialects: ['sqlite', 'postgres', 'mysql', 'mariadb'],
      areSqlStores: true,
      testing: 'function',
    });
  });

  it('logs a line in a console, and fields in JSON', async () => {
    expect(await app.node('--input-type=commonjs', '-e', LOG_SCRIPT)).toEqual(EXPECTED_LOG);
  });

  it('takes payments even if the logger fails', async () => {
    expect(await app.node('--input-type=commonjs', '-e', FAILING_LOGGER_SCRIPT)).toEqual(PAID_DESPITE_LOGGER);
  }, 60_000);

  it('reports its health to terminus', async () => {
    expect(await app.node('--input-type=commonjs', '-e', HEALTH_SCRIPT)).toEqual(EXPECTED_HEALTH);
  }, 60_000);

  it('is loaded once by require and import', async () => {
    expect(await app.node('--input-type=commonjs', '-e', ONE_COPY_SCRIPT)).toEqual([true, true, true, true]);
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
