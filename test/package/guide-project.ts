import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../services/server.js';
import { codeBlocks, findingsInPages, guidePages, installLines, writeBlocks } from './guide.js';
import { GuideBuyer } from './guide-buyer.js';
import { generatePrismaClient } from './guide-orders.js';
import type { MerchantApp } from './merchant-app.js';

/** A mistake, to show that mistakes are found. */
const BROKEN_PAGE = `# A page
\`\`\`ts
import { PaymentService } from 'nestjs-card-payment';

export const states = (payments: PaymentService) => payments.absent;
\`\`\`
`;

export const FOUND_IN_BROKEN_PAGE = [
  `broken.md:5: error TS2339: Property 'absent' does not exist on type 'PaymentService'.`,
];

/** Installs what only some pages need. */
export async function addGuidePackages(app: MerchantApp): Promise<void> {
  const packages = [...app.installLines('docs/orders.md'), ...installLines('docs/orders.md', 'Prisma 7')];
  // TypeORM does not allow the newest of drivers that it is not asked to use here.
  await app.add(packages, '--legacy-peer-deps');
}

/** What the compiler of a merchant's project finds in the blocks of all pages; it writes to `built/guide`. */
export async function compileGuide(app: MerchantApp): Promise<string[]> {
  const blocks = [...guidePages().flatMap((page) => codeBlocks(page)), ...codeBlocks('broken.md', BROKEN_PAGE)];
  const written = writeBlocks(blocks, join(app.folder, 'guide'), app.kind === 'nest11' ? 'bare' : 'with .js');
  await generatePrismaClient(app, join(app.folder, 'guide/orders'));
  if (app.kind === 'nest11') {
    const named = blocks.filter(({ page, path }) => page !== 'broken.md' && path?.endsWith('spec.ts') !== true);
    written.push(...writeBlocks(named, join(app.folder, 'as-written'), 'with .js'));
    const client = 'orders/src/generated';
    cpSync(join(app.folder, 'guide', client), join(app.folder, 'as-written', client), { recursive: true });
  }
  return findingsInPages(await app.compile('guide'), written, app.folder);
}

/** Follows the page from `.env` to an order that is paid, once `compileGuide` has compiled it. */
export async function payAsInGettingStarted(app: MerchantApp, node = process.execPath): Promise<void> {
  const page = readFileSync('docs/getting-started.md', 'utf8');
  const [card = '', expiry = '', code = '', phone = ''] = [
    ...(/^1\. Card .*$/m.exec(page)?.[0] ?? '').matchAll(/`([\d/]+)`/g),
  ].map(([, value]) => value ?? '');
  const smsCode = /SMS: `(\d+)`/.exec(page)?.[1] ?? '';
  const typed = {
    'cardDetails[cardNo]': card,
    'cardDetails[expDate]': expiry,
    'cardDetails[cvv]': code,
    'cardHolderInfo[cardHolderName]': 'Ada Yılmaz',
    'cardHolderInfo[buyerGsm]': phone,
  };
  const folder = join(app.folder, 'guide/getting-started');
  writeFileSync(join(folder, '.env'), /^```ini\n# \.env\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '');

  const port = await freePort();
  const main = join(app.folder, 'built/guide/getting-started/src/main.js');
  await app.whileRunning([node, main], folder, { PORT: `${port}` }, async () => {
    const buyer = new GuideBuyer(`http://localhost:${port}`);
    await buyer.arrive();
    const form = await buyer.submit(await buyer.open('/'));
    expect(form.url).toMatch(/\/orders\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/pay$/);
    expect(form.headers.get('content-security-policy')).toMatch(/^default-src 'none'; form-action 'self';/);
    expect(form.headers.get('cache-control')).toBe('no-store');
    const order = form.url.replace(/\/pay$/, '');
    expect(await buyer.read(order)).toEqual({ state: 'open' });
    await buyer.pay(form, typed, smsCode);
    expect(await buyer.read(order)).toEqual({ state: 'paid' });
    await expect(buyer.open('/orders/1001')).rejects.toThrow('answered 404');
    await expect(buyer.submit(form, typed)).rejects.toThrow(/answered 4(?!29)\d\d/);
    // The limit counts orders and attempts together: three until here.
    for (let count = 3; count < 20; count += 1) {
      await expect(buyer.submit(form, {})).rejects.toThrow('answered 400');
    }
    await expect(buyer.submit(form, typed)).rejects.toThrow('answered 429');
    await expect(buyer.submit(await buyer.open('/'))).rejects.toThrow('answered 429');
    expect(await buyer.read(order)).toEqual({ state: 'paid' });
  });
}
