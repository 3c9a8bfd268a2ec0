import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import {
  codeBlocks,
  findingsInPages,
  guidePages,
  installLines,
  settingFiles,
  starterFiles,
  writeBlocks,
} from './guide.js';
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

/** Runs the tests of docs/testing.md in their project, next to the data of its `.env`. */
export async function testAsInTesting(app: MerchantApp, node = process.execPath): Promise<string> {
  const folder = join(app.folder, 'guide/getting-started');
  for (const [name, lines] of settingFiles('docs/getting-started.md')) writeFileSync(join(folder, name), lines);
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
