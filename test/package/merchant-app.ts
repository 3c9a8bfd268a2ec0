import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SIMULATOR_CREDENTIALS } from 'nestjs-card-payment/simulator';
import { freePort } from '../services/server.js';
import { installLines } from './guide.js';
import { cleanEnvironment, type Finished, packTarball, run, SALE_CODE } from './tarball.js';

export type ProjectKind = 'nest11' | 'nest12';

const NEST: Readonly<Record<ProjectKind, string>> = { nest11: 'NestJS 11', nest12: 'NestJS 12' };
const COMPILED_DRIVER = 'node_modules/better-sqlite3';
/** The optional peers that the README installs, too. */
const OF_THE_STORE = /^(?:kysely|better-sqlite3)(?:@|$)/;

/** A merchant's application outside this repository, with this package from a tarball and all others from the registry. */
export class MerchantApp {
  private tarball = '';

  private constructor(
    readonly kind: ProjectKind,
    readonly folder: string,
  ) {}

  /**
   * Copies `test/package/merchant` into a project like one of `nest new`, and installs what the README says, with
   * further packages; but those of the store only where they are among them, since the package needs none.
   */
  static async install(kind: ProjectKind, ...further: string[]): Promise<MerchantApp> {
    const app = new MerchantApp(kind, mkdtempSync(join(tmpdir(), `card-payment-${kind}-`)));
    cpSync(join('test/package', kind), app.folder, { recursive: true });
    cpSync('test/package/merchant', join(app.folder, 'src'), { recursive: true });
    await app.writeSettings();
    app.tarball = await packTarball(app.folder);
    const needed = app.installLines('README.md').filter((name) => !OF_THE_STORE.test(name));
    await app.add([...needed, ...further]);
    return app;
  }

  /** The packages that a page says to install for this version of NestJS. */
  installLines(page: string): string[] {
    return installLines(page, NEST[this.kind]);
  }

  /** Runs `npm install`, with the tarball instead of the published package; a peer conflict is an error. */
  async add(packages: readonly string[], ...flags: string[]): Promise<void> {
    const named = packages.map((name) => (name === 'nestjs-card-payment' ? this.tarball : name));
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    const peers = flags.includes('--legacy-peer-deps') ? [] : ['--strict-peer-deps'];
    const { status, stderr } = await this.run('npm', ['install', ...peers, ...quiet, ...flags, ...named]);
    if (status !== 0) {
      throw new Error(`npm install ${named.join(' ')} failed: ${stderr}`);
    }
    await compileDriver(this.folder);
  }

  /** A Node of at least this version, installed from the registry if the current one is older. */
  async nodeOf(major: number): Promise<string> {
    if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath;
    const folder = join(this.folder, `node-${major}`);
    const node = join(folder, 'node_modules/.bin/node');
    if (!existsSync(node)) {
      mkdirSync(folder);
      const args = ['install', '--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund', `node@${major}`];
      const { stderr } = await this.run('npm', args);
      if (!existsSync(node)) throw new Error(`npm install node@${major} failed: ${stderr}`);
    }
    return node;
  }

  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    return run(command, args, { cwd: this.folder, env });
  }

  /** Runs a program in a folder until `use` has ended. */
  async whileRunning(
    [command = '', ...args]: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
    use: () => Promise<void>,
  ): Promise<void> {
    const child = spawn(command, args, { cwd, env: { ...cleanEnvironment(), ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    const ended = once(child, 'exit');
    const endedEarly = ended.then(() => Promise.reject(new Error(`${args.join(' ')} ended: ${output}`)));
    try {
      await Promise.race([use(), endedEarly]);
    } finally {
      endedEarly.catch(() => undefined);
      child.kill('SIGTERM');
      await ended;
    }
  }

  /** Type-checks and compiles, and returns the errors of the compiler. */
  async compile(project = '.', ...flags: string[]): Promise<string> {
    const { stdout } = await this.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project, ...flags]);
    return stdout;
  }

  /** Runs a file or `['-e', code]` in Node, and parses the JSON that it prints. */
  node(...args: string[]): Promise<unknown> {
    return this.printed(process.execPath, args);
  }

  /** Runs `merchant/main.ts` on a store. */
  payOn(storeUrl: string, node = process.execPath): Promise<unknown> {
    return this.printed(node, ['dist/main.js'], { PAYMENT_STORE_URL: storeUrl });
  }

  private async printed(node: string, args: readonly string[], env = {}): Promise<unknown> {
    const { status, stdout, stderr } = await this.run(node, args, env);
    if (status !== 0) {
      throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
    }
    return JSON.parse(stdout);
  }

  version(packageName: string): string {
    return versionIn(this.folder, packageName);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async writeSettings(): Promise<void> {
    const { merchantId, clientId, clientSecret, apiKey } = SIMULATOR_CREDENTIALS;
    const settings = {
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      PAYMENT_MERCHANT_ID: merchantId,
      PAYMENT_CLIENT_ID: clientId,
      PAYMENT_CLIENT_SECRET: clientSecret,
      PAYMENT_API_KEY: apiKey,
      PAYMENT_PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
      PAYMENT_SUCCESS_URL: 'https://shop.example/paid',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.folder, '.env'), lines.join(''));
  }
}

function versionIn(folder: string, packageName: string): string {
  const manifest = readFileSync(join(folder, 'node_modules', packageName, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Compiles better-sqlite3 before version 13, whose binary may fail to download, or copies the binary of this repository. */
export async function compileDriver(folder: string): Promise<void> {
  const driver = join(folder, COMPILED_DRIVER);
  const binary = 'build/Release/better_sqlite3.node';
  if (!existsSync(driver) || existsSync(join(driver, 'prebuilds')) || existsSync(join(driver, binary))) return;
  const isOurs = versionIn('.', 'better-sqlite3') === versionIn(folder, 'better-sqlite3');
  if (isOurs && existsSync(join(COMPILED_DRIVER, binary))) {
    mkdirSync(join(driver, 'build/Release'), { recursive: true });
    copyFileSync(join(COMPILED_DRIVER, binary), join(driver, binary));
  } else {
    await run('npm', ['rebuild', 'better-sqlite3'], { cwd: folder });
  }
}

/** The expected output of `merchant/main.ts`. */
export const BOTH_FLOWS_PAID = {
  direct: 'succeeded',
  threeD: 'succeeded',
  own: 'succeeded',
  location: 'https://shop.example/paid?conversationId={id}',
  paid: ['direct', 'threeD', 'own'],
  emitted: ['direct', 'threeD', 'own'],
  charges: [1, 1, 1],
  violations: [],
  receivesEventClass: true,
  refused: {
    status: 400,
    body: {
      statusCode: 400,
      message: 'The payment was refused before sending: cardDetails.cardNo: Card number has a mistyped digit',
    },
    errorsLogged: 0,
  },
};

/** A shop at `simulator:`, and a sale in its application. */
const SHOP = `
  require('reflect-metadata');
  const { ConsoleLogger, Module } = require('@nestjs/common');
  const { NestFactory } = require('@nestjs/core');
  const { PaymentModule, PaymentService } = require('nestjs-card-payment');
  class Shop {}
  Module({ imports: [PaymentModule.forRoot({ baseUrl: 'simulator:' })] })(Shop);
  const pay = (app) => app.get(PaymentService).doPayment(${SALE_CODE});
`;

/** Prints how Nest's logger prints the log record of a payment: as a line in a console, and as an object in JSON. */
export const LOG_SCRIPT = `${SHOP}
  async function logged(options) {
    const printed = [];
    const write = process.stdout.write;
    process.stdout.write = (text) => (printed.push(text), true);
    const app = await NestFactory.createApplicationContext(Shop, { logger: new ConsoleLogger(options) });
    const { conversationId } = await pay(app);
    await app.close();
    process.stdout.write = write;
    const [line] = printed.filter((text) => text.includes('Payment ' + conversationId + ','));
    return line.replaceAll(conversationId, '{id}').replace(/\\d+ ms/, '{n} ms').trim();
  }

  (async () => {
    const line = await logged({ colors: false });
    const { message, state, conversationId, kind, amount, currency } = JSON.parse(await logged({ json: true })).message;
    console.log(JSON.stringify([line.replace(/^.*(?=LOG)/, ''), { message, state, conversationId, kind, amount, currency }]));
  })();
`;

export const EXPECTED_LOG = [
  'LOG [PaymentModule] Payment {id}, 149.90 TRY: succeeded (B0000) after {n} ms',
  {
    message: 'Payment {id}, 149.90 TRY: succeeded (B0000) after {n} ms',
    state: 'succeeded',
    conversationId: '{id}',
    kind: 'direct',
    amount: '149.90',
    currency: 'TRY',
  },
];

/** Prints the outcome of payments while the logger fails at each line of the module. */
export const FAILING_LOGGER_SCRIPT = `${SHOP}
  const unhandled = [];
  process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
  let lost = 0;

  async function paid(fail, options) {
    const method = (...line) => (line.includes('PaymentModule') ? ((lost += 1), fail()) : undefined);
    const logger = Object.fromEntries(['log', 'warn', 'error', 'debug', 'verbose'].map((level) => [level, method]));
    const app = await NestFactory.createApplicationContext(Shop, options ?? { logger });
    if (options) app.useLogger(logger);
    const { state, stored } = await pay(app);
    await app.close();
    return [state, stored];
  }

  (async () => {
    const throwing = () => { throw new Error('disk full'); };
    const rejecting = () => Promise.reject(new Error('disk full'));
    const outcomes = [];
    for (const fail of [throwing, rejecting]) {
      for (const options of [undefined, { bufferLogs: true }]) outcomes.push(await paid(fail, options));
    }
    await new Promise(setImmediate);
    console.log(JSON.stringify([outcomes.flat(), lost > 8, unhandled]));
  })();
`;

export const PAID_DESPITE_LOGGER = [Array.from({ length: 4 }, () => ['succeeded', true]).flat(), true, []];

/** Prints the result of the health indicator with Nest and terminus. */
export const HEALTH_SCRIPT = `
  require('reflect-metadata');
  const { Module } = require('@nestjs/common');
  const { NestFactory } = require('@nestjs/core');
  const { HealthCheckService, TerminusModule } = require('@nestjs/terminus');
  const { PaymentModule } = require('nestjs-card-payment');
  const { PaymentHealthIndicator } = require('nestjs-card-payment/health');
  class AppModule {}
  const settings = {
    dialect: 'morpos', baseUrl: 'http://127.0.0.1:9', merchantId: 'm', clientId: 'c', clientSecret: 's', apiKey: 'k',
    callback: false,
  };
  Module({ imports: [TerminusModule, PaymentModule.forRoot(settings)], providers: [PaymentHealthIndicator] })(AppModule);
  (async () => {
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const payments = app.get(PaymentHealthIndicator);
    const health = await app.resolve(HealthCheckService);
    const { status, details } = await health.check([() => payments.check()]);
    console.log(JSON.stringify([status, details.payments.status, details.payments.store, details.payments.background]));
    await app.close();
  })();
`;

export const EXPECTED_HEALTH = ['ok', 'up', 'up', 'running'];

/** Expects the output of `merchant/api-document.ts` to be an OpenAPI document that describes the merchant's routes. */
export async function expectApiDocument(printed: unknown): Promise<void> {
  const document = printed as { components: { schemas: Record<string, unknown> } } & Record<string, unknown>;
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  const { schemas } = document.components;
  expect(schemas['CheckoutDto']).toMatchObject({ required: ['cardDetails', 'cardHolderInfo'] });
  expect(schemas['CardDetailsDto']).toMatchObject({
    required: ['cardNo', 'expDate', 'cvv'],
    properties: { cvv: { type: 'string', pattern: '^\\d{3,4}$', writeOnly: true } },
  });
}

/** Prints whether `require` and `import` of each entry return the same classes. */
export const ONE_COPY_SCRIPT = `
  const entries = ['nestjs-card-payment', 'nestjs-card-payment/simulator', 'nestjs-card-payment/testing', 'nestjs-card-payment/health'];
  const isOneCopy = async (entry) => {
    const required = require(entry);
    const imported = await import(entry);
    return Object.keys(required).filter((name) => name !== '__esModule').every((name) => required[name] === imported[name]);
  };
  Promise.all(entries.map(isOneCopy)).then((all) => console.log(JSON.stringify(all)));
`;
