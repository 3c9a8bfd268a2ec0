import { resolve } from 'node:path';
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

const OLDEST_DRIVERS = ['kysely@0.28.0', 'pg@8.11.0', 'mysql2@3.9.8'];
const jestBin = resolve('node_modules/jest/bin/jest.js');

describe('the packed package in a NestJS 11 application, CommonJS', () => {
  let app: MerchantApp;

  beforeAll(async () => {
    app = await MerchantApp.install('nest11', '@nestjs/event-emitter@3');
  }, 300_000);
  afterAll(() => app?.remove());

  it('can be installed with NestJS 11 without optional peers', () => {
    expect(app.version('@nestjs/core')).toMatch(/^11\./);
    expect(() => app.version('kysely')).toThrow('ENOENT');
  });

  it('can be installed with every version that the first page names for NestJS 11', async () => {
    const versions = listedVersions('docs/getting-started.md', 'NestJS 11');
    expect(versions.length).toBeGreaterThan(10);
    await app.add(versions, '--dry-run');
  }, 120_000);

  it('type-checks, including the declarations of libraries, with node10 and nodenext resolution', async () => {
    expect(await app.compile()).toBe('');
    expect(await app.compile('.', '--noEmit', '--module', 'nodenext', '--moduleResolution', 'nodenext')).toBe('');
  }, 120_000);

  it('takes direct and 3D payments when configured by .env', async () => {
    expect(await app.node('dist/main.js')).toEqual(BOTH_FLOWS_PAID);
  }, 60_000);

  it('logs a line in a console, and fields in JSON', async () => {
    expect(await app.node('-e', LOG_SCRIPT)).toEqual(EXPECTED_LOG);
  });

  it('takes payments even if the logger fails', async () => {
    expect(await app.node('-e', FAILING_LOGGER_SCRIPT)).toEqual(PAID_DESPITE_LOGGER);
  }, 60_000);

  it('reports its health to terminus', async () => {
    expect(await app.node('-e', HEALTH_SCRIPT)).toEqual(EXPECTED_HEALTH);
  }, 60_000);

  it('is described by @nestjs/swagger', async () => {
    await expectApiDocument(await app.node('dist/api-document.js'));
  });

  it('is loaded once by require and import', async () => {
    expect(await app.node('-e', ONE_COPY_SCRIPT)).toEqual([true, true, true, true]);
  });

  it('takes payments in Jest without ES modules', async () => {
    const { status, stderr } = await app.run(process.execPath, [jestBin, '--rootDir', '.', 'merchant.test.js']);
    expect(stderr).toContain('1 passed, 1 total');
    expect(status).toBe(0);
  }, 60_000);

  it('loads from the CommonJS build on its own', async () => {
    const load = (file: string) => `require('./node_modules/nestjs-card-payment/dist/cjs/${file}')`;
    const [main, simulator] = [load('index.js'), load('simulator/index.js')];
    const code = `console.log(JSON.stringify([typeof ${main}.PaymentModule, typeof ${simulator}.startSimulator]))`;
    expect(await app.node('-e', code)).toEqual(['function', 'function']);
  });

  it.each([
    ['sqlite:payments.sqlite', 'kysely better-sqlite3'],
    ['postgres://shop:secret-word@127.0.0.1/shop', 'kysely pg'],
    ['mysql://shop:secret-word@127.0.0.1/shop', 'kysely mysql2'],
    ['mariadb://shop:secret-word@127.0.0.1/shop', 'kysely mysql2'],
  ])('says what to install for %s', async (storeUrl, packages) => {
    const { status, stderr } = await app.run(process.execPath, ['dist/main.js'], { PAYMENT_STORE_URL: storeUrl });
    // On an older Node.js, in the releases that run on it.
    expect(stderr.replaceAll(/@[\d.]+/g, '')).toContain(`npm install ${packages}`);
    expect(stderr).not.toContain('secret-word');
    expect(status).toBe(1);
  });

  describe('with the packages of the guide', () => {
    beforeAll(async () => {
      await app.add(app.installLines('docs/getting-started.md'));
      await addGuidePackages(app, ...OLDEST_DRIVERS);
    }, 300_000);

    it('compiles with every code block of every page, with and without .js in relative imports', async () => {
      expect(await compileGuide(app)).toEqual(FOUND_IN_BROKEN_PAGE);
    }, 300_000);

    it.each(sample(2, ['Express', 'Fastify'] as const))(
      'takes a merchant from the first page to a paid order on %s',
      async (adapter) => {
        await payAsInGettingStarted(app, adapter);
      },
      60_000,
    );

    it.each(['typeorm', 'prisma'] as const)(
      'marks orders as paid once with %s',
      async (orm) => {
        const postgres = await startPostgres();
        try {
          await payOrders(app, postgres, { orm, schema: 'payments', node: process.execPath });
        } finally {
          await postgres.stop();
        }
      },
      120_000,
    );

    it('can be tested as the guide says in Jest, which ends by itself', async () => {
      const output = await testAsInTesting(app);
      expect(output.match(/Tests: +\d+ passed, \d+ total/g)).toEqual([
        'Tests:       3 passed, 3 total',
        'Tests:       4 passed, 4 total',
      ]);
      expect(output).not.toContain('did not exit');
    }, 300_000);

    it('type-checks with the oldest mysql2, of which a pool can be given', async () => {
      expect(await app.compile('stores')).toBe('');
    }, 120_000);

    it('takes payments on PostgreSQL and MariaDB with the oldest drivers', async () => {
      expect(OLDEST_DRIVERS.map((name) => name.replace(/@.*/, '')).map((name) => app.version(name))).toEqual([
        '0.28.0',
        '8.11.0',
        '3.9.8',
      ]);
      const servers = await Promise.all([startPostgres(), startMariaDb()]);
      try {
        for (const { url } of servers) expect(await app.payOn(url)).toEqual(BOTH_FLOWS_PAID);
      } finally {
        await Promise.all(servers.map((server) => server.stop()));
      }
    }, 120_000);
  });
});
