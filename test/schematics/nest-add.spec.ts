import { MemoryProject, SOURCE } from './memory-project.js';

const isNode20 = Number.parseInt(process.versions.node, 10) < 22;
const MODULE = `${SOURCE}/app.module.ts`;
const MAIN = `${SOURCE}/main.ts`;

/** A module with these fields, and with further lines above it. */
const moduleOf = (fields: string, above = ''): string =>
  `import { Module } from '@nestjs/common';\n${above}\n@Module(${fields})\nexport class AppModule {}\n`;

const BOTH = 'ConfigModule.forRoot(), PaymentModule.forRoot()';
const ADDED = `import { ConfigModule } from '@nestjs/config';
import { PaymentModule } from 'nestjs-card-payment';
`;

describe('nest add', () => {
  it('adds the modules, the settings, the shutdown hooks and the packages to a new project', async () => {
    const project = await new MemoryProject().add();
    expect(project.source('app.module.ts')).toBe(`import { Module } from '@nestjs/common';
import { AppController } from './app.controller.js';
import { AppService } from './app.service.js';
import { ConfigModule } from '@nestjs/config';
import { PaymentModule } from 'nestjs-card-payment';

@Module({
  imports: [ConfigModule.forRoot(), PaymentModule.forRoot()],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`);
    expect(project.source('main.ts')).toContain(`
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // the process ends only after its payments have
  await app.listen(`);
    expect(project.file('.env')).toBe(
      'NODE_ENV=development\nPAYMENT_BASE_URL=simulator:\nPAYMENT_STORE_URL=sqlite:payments.sqlite\nPAYMENT_LANGUAGE=en\n',
    );
    expect(project.file('.gitignore')).toBe('.env\n*.sqlite*\n');
    expect(project.tasks).toEqual([
      {
        name: 'node-package',
        options: { command: 'install', quiet: true, packageManager: 'npm', allowScripts: true },
      },
    ]);
    expect(project.warned).toEqual([]);
    expect(project.printed).toEqual(['Next: nest g -c nestjs-card-payment checkout']);
  });

  it.each([
    [11, '^4.0.0', '^0.28.0'],
    [12, '^12.0.0', isNode20 ? '^0.28.0' : '^0.29.0'],
  ] as const)('names versions of packages that fit NestJS %i', async (nest, ofNest, ofKysely) => {
    const { manifest } = await new MemoryProject({ nest }).add();
    expect(manifest.dependencies).toEqual({
      '@nestjs/axios': ofNest,
      '@nestjs/config': ofNest,
      '@nestjs/core': `^${nest}.0.1`,
      axios: '^1.19.0',
      'better-sqlite3': isNode20 ? '^12.0.0' : '^13.0.0',
      'class-transformer': '^0.5.1',
      'class-validator': '^0.15.0',
      kysely: ofKysely,
      rxjs: '^7.8.1',
    });
    expect(Object.keys(manifest.dependencies)).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it.each([
    ['sqlite', 'sqlite:payments.sqlite', 'better-sqlite3'],
    ['postgres', 'postgres://user:password@localhost:5432/shop', 'pg'],
    ['mysql', 'mysql://user:password@localhost:3306/shop', 'mysql2'],
    ['mariadb', 'mariadb://user:password@localhost:3306/shop', 'mysql2'],
  ] as const)('adds the driver and the address of %s', async (store, url, driver) => {
    const project = await new MemoryProject().add({ store });
    expect(project.file('.env')).toContain(`\nPAYMENT_STORE_URL=${url}\n`);
    const drivers = ['better-sqlite3', 'pg', 'mysql2'];
    expect(drivers.filter((name) => project.manifest.dependencies[name] !== undefined)).toEqual([driver]);
    expect(project.printed.some((line) => line.includes('PAYMENT_STORE_URL'))).toBe(store !== 'sqlite');
  });

  it.each([
    ['package-lock.json', 'npm'],
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
  ])('installs by the package manager of %s', async (lock, packageManager) => {
    const project = await new MemoryProject({ files: { [lock]: '' } }).add();
    expect(project.tasks).toEqual([expect.objectContaining({ options: expect.objectContaining({ packageManager }) })]);
    const isNamed = packageManager === 'pnpm' && isNode20;
    expect(project.manifest.pnpm).toEqual(isNamed ? { onlyBuiltDependencies: ['better-sqlite3'] } : undefined);
  });

  it('installs nothing if it must not, and says so', async () => {
    const project = await new MemoryProject().add({ skipInstall: true });
    expect(project.tasks).toEqual([]);
    expect(project.printed[0]).toContain('Install the packages');
  });

  it.each(['Express', 'Fastify'] as const)('does nothing twice on %s', async (adapter) => {
    const project = await new MemoryProject({ adapter }).add();
    const once = new Map(project.files);
    await project.add({ store: 'postgres', language: 'tr' });
    // The driver of another store is all that is new.
    expect([...project.files].filter(([path, text]) => text !== once.get(path)).map(([path]) => path)).toEqual([
      'package.json',
    ]);
    await project.add({ store: 'postgres' });
    expect(project.tasks).toHaveLength(2);
    expect(project.warned).toEqual([]);
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
    [
      'with its imports on the same line as the rest',
      '',
      '{ imports: [OrdersModule] }',
      `{\n  imports: [OrdersModule, ${BOTH}],\n}`,
    ],
  ])('edits a module %s', async (_, above, before, after) => {
    const project = await new MemoryProject({ files: { [MODULE]: moduleOf(before, above) } }).add();
    expect(project.file(MODULE)).toBe(moduleOf(after, ADDED));
    expect(project.warned).toEqual([]);
  });

  it('keeps the style of a project without prettier settings that fit the file', async () => {
    const files = {
      [MODULE]: 'import { Module } from "@nestjs/common"\n@Module({imports: []})\nexport class AppModule {}\n',
    };
    const project = await new MemoryProject({ files }).add();
    expect(project.file(MODULE)).toContain(`@Module({imports: [${BOTH}]})`);
  });

  it.each([
    ['whose imports are elsewhere', { [MODULE]: moduleOf('{ imports: IMPORTS }') }, MODULE],
    ['whose settings are elsewhere', { [MODULE]: moduleOf('SETTINGS') }, MODULE],
    ['with two modules', { [MODULE]: moduleOf('{}') + moduleOf('{}') }, MODULE],
    ['that does not end', { [MODULE]: "import { Module } from '@nestjs/common';\n@Module({ imports: [" }, MODULE],
    ['without imports of files', { [MODULE]: '@Module({ imports: [] })\nexport class AppModule {}\n' }, MODULE],
    ['that starts the application another way', { [MAIN]: 'export const start = (app) => app.listen(3000);\n' }, MAIN],
  ])('leaves a file alone %s, and prints what to add', async (_, files, path) => {
    const project = await new MemoryProject({ files }).add();
    expect(project.file(path)).toBe(Object.values(files)[0]);
    expect(project.warned).toEqual([expect.stringContaining(`${path} was left as it is. Please add to it:\n  `)]);
    expect(project.warned[0]).toContain(path === MAIN ? 'app.enableShutdownHooks();' : `imports: [${BOTH}]`);
  });

  it('keeps settings, patterns and versions that are there', async () => {
    const manifest = {
      dependencies: { '@nestjs/core': '^12.0.0', axios: '1.19.3' },
      devDependencies: { kysely: '^0.28.5' },
    };
    const files = {
      'package.json': JSON.stringify(manifest),
      '.env': 'export PAYMENT_BASE_URL=https://pay.example\nNODE_ENV = test',
      '.gitignore': '/dist\n.env\n',
    };
    const project = await new MemoryProject({ files }).add();
    expect(project.file('.env')).toBe(
      'export PAYMENT_BASE_URL=https://pay.example\nNODE_ENV = test\nPAYMENT_STORE_URL=sqlite:payments.sqlite\nPAYMENT_LANGUAGE=en\n',
    );
    expect(project.file('.gitignore')).toBe('/dist\n.env\n*.sqlite*\n');
    expect(project.manifest.dependencies).toMatchObject({ axios: '1.19.3' });
    expect(project.manifest.dependencies['kysely']).toBeUndefined();
  });

  it.each([
    ['const app = await NestFactory.create(AppModule, { bufferLogs: true });', 'app'],
    [
      'let server: INestApplication = await NestFactory.create(AppModule, {\n    cors: options({ a: [1] }),\n  });',
      'server',
    ],
  ])('finds where the application is made: %s', async (statement, name) => {
    const main = `async function bootstrap() {\n  ${statement}\n  await ${name}.listen(3000);\n}\nbootstrap();\n`;
    const project = await new MemoryProject({ files: { [MAIN]: main } }).add();
    expect(project.file(MAIN)).toContain(`${statement}\n  ${name}.enableShutdownHooks();`);
  });
});
