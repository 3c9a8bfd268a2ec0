import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import packages from './packages.json' with { type: 'json' };
import { type Context, NestProject, type Tree } from './project.js';
import { codeOf, withModules, withShutdownHooks } from './source-text.js';

/** Where this file is in the package. */
declare const OWN_FILE: string | undefined;
const TEMPLATES = typeof OWN_FILE === 'undefined' ? 'sample/starter' : join(dirname(OWN_FILE), 'files');

interface Options {
  readonly sourceRoot?: string;
  readonly skipInstall?: boolean;
  readonly store?: keyof typeof packages.stores;
  readonly language?: string;
  readonly spec?: boolean;
}

/** `nest add nestjs-card-payment` */
export function nestAdd({ sourceRoot = 'src', skipInstall, store = 'sqlite', language = 'en' }: Options) {
  return async (tree: Tree, context: Context): Promise<void> => {
    const project = new NestProject(tree, context);
    const { url, driver } = packages.stores[store];
    project.addPackages([...packages.needed, driver], skipInstall);
    project.addLines('.env', [
      'NODE_ENV=development',
      'PAYMENT_BASE_URL=simulator:',
      `PAYMENT_STORE_URL=${url}`,
      `PAYMENT_LANGUAGE=${language}`,
    ]);
    project.addLines('.gitignore', ['.env', '*.sqlite*']);
    const modules = {
      'ConfigModule.forRoot()': "import { ConfigModule } from '@nestjs/config';",
      'PaymentModule.forRoot()': "import { PaymentModule } from 'nestjs-card-payment';",
    };
    await project.edit(`${sourceRoot}/app.module.ts`, (source) => withModules(source, modules), [
      ...Object.values(modules),
      'imports: [ConfigModule.forRoot(), PaymentModule.forRoot()]',
    ]);
    await project.edit(`${sourceRoot}/main.ts`, withShutdownHooks, ['app.enableShutdownHooks();']);
    if (store !== 'sqlite') context.logger.info('Set PAYMENT_STORE_URL in .env to the address of your database.');
    if (skipInstall) context.logger.info('Install the packages that package.json names now.');
    context.logger.info('Next: nest g -c nestjs-card-payment checkout');
  };
}

/** `nest g -c nestjs-card-payment checkout` */
export function checkout({ sourceRoot = 'src', skipInstall, language, spec = true }: Options) {
  return async (tree: Tree, context: Context): Promise<void> => {
    const project = new NestProject(tree, context);
    const main = project.read(`${sourceRoot}/main.ts`);
    const [, prefix = ''] = /setGlobalPrefix\(\s*['"`]\/?([^'"`]+?)\/?['"`]/.exec(main) ?? [];
    const [, configured] = /^[ \t]*PAYMENT_LANGUAGE[ \t]*=[ \t]*["']?(\w+)/m.exec(project.read('.env')) ?? [];
    // The Nest CLI always gives a language: that of the code, ts.
    const isTurkish = language === 'tr' || (language !== 'en' && configured === 'tr');
    const adapt = (source: string) => adapted(source, project.isEsm, main.includes('FastifyAdapter'), prefix);
    for (const [path, source] of templates(isTurkish)) {
      const isOfTests = /spec\.ts$|settings\.ts$/.test(path);
      if (spec || !isOfTests) await project.create(posix.join(sourceRoot, path), adapt(source));
    }
    const statement = adapt("import { CheckoutModule, orderPages } from './checkout/checkout.module.js';");
    await project.edit(`${sourceRoot}/app.module.ts`, (source) => withCheckout(source, statement), [
      statement,
      'imports: [PaymentModule.forRoot(orderPages), CheckoutModule]',
    ]);
    project.addPackages(['better-sqlite3', '@types/better-sqlite3'], skipInstall);
    const path = posix.join('/', prefix, 'checkout');
    context.logger.info(`Then start the application, and order at http://localhost:3000${path}`);
  };
}

function withCheckout(source: string, statement: string): string | null {
  const code = codeOf(source);
  if (code.includes('CheckoutModule')) return source;
  const call = 'PaymentModule.forRoot(';
  const end = code.indexOf(`${call})`) + call.length;
  if (end < call.length) return null;
  return withModules(`${source.slice(0, end)}orderPages${source.slice(end)}`, { CheckoutModule: statement });
}

/** The files of the starter, by their paths from the source of a project. */
function templates(isTurkish: boolean): [path: string, source: string][] {
  return ['src/checkout', 'test'].flatMap((folder) =>
    readdirSync(join(TEMPLATES, folder))
      .filter((name) => !name.endsWith('.tr.ts'))
      .map((name): [path: string, source: string] => {
        const file = isTurkish ? name.replace('texts.ts', 'texts.tr.ts') : name;
        return [posix.relative('src', `${folder}/${name}`), readFileSync(join(TEMPLATES, folder, file), 'utf8')];
      }),
  );
}

function adapted(source: string, isEsm: boolean, isFastify: boolean, prefix: string): string {
  const adapter = isFastify ? 'new FastifyAdapter()' : '';
  const replacements: [isMeant: boolean, what: string | RegExp, by: string][] = [
    [!isEsm, /'(\.[^']*)\.js'/g, "'$1'"],
    [isFastify, 'import { Test }', "import { FastifyAdapter } from '@nestjs/platform-fastify';\n$&"],
    [prefix !== '', 'createNestApplication();', `$&\n    app.setGlobalPrefix('${prefix}');`],
    [isFastify, 'createNestApplication(', `$&${adapter}`],
    [prefix !== '', "CHECKOUT = '", `$&/${prefix}`],
  ];
  return replacements.reduce((text, [isMeant, what, by]) => (isMeant ? text.replace(what, by) : text), source);
}
