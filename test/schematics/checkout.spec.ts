import { readFileSync } from 'node:fs';
import { check } from 'prettier';
import { MAIN, MemoryProject, MODULE, SOURCE } from './memory-project.js';

const STARTER = 'sample/starter';
const TEST = `${STARTER}/test/checkout.e2e-spec.ts`;
const PAGES = `${SOURCE}/checkout/pages.ts`;
const TEXTS = `${SOURCE}/checkout/texts.ts`;
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
  it('generates the files of the starter; they are kept when it is called again, and those that are gone come back', async () => {
    const project = await (await new MemoryProject().add()).generate();
    const files = [...project.files.keys()].filter((path) => /checkout\/|\/test\//.test(path)).sort();
    expect(files).toEqual(GENERATED);
    for (const path of files) expect(project.file(path)).toBe(readFileSync(path, 'utf8'));
    expect(project.file(MODULE)).toContain(`
import { CheckoutModule, orderPages } from './checkout/checkout.module.js';

@Module({
  imports: [
    ConfigModule.forRoot(),
    PaymentModule.forRoot(orderPages),
    CheckoutModule,
  ],
`);
    expect(project.manifest.devDependencies['@types/better-sqlite3']).toMatch(/^\^\d/);
    expect(project.warned).toEqual([]);
    expect(project.printed.at(-1)).toContain('http://localhost:3000/checkout');

    const once = new Map(project.files).set(PAGES, '// mine\n');
    project.files.set(PAGES, '// mine\n').delete(TEXTS);
    await (await project.add()).generate();
    expect([project.files, project.tasks.length]).toEqual([once, 2]);
  });

  it('fits CommonJS, Fastify, a prefix and Turkish; without tests, if it must', async () => {
    const files = {
      [MAIN]: `async function bootstrap() {
  const app = await NestFactory.create(AppModule, new FastifyAdapter());
  app.setGlobalPrefix('/shop/v1');
  await app.listen(process.env.PORT ?? 3000);
}
`,
    };
    const project = await (await new MemoryProject(files, 11).add({ language: 'tr' })).generate();
    for (const path of GENERATED) {
      const text = project.file(path);
      expect([path, await check(text, { singleQuote: true, trailingComma: 'all', filepath: path })]).toEqual([
        path,
        true,
      ]);
      expect(text).not.toMatch(/(?:from|import) '\..*\.js'/);
    }
    expect(project.file(TEST)).toContain('createNestApplication(new FastifyAdapter())');
    expect(project.file(TEST)).toContain("from '@nestjs/platform-fastify'");
    expect(project.file(TEST)).toContain("app.setGlobalPrefix('shop/v1')");
    expect(project.file(PAGES)).toContain("CHECKOUT = '/shop/v1/checkout'");
    expect(project.file(TEXTS)).toContain("LANGUAGE = 'tr'");

    const untested = await new MemoryProject(files, 11).generate({ spec: false, language: 'en' });
    const missing = GENERATED.filter((path) => !untested.files.has(path));
    expect(missing).toEqual(GENERATED.filter((path) => /spec\.ts$|settings\.ts$/.test(path)));
  });

  it('speaks the language that it is given, not that of nest add', async () => {
    const project = await (await new MemoryProject().add({ language: 'tr' })).generate({ language: 'en' });
    expect(project.file(TEXTS)).toBe(readFileSync(TEXTS, 'utf8'));
    expect(project.files.has(TEXTS.replace('.ts', '.tr.ts'))).toBe(false);
  });

  it.each([
    ['has no PaymentModule', 'imports: []'],
    ['gives PaymentModule options', 'imports: [PaymentModule.forRoot({ sessionTtlMs: 60000 })]'],
  ])('leaves a module alone that %s, and prints what to add', async (_, imports) => {
    const module = `import { Module } from '@nestjs/common';\n\n@Module({ ${imports} })\nexport class AppModule {}\n`;
    const project = await new MemoryProject({ [MODULE]: module }).generate({ spec: false });
    expect(project.file(MODULE)).toBe(module);
    expect(project.warned).toEqual([
      expect.stringContaining('imports: [PaymentModule.forRoot(orderPages), CheckoutModule]'),
    ]);
  });
});
