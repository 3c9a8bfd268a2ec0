import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../services/server.js';
import {
  codeBlocks,
  findingsInPages,
  guidePages,
  installLines,
  settingFiles,
  starterFiles,
  writeBlocks,
} from './guide.js';
import { GuideBuyer, type Page } from './guide-buyer.js';
import { generatePrismaClient, writeShopOfOrders } from './guide-orders.js';
import type { MerchantApp } from './merchant-app.js';

/** A page with a mistake, to show that mistakes are found. */
const BROKEN_PAGE = `# A page
\`\`\`ts
import { PaymentService } from 'nestjs-card-payment';

export const states = (payments: PaymentService) => payments.absent;
\`\`\`
`;

export const FOUND_IN_BROKEN_PAGE = [
  `broken.md:5: error TS2339: Property 'absent' does not exist on type 'PaymentService'.`,
];

/** Installs the packages that only some pages need, and further ones. */
export async function addGuidePackages(app: MerchantApp, ...further: readonly string[]): Promise<void> {
  const packages = [...app.installLines('docs/orders.md'), ...installLines('docs/orders.md', 'Prisma 7'), ...further];
  // TypeORM's peer ranges exclude the newest versions of drivers that it does not use here.
  await app.add(packages, '--legacy-peer-deps');
}

/** Compiles the blocks of all pages in the merchant's project to `built/guide`, and returns the errors. */
export async function compileGuide(app: MerchantApp): Promise<string[]> {
  const blocks = [
    ...starterFiles(),
    ...guidePages().flatMap((page) => codeBlocks(page)),
    ...codeBlocks('broken.md', BROKEN_PAGE),
  ];
  const written = writeBlocks(blocks, join(app.folder, 'guide'), app.kind === 'nest11' ? 'bare' : 'with .js');
  writeShopOfOrders(join(app.folder, 'guide/orders'));
  await generatePrismaClient(app, join(app.folder, 'guide/orders'));
  if (app.kind === 'nest11') {
    const named = blocks.filter(({ page, path }) => page !== 'broken.md' && path?.endsWith('spec.ts') !== true);
    written.push(...writeBlocks(named, join(app.folder, 'as-written'), 'with .js'));
    writeShopOfOrders(join(app.folder, 'as-written/orders'));
    const client = 'orders/src/generated';
    cpSync(join(app.folder, 'guide', client), join(app.folder, 'as-written', client), { recursive: true });
  }
  return findingsInPages(await app.compile('guide'), written, app.folder);
}

/** `main.ts` of the starter is for Express, that of the first page for Fastify. */
export type Adapter = 'Express' | 'Fastify';
const MAIN: Readonly<Record<Adapter, string>> = { Express: 'main.js', Fastify: 'main.fastify.js' };

const FIRST_PAGE = 'docs/getting-started.md';

/**
 * Follows the page, which `compileGuide` must have compiled, from `.env` to a paid order, and beyond a restart. What its
 * pages show besides is tested in `browser/guide`.
 */
export async function payAsInGettingStarted(
  app: MerchantApp,
  adapter: Adapter,
  node = process.execPath,
): Promise<void> {
  const page = readFileSync(FIRST_PAGE, 'utf8');
  const [card = '', expiry = '', code = '', phone = ''] = [
    ...(/^1\. Card .*$/m.exec(page)?.[0] ?? '').matchAll(/`([\d/]+)`/g),
  ].map(([, value]) => value ?? '');
  const smsCode = /SMS: `(\d+)`/.exec(page)?.[1] ?? '';
  const typed = {
    'cardDetails.cardNo': card,
    'cardDetails.expDate': expiry,
    'cardDetails.cvv': code,
    'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
    'cardHolderInfo.buyerGsm': phone,
  };
  const folder = join(app.folder, `run-on-${adapter}`);
  mkdirSync(folder);
  writeSettings(folder);

  const port = await freePort();
  const main = join(app.folder, `built/guide/getting-started/src/${MAIN[adapter]}`);
  const whileRunning = (use: (buyer: GuideBuyer) => Promise<void>): Promise<void> =>
    app.whileRunning([node, main], folder, { PORT: `${port}` }, async () => {
      const buyer = new GuideBuyer(`http://localhost:${port}`);
      await buyer.waitForShop();
      await use(buyer);
    });
  let order = '';
  let interrupted = '';
  let form: Page | undefined;

  await whileRunning(async (buyer) => {
    form = await buyer.submit(await buyer.open('/checkout'));
    expect(form.url).toMatch(/\/checkout\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/pay$/);
    expectShopPage(form);
    order = form.url.replace(/\/pay$/, '');
    expect((await buyer.open(order)).html).toContain('Not paid.');
    const back = await buyer.pay(form, typed, smsCode);
    expect(new URL(back.url).pathname).toBe(new URL(order).pathname);
    expectShopPage(back);
    expect(back.html).toContain('Paid. Thank you!');

    const another = await buyer.submit(await buyer.open('/checkout'));
    interrupted = another.url.replace(/\/pay$/, '');
    expect((await buyer.submit(another, typed)).status).toBe(200);
  });

  await whileRunning(async (buyer) => {
    if (!form) throw new Error('There is no form.');
    expect((await buyer.open(order)).html).toContain('Paid. Thank you!');
    const again = await buyer.submit(form, typed);
    expect([again.status, again.html]).toEqual([409, expect.stringContaining('has been paid')]);
    // The buyer was at the bank, but the restart has replaced the simulated bank.
    expect((await buyer.open(interrupted)).html).toContain('Not paid.');
    const paid = await buyer.pay(await buyer.open(`${interrupted}/pay`), typed, smsCode);
    expect(paid.html).toContain('Paid. Thank you!');
  });
}

function writeSettings(folder: string): void {
  for (const [name, lines] of settingFiles(FIRST_PAGE)) writeFileSync(join(folder, name), lines);
}

function expectShopPage({ headers }: Page): void {
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+'; form-action 'self';/,
  );
  expect(headers.get('cache-control')).toBe('no-store');
}

/** Runs the tests of docs/testing.md in their project, next to the data of its `.env`. */
export async function testAsInTesting(app: MerchantApp, node = process.execPath): Promise<string> {
  const folder = join(app.folder, 'guide/getting-started');
  writeSettings(folder);
  const env = { PATH: `${dirname(node)}${delimiter}${process.env['PATH']}`, NO_COLOR: '1', FORCE_COLOR: '0' };
  const outputs: string[] = [];
  for (const script of ['test', 'test:e2e']) {
    const { status, stdout, stderr } = await app.run('npm', ['--prefix', folder, 'run', script], env);
    outputs.push(stdout, stderr);
    expect({ script, status, output: status === 0 ? '' : stdout + stderr }).toEqual({ script, status: 0, output: '' });
  }
  expect(readdirSync(folder).filter((name) => name.includes('.sqlite'))).toEqual([]);
  return outputs.join('');
}
