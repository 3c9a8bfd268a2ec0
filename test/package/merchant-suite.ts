import { startMariaDb } from '../services/mariadb.js';
import { startPostgres } from '../services/postgres.js';
import { listedVersions } from './guide.js';
import { type OrdersSetup, payOrders } from './guide-orders.js';
import { compileGuide, FOUND_IN_BROKEN_PAGE, testAsInTesting } from './guide-project.js';
import { BOTH_FLOWS_PAID, expectApiDocument, type MerchantApp } from './merchant-app.js';

const LOGGED = 'Payment {id}, 149.90 TRY: succeeded (B0000) after {n} ms';
const FIELDS = { state: 'succeeded', conversationId: '{id}', kind: 'direct', amount: '149.90', currency: 'TRY' };
const PAID_UNLOGGED = ['succeeded', true, true];

/** What `checks.cjs` prints in a merchant's application, whatever its version of NestJS. */
const CHECKS: [what: string, check: string, printed: unknown][] = [
  [
    'logs a line in a console, and fields in JSON',
    'log',
    [`LOG [PaymentModule] ${LOGGED}`, { message: LOGGED, ...FIELDS }],
  ],
  ['takes payments even if the logger fails', 'failingLogger', [Array.from({ length: 4 }, () => PAID_UNLOGGED), []]],
  ['reports its health to terminus', 'health', ['ok', 'up', 'up', 'running']],
  ['is loaded once by require and import', 'copies', [true, true, true, true]],
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
  });

  it('is described by @nestjs/swagger', async () => {
    await expectApiDocument(await appOf().node('dist/api-document.js'));
  });

  it.each(CHECKS)('%s', async (_what, check, printed) => {
    expect(await appOf().node('checks.cjs', check)).toEqual(printed);
  });
}

/** Takes payments on PostgreSQL, on MariaDB and on further stores. */
export async function payOnServers(app: MerchantApp, node = process.execPath, ...further: readonly string[]) {
  const servers = await Promise.all([startPostgres(), startMariaDb()]);
  try {
    for (const url of [...further, ...servers.map((server) => server.url)]) {
      expect([url, await app.payOn(url, node)]).toEqual([url, BOTH_FLOWS_PAID]);
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** How the guide is followed with a version of NestJS. */
interface GuideSetup {
  /** The major version of Node that its applications need, if not the one here. */
  readonly node?: number;
  readonly orders: readonly Omit<OrdersSetup, 'node'>[];
  /** What the test runner prints of the unit tests and of the others. */
  readonly passed: RegExp;
  /** What it prints if something does not end. */
  readonly hangs: RegExp;
}

/** What holds of the guide. Its packages have been installed. */
export function itFollowsTheGuide(appOf: () => MerchantApp, { node, orders, passed, hangs }: GuideSetup) {
  const nodeOf = async () => (node === undefined ? process.execPath : await appOf().nodeOf(node));

  it('compiles with every code block of every page', async () => {
    expect(await compileGuide(appOf())).toEqual(FOUND_IN_BROKEN_PAGE);
  }, 300_000);

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
