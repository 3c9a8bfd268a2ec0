import { MAIN, MemoryProject, MODULE } from './memory-project.js';

const isNode20 = Number.parseInt(process.versions.node, 10) < 22;

/** A module with these fields, and with further lines above it. */
const moduleOf = (fields: string, above = ''): string =>
  `import { Module } from '@nestjs/common';\n${above}\n@Module(${fields})\nexport class AppModule {}\n`;

const BOTH = 'ConfigModule.forRoot(), PaymentModule.forRoot()';
const ADDED = `import { ConfigModule } from '@nestjs/config';
import { PaymentModule } from 'nestjs-card-payment';
`;

// What the Nest CLI makes of it, in a project that is built, is in test/package/first-command.spec.ts.
describe('nest add', () => {
  it('adds the modules, the settings, the shutdown hooks and the packages to a new project', async () => {
    const project = await new MemoryProject().add();
    expect(project.file(MODULE)).toBe(`import { Module } from '@nestjs/common';
import { AppController } from './app.controller.js';
import { ConfigModule } from '@nestjs/config';
import { PaymentModule } from 'nestjs-card-payment';

@Module({
  imports: [ConfigModule.forRoot(), PaymentModule.forRoot()],
  controllers: [AppController],
})
export class AppModule {}
`);
    expect(project.file(MAIN)).toContain(`
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // the process ends only after its payments have
  await app.listen(`);
    expect(project.file('.env')).toBe(
      'NODE_ENV=development\nPAYMENT_BASE_URL=simulator:\nPAYMENT_STORE_URL=sqlite:payments.sqlite\nPAYMENT_LANGUAGE=en\n',
    );
    expect(project.file('.gitignore')).toBe('.env\n*.sqlite*\n');
    const options = { command: 'install', quiet: true, packageManager: 'npm', allowScripts: true };
    expect(project.tasks).toEqual([{ name: 'node-package', options }]);
    expect(project.warned).toEqual([]);
    expect(project.printed).toEqual(['Next: nest g -c nestjs-card-payment checkout']);

    const once = new Map(project.files);
    await project.add({ language: 'tr' });
    expect([project.files, project.tasks.length, project.warned]).toEqual([once, 1, []]);
  });

  it.each([
    [11, '^4.0.0', '^0.28.0'],
    [12, '^12.0.0', isNode20 ? '^0.28.0' : '^0.29.0'],
  ] as const)('names versions of packages that fit NestJS %i', async (nest, ofNest, ofKysely) => {
    const { manifest } = await new MemoryProject({}, nest).add();
    expect(Object.entries(manifest.dependencies)).toEqual([
      ['@nestjs/axios', ofNest],
      ['@nestjs/config', ofNest],
      ['@nestjs/core', `^${nest}.0.1`],
      ['axios', '^1.19.0'],
      ['better-sqlite3', isNode20 ? '^12.0.0' : '^13.0.0'],
      ['class-transformer', '^0.5.1'],
      ['class-validator', '^0.15.0'],
      ['kysely', ofKysely],
      ['rxjs', '^7.8.1'],
    ]);
  });

  it.each([
    ['sqlite', 'sqlite:payments.sqlite', 'better-sqlite3'],
    ['postgres', 'postgres://user:password@localhost:5432/shop', 'pg'],
    ['mysql', 'mysql://user:password@localhost:3306/shop', 'mysql2'],
    ['mariadb', 'mariadb://user:password@localhost:3306/shop', 'mysql2'],
  ] as const)('adds the driver and the address of %s', async (store, url, driver) => {
    const project = await new MemoryProject().add({ store, skipInstall: true });
    expect(project.file('.env')).toContain(`\nPAYMENT_STORE_URL=${url}\n`);
    const drivers = ['better-sqlite3', 'pg', 'mysql2'];
    expect(drivers.filter((name) => project.manifest.dependencies[name] !== undefined)).toEqual([driver]);
    expect(project.printed.some((line) => line.includes('PAYMENT_STORE_URL'))).toBe(store !== 'sqlite');
    expect(project.tasks).toEqual([]);
  });

  it.each([
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
  ])('installs by the package manager of %s', async (lock, packageManager) => {
    const project = await new MemoryProject({ [lock]: '' }).add();
    expect(project.tasks).toMatchObject([{ options: { packageManager } }]);
    const isNamed = packageManager === 'pnpm' && isNode20;
    expect(project.manifest.pnpm).toEqual(isNamed ? { onlyBuiltDependencies: ['better-sqlite3'] } : undefined);
  });

  const FURTHER = `
    DatabaseModule.forRoot({ url: 'a, [b', entities: [Order] }), // ] not the end
    OrdersModule,`;

  it.each<[what: string, above: string, before: string, after: string]>([
    [
      'with further modules',
      '',
      `{\n  imports: [${FURTHER}\n  ],\n}`,
      `{\n  imports: [${FURTHER}\n    ConfigModule.forRoot(),\n    PaymentModule.forRoot(),\n  ],\n}`,
    ],
    [
      'that reads its settings already',
      "import { ConfigModule } from '@nestjs/config';\n",
      '{\n  imports: [ConfigModule.forRoot({ isGlobal: true })],\n}',
      '{\n  imports: [ConfigModule.forRoot({ isGlobal: true }), PaymentModule.forRoot()],\n}',
    ],
    [
      'without imports',
      '',
      '{ providers: [{ provide: X, useValue: { imports: [] } }] }',
      `{\n  imports: [${BOTH}],\n  providers: [{ provide: X, useValue: { imports: [] } }],\n}`,
    ],
    ['that is empty', '', '{}', `{\n  imports: [${BOTH}],\n}`],
  ])('edits a module %s', async (_, above, before, after) => {
    const project = await new MemoryProject({ [MODULE]: moduleOf(before, above) }).add();
    expect(project.file(MODULE)).toBe(moduleOf(after, ADDED));
    expect(project.warned).toEqual([]);
  });

  it.each([
    ['whose imports are elsewhere', MODULE, moduleOf('{ imports: IMPORTS }')],
    ['with two modules', MODULE, moduleOf('{}') + moduleOf('{}')],
    ['that does not end', MODULE, "import { Module } from '@nestjs/common';\n@Module({ imports: ["],
    ['that starts the application another way', MAIN, 'export const start = (app) => app.listen(3000);\n'],
  ])('leaves a file alone %s, and prints what to add', async (_, path, source) => {
    const project = await new MemoryProject({ [path]: source }).add();
    expect(project.file(path)).toBe(source);
    expect(project.warned).toEqual([expect.stringContaining(`${path} was left as it is. Please add to it:\n  `)]);
    expect(project.warned[0]).toContain(path === MAIN ? 'app.enableShutdownHooks();' : `imports: [${BOTH}]`);
  });

  it('keeps settings, patterns, versions and the style that are there', async () => {
    const manifest = { dependencies: { axios: '1.19.3' }, devDependencies: { kysely: '^0.28.5' } };
    const project = await new MemoryProject({
      'package.json': JSON.stringify(manifest),
      '.env': 'export PAYMENT_BASE_URL=https://pay.example\nNODE_ENV = test',
      '.gitignore': '/dist\n.env\n',
      [MODULE]: 'import { Module } from "@nestjs/common"\n@Module({imports: []})\nexport class AppModule {}\n',
      [MAIN]: 'const app = await NestFactory.create(AppModule, { bufferLogs: true });\n  await app.listen(3000);\n',
    }).add();
    expect(project.file('.env')).toBe(
      'export PAYMENT_BASE_URL=https://pay.example\nNODE_ENV = test\nPAYMENT_STORE_URL=sqlite:payments.sqlite\nPAYMENT_LANGUAGE=en\n',
    );
    expect(project.file('.gitignore')).toBe('/dist\n.env\n*.sqlite*\n');
    expect(project.manifest.dependencies).toMatchObject({ axios: '1.19.3' });
    expect(project.manifest.dependencies['kysely']).toBeUndefined();
    expect(project.file(MODULE)).toContain(`@Module({imports: [${BOTH}]})`);
    expect(project.file(MAIN)).toContain('{ bufferLogs: true });\napp.enableShutdownHooks();');
  });
});
