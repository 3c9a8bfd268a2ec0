import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type Context, NestProject, type Tree } from './project.js';
import { codeOf, withImport, withModuleImports, withShutdownHooks } from './source-text.js';

/** Where this file is in the package. */
declare const OWN_FILE: string | undefined;
const TEMPLATES = typeof OWN_FILE === 'undefined' ? 'sample/starter' : join(dirname(OWN_FILE), 'files');

type Rule = (tree: Tree, context: Context) => Promise<void>;

interface Options {
  readonly sourceRoot?: string;
  readonly skipInstall?: boolean;
}

const PACKAGES = ['@nestjs/axios', '@nestjs/config', 'axios', 'class-transformer', 'class-validator', 'kysely'];
const STORES = {
  sqlite: { url: 'sqlite:payments.sqlite', driver: 'better-sqlite3' },
  postgres: { url: 'postgres://user:password@localhost:5432/shop', driver: 'pg' },
  mysql: { url: 'mysql://user:password@localhost:3306/shop', driver: 'mysql2' },
  mariadb: { url: 'mariadb://user:password@localhost:3306/shop', driver: 'mysql2' },
} as const;

interface NestAddOptions extends Options {
  readonly store?: keyof typeof STORES;
  readonly language?: 'en' | 'tr';
}

/** `nest add nestjs-card-payment` */
export function nestAdd(given: NestAddOptions): Rule {
  const { sourceRoot = 'src', skipInstall = false, store = 'sqlite', language = 'en' } = given;
  return async (tree, context) => {
    const project = new NestProject(tree, context);
    const { url, driver } = STORES[store];
    project.addPackages([...PACKAGES, driver], [], skipInstall);
    project.addLines('.env', [
      'NODE_ENV=development',
      'PAYMENT_BASE_URL=simulator:',
      `PAYMENT_STORE_URL=${url}`,
      `PAYMENT_LANGUAGE=${language}`,
    ]);
    project.addLines('.gitignore', ['.env', '*.sqlite*']);
    const parts = {
      ConfigModule: "import { ConfigModule } from '@nestjs/config';",
      PaymentModule: "import { PaymentModule } from 'nestjs-card-payment';",
    };
    await project.edit(`${sourceRoot}/app.module.ts`, (source) => withModules(source, parts, '.forRoot()'), [
      ...Object.values(parts),
      'imports: [ConfigModule.forRoot(), PaymentModule.forRoot()]',
    ]);
    await project.edit(`${sourceRoot}/main.ts`, withShutdownHooks, ['app.enableShutdownHooks();']);
    if (store !== 'sqlite') context.logger.info('Set PAYMENT_STORE_URL in .env to the address of your database.');
    if (skipInstall) context.logger.info('Install the packages that package.json names now.');
    context.logger.info('Next: nest g -c nestjs-card-payment checkout');
  };
}

interface CheckoutOptions extends Options {
  readonly language?: string;
  readonly spec?: boolean;
}

/** `nest g -c nestjs-card-payment checkout` */
export function checkout({ sourceRoot = 'src', skipInstall = false, language, spec = true }: CheckoutOptions): Rule {
  return async (tree, context) => {
    const project = new NestProject(tree, context);
    const main = project.read(`${sourceRoot}/main.ts`);
    const [, prefix = ''] = /setGlobalPrefix\(\s*['"`]\/?([^'"`]+?)\/?['"`]/.exec(main) ?? [];
    const [, configured] = /^\s*PAYMENT_LANGUAGE\s*=\s*["']?(\w+)/m.exec(project.read('.env')) ?? [];
    // The Nest CLI always gives a language: that of the code, ts.
    const isTurkish = language === 'tr' || (language !== 'en' && configured === 'tr');
    const adapt = (source: string) => adapted(source, project.isEsm, main.includes('FastifyAdapter'), prefix);
    for (const [name, source] of templates(isTurkish)) {
      const path = posix.join(sourceRoot, name);
      if (spec || !/spec\.ts$|settings\.ts$/.test(path)) await project.create(path, adapt(source));
    }
    const statement = adapt("import { CheckoutModule, orderPages } from './checkout/checkout.module.js';");
    await project.edit(`${sourceRoot}/app.module.ts`, (source) => withCheckout(source, statement), [
      statement,
      'imports: [PaymentModule.forRoot(orderPages), CheckoutModule]',
    ]);
    project.addPackages(['better-sqlite3'], ['@types/better-sqlite3'], skipInstall);
    context.logger.info(
      `Then start the application, and order at http://localhost:3000${posix.join('/', prefix, 'checkout')}`,
    );
  };
}

/** Adds what the source does not name yet. */
function withModules(source: string, imports: Readonly<Record<string, string>>, call: string): string | null {
  const missing = Object.keys(imports).filter((name) => !codeOf(source).includes(name));
  if (missing.length === 0) return source;
  const edited = withModuleImports(
    source,
    missing.map((name) => name + call),
  );
  return missing.reduce((text, name) => text && withImport(text, imports[name] ?? ''), edited);
}

function withCheckout(source: string, statement: string): string | null {
  if (codeOf(source).includes('CheckoutModule')) return source;
  const call = codeOf(source).indexOf('PaymentModule.forRoot()');
  const options = call + 'PaymentModule.forRoot('.length;
  const edited = `${source.slice(0, options)}orderPages${source.slice(options)}`;
  return call < 0 ? null : withModules(edited, { CheckoutModule: statement }, '');
}

/** The files of the starter, by their paths from the source of a project. */
function templates(isTurkish: boolean): [path: string, source: string][] {
  const folders = ['checkout', '../test'].map((folder) => posix.join('src', folder));
  const files = folders.flatMap((folder) => readdirSync(join(TEMPLATES, folder)).map((name) => `${folder}/${name}`));
  return files
    .filter((file) => !file.endsWith('.tr.ts'))
    .map((file) => {
      const source = isTurkish ? file.replace('texts.ts', 'texts.tr.ts') : file;
      return [posix.relative('src', file), readFileSync(join(TEMPLATES, source), 'utf8')];
    });
}

function adapted(source: string, isEsm: boolean, isFastify: boolean, prefix: string): string {
  let text = source;
  if (!isEsm) text = text.replace(/'(\.[^']*)\.js'/g, "'$1'");
  if (prefix) {
    text = text
      .replace("CHECKOUT = '", `CHECKOUT = '/${prefix}`)
      .replace('createNestApplication();', `createNestApplication();\n    app.setGlobalPrefix('${prefix}');`);
  }
  if (isFastify && text.includes('createNestApplication()')) {
    text = text
      .replace('createNestApplication()', 'createNestApplication(new FastifyAdapter())')
      .replace('import { Test }', "import { FastifyAdapter } from '@nestjs/platform-fastify';\nimport { Test }");
  }
  return text;
}
