import { readFileSync } from 'node:fs';
import { check } from 'prettier';
import { MemoryProject, SOURCE } from './memory-project.js';

const STARTER = 'sample/starter';
const STOCK = { singleQuote: true, trailingComma: 'all', parser: 'typescript' } as const;
const TEST = `${STARTER}/test/checkout.e2e-spec.ts`;
const GENERATED = [
  'src/checkout/attempt-limit.guard.ts',
  'src/checkout/checkout.controller.ts',
  'src/checkout/checkout.module.ts',
  'src/checkout/error-pages.filter.ts',
  'src/checkout/order.service.spec.ts',
  'src/checkout/order.service.ts',
  'src/checkout/pages.ts',
  'src/checkout/texts.ts',
  'test/checkout.e2e-spec.ts',
  'test/payment-settings.ts',
].map((name) => `${STARTER}/${name}`);

describe('nest g -c nestjs-card-payment checkout', () => {
  it('generates the files of the starter', async () => {
    const project = await (await new MemoryProject().add()).generate();
    const files = [...project.files.keys()].filter((path) => /checkout\/|\/test\//.test(path)).sort();
    expect(files).toEqual(GENERATED);
    for (const path of files) expect(project.file(path)).toBe(readFileSync(path, 'utf8'));
    expect(project.source('app.module.ts')).toContain(`
import { CheckoutModule, orderPages } from './checkout/checkout.module.js';

@Module({
  imports: [
    ConfigModule.forRoot(),
    PaymentModule.forRoot(orderPages),
    CheckoutModule,
  ],
`);
    expect(project.manifest.devDependencies['@types/better-sqlite3']).toMatch(/^\^\d/);
    expect(project.tasks).toHaveLength(2);
    expect(project.warned).toEqual([]);
    expect(project.printed.at(-1)).toContain('http://localhost:3000/checkout');
  });

  it.each([
    { nest: 11, isEsm: false, adapter: 'Express', store: 'sqlite', prefix: '' },
    { nest: 11, isEsm: false, adapter: 'Fastify', store: 'postgres', prefix: 'api' },
    { nest: 12, isEsm: false, adapter: 'Express', store: 'mysql', prefix: 'api' },
    { nest: 12, isEsm: true, adapter: 'Fastify', store: 'sqlite', prefix: '' },
    { nest: 12, isEsm: true, adapter: 'Express', store: 'mariadb', prefix: 'shop/v1' },
  ] as const)(
    'fits NestJS $nest, ESM $isEsm, $adapter, $store, prefix "$prefix"',
    async ({ store, prefix, ...kind }) => {
      const project = new MemoryProject(kind);
      if (prefix) {
        const main = project
          .source('main.ts')
          .replace('  await app.listen', `  app.setGlobalPrefix('/${prefix}');\n  await app.listen`);
        project.files.set(`${SOURCE}/main.ts`, main);
      }
      await (await project.add({ store })).generate();
      const once = new Map(project.files);
      await (await project.add({ store })).generate();
      expect(project.files).toEqual(once);
      expect(project.tasks).toHaveLength(2);
      expect(project.warned).toEqual([]);
      const sources = [...project.files].filter(([path]) => path.endsWith('.ts'));
      for (const [path, text] of sources) {
        expect({ path, isFormatted: await check(text, STOCK) }).toEqual({ path, isFormatted: true });
        const imports = [...text.matchAll(/(?:from|import) '(\..*)'/g)].map(([, name = '']) => name);
        expect({ path, wrong: imports.filter((name) => name.endsWith('.js') !== kind.isEsm) }).toEqual({
          path,
          wrong: [],
        });
      }
      const isFastify = kind.adapter === 'Fastify';
      expect(/createNestApplication\(new FastifyAdapter\(\)\)/.test(project.file(TEST))).toBe(isFastify);
      expect(project.file(TEST).includes("from '@nestjs/platform-fastify'")).toBe(isFastify);
      expect(project.file(TEST).includes(`app.setGlobalPrefix('${prefix}')`)).toBe(prefix !== '');
      expect(project.source('checkout/pages.ts')).toContain(`CHECKOUT = '${prefix ? `/${prefix}` : ''}/checkout'`);
    },
  );

  it.each([
    ['that nest add was given', { add: 'tr', generate: 'ts' }, 'tr'],
    ['that it is given itself', { add: 'en', generate: 'tr' }, 'tr'],
    ['that it is given itself', { add: 'tr', generate: 'en' }, 'en'],
    ['English, if there is none', { add: undefined, generate: 'ts' }, 'en'],
  ] as const)('speaks the language %s: %j', async (_, { add, generate }, language) => {
    const project = await (await new MemoryProject().add({ language: add })).generate({ language: generate });
    expect(project.source('checkout/texts.ts')).toBe(
      readFileSync(`${SOURCE}/checkout/texts${language === 'tr' ? '.tr' : ''}.ts`, 'utf8'),
    );
    expect(project.files.has(`${SOURCE}/checkout/texts.tr.ts`)).toBe(false);
  });

  it('keeps files that were edited, and generates those that are gone', async () => {
    const project = await (await new MemoryProject().add()).generate();
    project.files.set(`${SOURCE}/checkout/pages.ts`, '// mine\n');
    project.files.delete(`${SOURCE}/checkout/texts.ts`);
    await project.generate();
    expect(project.source('checkout/pages.ts')).toBe('// mine\n');
    expect(project.files.has(`${SOURCE}/checkout/texts.ts`)).toBe(true);
  });

  it('generates no tests with --no-spec', async () => {
    const project = await (await new MemoryProject().add()).generate({ spec: false });
    expect(GENERATED.filter((path) => !project.files.has(path))).toEqual(
      GENERATED.filter((path) => /spec\.ts$|settings\.ts$/.test(path)),
    );
  });

  it.each([
    ['has no PaymentModule', 'imports: []'],
    ['gives PaymentModule options', 'imports: [PaymentModule.forRoot({ sessionTtlMs: 60000 })]'],
  ])('leaves a module alone that %s, and prints what to add', async (_, imports) => {
    const module = `import { Module } from '@nestjs/common';\n\n@Module({ ${imports} })\nexport class AppModule {}\n`;
    const project = await new MemoryProject({ files: { [`${SOURCE}/app.module.ts`]: module } }).generate();
    expect(project.source('app.module.ts')).toBe(module);
    expect(project.warned).toEqual([
      expect.stringContaining('imports: [PaymentModule.forRoot(orderPages), CheckoutModule]'),
    ]);
  });
});
