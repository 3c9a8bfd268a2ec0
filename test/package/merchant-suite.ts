import { sample } from '../rigs/extent.js';
import { startPostgres } from '../services/postgres.js';
import { listedVersions } from './guide.js';
import { type OrdersSetup, payOrders } from './guide-orders.js';
import {
  type Adapter,
  compileGuide,
  FOUND_IN_BROKEN_PAGE,
  payAsInGettingStarted,
  testAsInTesting,
} from './guide-project.js';
import {
  BOTH_FLOWS_PAID,
  expectApiDocument,
  EXPECTED_HEALTH,
  EXPECTED_LOG,
  FAILING_LOGGER_SCRIPT,
  HEALTH_SCRIPT,
  LOG_SCRIPT,
  type MerchantApp,
  ONE_COPY_SCRIPT,
  PAID_DESPITE_LOGGER,
} from './merchant-app.js';

/** The scripts that a merchant's application runs, and what they print, whatever its version of NestJS. */
const SCRIPTS: [what: string, script: string, printed: unknown][] = [
  ['logs a line in a console, and fields in JSON', LOG_SCRIPT, EXPECTED_LOG],
  ['takes payments even if the logger fails', FAILING_LOGGER_SCRIPT, PAID_DESPITE_LOGGER],
  ['reports its health to terminus', HEALTH_SCRIPT, EXPECTED_HEALTH],
  ['is loaded once by require and import', ONE_COPY_SCRIPT, [true, true, true, true]],
];

/** What holds of the packed package in an application of either version of NestJS. */
export function itServesMerchants(appOf: () => MerchantApp, major: 11 | 12): void {
  it(`can be installed with NestJS ${major}`, () => {
    expect(appOf().version('@nestjs/core')).toMatch(new RegExp(`^${major}\\.`));
  });

  it(`can be installed with every version that the first page names for NestJS ${major}`, async () => {
    const versions = listedVersions('docs/getting-started.md', `NestJS ${major}`);
    expect(versions.length).toBeGreaterThan(10);
    await appOf().add(versions, '--dry-run');
  }, 120_000);

  it('type-checks, including the declarations of libraries', async () => {
    expect(await appOf().compile()).toBe('');
  }, 120_000);

  it('takes direct and 3D payments when configured by .env', async () => {
    expect(await appOf().node('dist/main.js')).toEqual(BOTH_FLOWS_PAID);
  }, 60_000);

  it('is described by @nestjs/swagger', async () => {
    await expectApiDocument(await appOf().node('dist/api-document.js'));
  });

  it.each(SCRIPTS)(
    '%s',
    async (_what, script, printed) => {
      expect(await appOf().node('--input-type=commonjs', '-e', script)).toEqual(printed);
    },
    60_000,
  );
}

/** How the guide is followed with a version of NestJS. */
interface GuideSetup {
  /** The major version of Node that its applications need, if not the one here. */
  readonly node?: number;
  readonly adapters: readonly Adapter[];
  readonly orders: readonly Omit<OrdersSetup, 'node'>[];
  /** What the test runner prints of the unit tests and of the others. */
  readonly passed: RegExp;
  /** What it prints if something does not end. */
  readonly hangs: RegExp;
}

/** What holds of the guide. Its packages have been installed. */
export function itFollowsTheGuide(appOf: () => MerchantApp, { node, adapters, orders, passed, hangs }: GuideSetup) {
  const nodeOf = async () => (node === undefined ? process.execPath : await appOf().nodeOf(node));

  it('compiles with every code block of every page', async () => {
    expect(await compileGuide(appOf())).toEqual(FOUND_IN_BROKEN_PAGE);
  }, 300_000);

  it.each(sample(2, adapters))(
    'takes a merchant from the first page to a paid order on %s',
    async (adapter) => {
      await payAsInGettingStarted(appOf(), adapter, await nodeOf());
    },
    120_000,
  );

  it.each(orders)(
    'marks orders as paid once with $orm, with payments in the schema $schema',
    async (setup) => {
      const postgres = await startPostgres();
      try {
        await payOrders(appOf(), postgres, { ...setup, node: await nodeOf() });
      } finally {
        await postgres.stop();
      }
    },
    120_000,
  );

  it('can be tested as the guide says, which ends by itself', async () => {
    const output = await testAsInTesting(appOf(), await nodeOf());
    expect(Array.from(output.matchAll(passed), ([, count]) => count)).toEqual(['3', '4']);
    expect(output).not.toMatch(hangs);
  }, 300_000);
}
