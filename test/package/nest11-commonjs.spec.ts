import { resolve } from 'node:path';
import { addGuidePackages } from './guide-project.js';
import { MerchantApp } from './merchant-app.js';
import { itFollowsTheGuide, itServesMerchants, payOnServers } from './merchant-suite.js';

const OLDEST_DRIVERS = ['kysely@0.28.0', 'pg@8.11.0', 'mysql2@3.9.8'];
const jestBin = resolve('node_modules/jest/bin/jest.js');

describe('the packed package in a NestJS 11 application, CommonJS', () => {
  let app: MerchantApp;

  beforeAll(async () => {
    app = await MerchantApp.install('nest11', '@nestjs/event-emitter@3');
  }, 300_000);
  afterAll(() => app?.remove());

  itServesMerchants(() => app, 11);

  it('needs no optional peers', () => {
    expect(() => app.version('kysely')).toThrow('ENOENT');
  });

  it('type-checks with nodenext resolution, too, besides node10', async () => {
    expect(await app.compile('.', '--noEmit', '--module', 'nodenext', '--moduleResolution', 'nodenext')).toBe('');
  }, 120_000);

  it('takes payments in Jest without ES modules', async () => {
    const { status, stderr } = await app.run(process.execPath, [jestBin, '--rootDir', '.', 'merchant.test.js']);
    expect(stderr).toContain('1 passed, 1 total');
    expect(status).toBe(0);
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

    // Its blocks are compiled with and without .js in relative imports.
    itFollowsTheGuide(() => app, {
      orders: [
        { orm: 'typeorm', schema: 'payments' },
        { orm: 'prisma', schema: 'payments' },
      ],
      passed: /Tests: +(\d+) passed, \d+ total/g,
      hangs: /did not exit/,
    });

    it('type-checks with the oldest mysql2, of which a pool can be given', async () => {
      expect(await app.compile('stores')).toBe('');
    }, 120_000);

    it('takes payments on PostgreSQL and MariaDB with the oldest drivers', async () => {
      const names = OLDEST_DRIVERS.map((driver) => driver.replace(/@.*/, ''));
      expect(names.map((name) => `${name}@${app.version(name)}`)).toEqual(OLDEST_DRIVERS);
      await payOnServers(app);
    }, 120_000);
  });
});
