import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  type CanActivate,
  type INestApplication,
  type INestApplicationContext,
  Injectable,
  type LoggerService,
  Module,
  type ModuleMetadata,
  Scope,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { APP_GUARD, LazyModuleLoader, NestFactory, REQUEST } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import {
  MemoryPaymentStore,
  OnPayment,
  OnRefund,
  PaymentConfigurationError,
  PaymentError,
  PaymentModule,
  type PaymentOptions,
  type PaymentOptionsFactory,
  PaymentService,
  type PaymentStructure,
  standardDialect,
} from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { SUMMARY } from '../operations/log-lines.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { closedPort } from '../rigs/sockets.js';
import { wrapped } from '../rigs/wrapped.js';
import { type Postgres, startPostgres } from '../services/postgres.js';
import { sale, simulatorOptions } from './merchant.js';

const TEXTS = new ExpectedTexts(import.meta.url);
const SECRET = 'hunter2';

/** An application that is started. Unless it serves HTTP, it is a context. */
interface Start extends ModuleMetadata {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly http?: (app: INestApplication) => unknown;
}

@Injectable()
class Orders {
  @OnPayment(['succeeded', 'review'])
  paid(): void {}

  @OnPayment('expired')
  expired(): void {}
}

@Injectable()
class EuOrders {
  @OnPayment('failed', { name: 'eu', id: 'eu-failed' })
  failed(): void {}
}

@Injectable()
class EuMails {
  @OnPayment('expired', { name: 'eu', id: 'eu-mails' })
  expired(): void {}
}

@Injectable()
class LoginGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestGuard extends LoginGuard {}

/** Its name only resembles that of one that counts requests. */
@Injectable()
class LoginThrottlerGuard extends LoginGuard {}

@Injectable()
class Options implements PaymentOptionsFactory {
  createPaymentOptions = () => ({ ...simulatorOptions(simulator), publicUrl: 'https://shop.example' });
}

@Module({ providers: [Options], exports: [Options] })
class OptionsModule {}

@Injectable()
class OrderService {
  constructor(readonly payments: PaymentService) {}
}

let simulator: Simulator;
let standard: Simulator;
let folder: string;
let postgres: Postgres;

const variables = () => ({ ...variablesOf(simulator), PAYMENT_PUBLIC_URL: 'https://shop.example' });

function envFile(): string {
  const path = join(folder, '.env');
  const lines = Object.entries(variables()).map(([name, value]) => `${name}="${value}"`);
  writeFileSync(path, lines.join('\n'));
  return path;
}

const payment = (options: PaymentOptions & PaymentStructure = {}) =>
  PaymentModule.forRoot({ ...new Options().createPaymentOptions(), ...options });
/** With every setting, and a handler. */
const usual = (options: PaymentOptions & PaymentStructure = {}): Start => ({
  imports: [payment(options)],
  providers: [Orders],
});
/** As {@link usual}, behind HTTP and guards for all routes. */
const guarded = (guards: Type<CanActivate>[], options: PaymentStructure = {}): Start => ({
  imports: [ThrottlerModule.forRoot([{ ttl: 1_000, limit: 10 }]), payment(options)],
  providers: [Orders, ...guards.map((useClass) => ({ provide: APP_GUARD, useClass }))],
  http: (app) => app.init(),
});
/** Without shutdown hooks a signal ends a process in the middle of its payments; under Jest nobody is told. */
const listening = (enable: 'never' | 'before' | 'after'): Start => ({
  imports: [payment(), payment({ name: 'eu', callback: { path: 'eu' } })],
  providers: [Orders, EuOrders],
  env: { NODE_ENV: 'development' },
  async http(app) {
    if (enable === 'before') app.enableShutdownHooks(['SIGTERM']);
    await app.listen(0, '127.0.0.1');
    if (enable === 'after') app.enableShutdownHooks(['SIGTERM']);
    await new Promise((resolve) => setTimeout(resolve, 20));
  },
});
/** Beside another setting that is wrong, since all are named at once. */
const wrong = (env: Start['env'], options: PaymentOptions = {}): Start => ({
  env: { ...variables(), PAYMENT_LUHN: `${SECRET}?`, ...env },
  imports: [PaymentModule.forRoot(options)],
});
const async = (options: Parameters<typeof PaymentModule.forRootAsync>[0]): Start => ({
  imports: [PaymentModule.forRootAsync({ callback: { path: 'pay', waitMs: 1_000 }, isGlobal: false, ...options })],
  providers: [Orders],
});
const unset = (NODE_ENV: string | undefined, env: Start['env'] = {}): Start => ({
  env: { NODE_ENV, ...env },
  imports: [PaymentModule.forRoot()],
});

/** The first is the one that others are compared with. */
const STARTS: Readonly<Record<string, () => Start>> = {
  'every setting, and a handler': () => usual(),
  'nothing but variables': () => ({ env: variables(), imports: [PaymentModule.forRoot()], providers: [Orders] }),
  'an .env file, ConfigModule before the module': () => ({
    imports: [ConfigModule.forRoot({ envFilePath: envFile() }), PaymentModule.forRoot()],
  }),
  'an .env file, ConfigModule after the module': () => ({
    imports: [PaymentModule.forRoot(), ConfigModule.forRoot({ envFilePath: envFile() })],
  }),
  'an option beside its variable': () => ({ ...usual(), env: { ...variables(), PAYMENT_BASE_URL: 'http://[::1]:1' } }),
  'two accounts below a prefix, one without background work': () => ({
    imports: [payment(), payment({ name: 'eu', callback: { path: 'pay/eu' }, background: false })],
    providers: [Orders, EuOrders],
    http: (app) => app.setGlobalPrefix('api').init(),
  }),
  'no callback controller': () => usual({ callback: false }),
  'no callback controller, callbacks at an address with a secret': () =>
    usual({
      callback: false,
      returnUrl: `https://shop.example/back/{token}?key=${SECRET}`,
      failUrl: 'https://shop.example/back/{token}',
    }),
  'two accounts without callback controllers': () => ({
    imports: [payment({ callback: false }), payment({ name: 'eu', callback: false })],
    providers: [Orders, EuOrders],
  }),
  'no handler': () => ({ imports: [payment()] }),
  'handlers of refunds alone': () => {
    @Injectable()
    class Returns {
      @OnRefund('succeeded')
      paidBack(): void {}
    }
    return { imports: [payment()], providers: [Returns] };
  },
  'a method that hears payments and refunds': () => {
    @Injectable()
    class Books {
      @OnPayment('succeeded')
      @OnRefund('succeeded')
      moved(): void {}
    }
    return { imports: [payment()], providers: [Books] };
  },
  'no handler, but plain events': () => ({ imports: [EventEmitterModule.forRoot(), payment()] }),
  'a misspelt variable, and two accounts': () => ({
    imports: [payment(), payment({ name: 'eu', callback: { path: 'eu' } })],
    providers: [Orders, EuOrders],
    env: { PAYMENT_SUCESS_URL: `https://shop.example/${SECRET}` },
  }),
  'a store in a file': () => usual({ storeUrl: `sqlite:${join(folder, 'a.db')}` }),
  'a store at a loopback address': () => usual({ storeUrl: postgres.url }),
  // A name of this machine that is no loopback address.
  'a store on another host without TLS': () => usual({ storeUrl: postgres.url.replace('127.0.0.1', '0.0.0.0') }),
  'a service in a module that does not import it': () => {
    @Module({ providers: [OrderService] })
    class OrdersModule {}
    return { imports: [payment(), OrdersModule], providers: [Orders] };
  },
  'a module that is re-exported': () => {
    @Module({ imports: [payment({ isGlobal: false })], exports: [PaymentModule] })
    class ShopModule {}
    return { imports: [ShopModule], providers: [Orders] };
  },
  "a dialect of the host's": () =>
    usual({
      ...simulatorOptions(standard),
      dialect: { ...standardDialect({ signer: () => 'signed' }), name: 'own' },
    }),

  'it listens without shutdown hooks': () => listening('never'),
  'shutdown hooks are enabled before it listens': () => listening('before'),
  'shutdown hooks are enabled after it listens': () => listening('after'),

  'a guard before everything': () => guarded([LoginGuard]),
  'a guard that is made for each request, too': () => guarded([LoginGuard, RequestGuard]),
  'a guard whose name resembles another': () => guarded([LoginThrottlerGuard]),
  'a guard, and the callback is decorated': () =>
    guarded([LoginGuard], { callback: { decorators: [SetMetadata('isPublic', true)] } }),
  'a guard that lets the callback pass, as the host says': () =>
    guarded([LoginGuard], { callback: { decorators: [] } }),
  'a guard, and no callback': () => guarded([LoginGuard], { callback: false }),
  'a guard that only counts requests': () => guarded([ThrottlerGuard]),

  'forRootAsync: useFactory': () => async({ useFactory: () => new Options().createPaymentOptions() }),
  'forRootAsync: useFactory that waits, with imports and inject': () =>
    async({
      imports: [OptionsModule, ConfigModule.forRoot({ ignoreEnvFile: true })],
      inject: [Options, ConfigService],
      async useFactory(options: Options) {
        await new Promise(setImmediate);
        return options.createPaymentOptions();
      },
    }),
  'forRootAsync: useClass': () => async({ useClass: Options }),
  'forRootAsync: useExisting': () => async({ imports: [OptionsModule], useExisting: Options }),
  'forRootAsync: variables for what the factory leaves out': () => ({
    ...async({ useFactory: () => ({ language: 'en' }) }),
    env: variables(),
  }),
  'forRootAsync: no callback controller and no publicUrl': () => ({
    ...async({ callback: false, useFactory: () => ({}) }),
    env: { ...variables(), PAYMENT_PUBLIC_URL: '' },
  }),
  'forRootAsync: nothing': () => ({ imports: [PaymentModule.forRootAsync(undefined as never)] }),
  'forRootAsync: structure alone': () => ({ imports: [PaymentModule.forRootAsync({ isGlobal: true })] }),
  'forRootAsync: options in place of a factory': () => async({ useFactory: { baseUrl: 'x' } as never }),
  'forRootAsync: an option that shapes the module': () => ({
    ...async({ useFactory: () => ({ callback: false }) as PaymentOptions }),
    env: variables(),
  }),
  'forRootAsync: options of a request': () =>
    async({ inject: [REQUEST], useFactory: () => new Options().createPaymentOptions() }),

  'a handler on a provider of a request': () => handlerWith(Scope.REQUEST),
  'a handler on a provider that is made again for each that injects it': () => handlerWith(Scope.TRANSIENT),
  'a bare import': () => ({ imports: [PaymentModule] }),
  'a bare import beside the right one': () => bareBeside(payment()),
  'a bare import, and a service that needs it': () => bareBeside(),
  'an account that is registered twice': () => {
    @Module({ imports: [payment()] })
    class OrdersModule {}
    return { imports: [payment(), OrdersModule] };
  },
  'a named account that is registered twice': () => ({
    imports: [payment(), ...['eu', 'eu/2'].map((path) => payment({ name: 'eu', callback: { path } }))],
  }),
  'a handler of an account that is not registered': () => ({ imports: [payment()], providers: [EuOrders, EuMails] }),
  'two accounts with one path': () => ({
    imports: [payment(), payment({ name: 'eu', callback: { path: 'payments' } })],
  }),
  'two accounts with the same variables': () => ({
    imports: ['eu-shop', 'EU_shop'].map((name) => payment({ name, callback: { path: name } })),
  }),

  'nothing is set': () => unset('test'),
  'one variable is set': () => unset('test', { PAYMENT_BASE_URL: 'https://gateway.example' }),
  'nothing is set, in development': () => unset('development'),
  'nothing is set, NODE_ENV neither': () => unset(undefined),
  'nothing is set, in production': () => unset('production'),
  'nothing is set, in staging': () => unset('staging'),
  'nothing but publicUrl, in a test': () => unset('test', { PAYMENT_PUBLIC_URL: 'https://shop.example' }),
  'nothing but publicUrl, NODE_ENV neither': () => unset(undefined, { PAYMENT_PUBLIC_URL: 'https://shop.example' }),
  'the simulator, in production': () => unset('production', { PAYMENT_BASE_URL: 'simulator:' }),
  'no dialect': () => ({ env: { ...variables(), PAYMENT_DIALECT: '' }, imports: [PaymentModule.forRoot()] }),
  'the other dialect': () => ({
    env: { ...variables(), PAYMENT_DIALECT: 'standard' },
    imports: [PaymentModule.forRoot()],
  }),
  'a misspelt variable, without which it cannot start': () => ({
    env: { ...variables(), PAYMENT_MERCHANT_ID: '', PAYMENT_MERCHANTID: SECRET },
    imports: [PaymentModule.forRoot()],
  }),
  'five wrong variables': () =>
    wrong({
      PAYMENT_BASE_URL: `http://user:${SECRET}@gateway.example`,
      PAYMENT_DIALECT: `${SECRET}-dialect`,
      PAYMENT_TIMEOUT_MS: `${SECRET}ms`,
      PAYMENT_STORE_URL: `oracle://root:${SECRET}@db/payments`,
    }),
  'a store at redis': () => wrong({ PAYMENT_STORE_URL: `redis://shop:${SECRET}@cache.example:6379/0` }),
  'a store at rediss': () => wrong({ PAYMENT_STORE_URL: `rediss://shop:${SECRET}@cache.example:6379/0` }),
  "a store of the merchant's own": () =>
    wrong({}, { store: Object.create(MemoryPaymentStore.prototype, { password: { value: SECRET } }) as never }),
  'a store that was not awaited': () => wrong({}, { store: openSqlStore('sqlite::memory:') as never }),
  'a store that is a URL': () => wrong({}, { store: `postgres://shop:${SECRET}@db/payments` as never }),
};

function handlerWith(scope: Scope): Start {
  @Injectable({ scope })
  class Mail {
    @OnPayment('succeeded')
    paid(): void {}
  }
  return { imports: [payment()], providers: [Mail] };
}

function bareBeside(...others: NonNullable<ModuleMetadata['imports']>): Start {
  @Module({ imports: [PaymentModule], providers: others.length === 0 ? [OrderService] : [] })
  class ShopModule {}
  return { imports: [...others, ShopModule] };
}

describe('starting up', () => {
  let context: INestApplicationContext | undefined;
  let log: ModuleLog;
  const environment = { ...process.env };

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    standard = await startSimulator();
    folder = mkdtempSync(join(tmpdir(), 'start-up-'));
    postgres = await startPostgres();
  }, 30_000);
  beforeEach(() => (log = new ModuleLog()));
  afterEach(end);
  afterAll(async () => {
    await postgres.stop();
    await simulator.close();
    await standard.close();
    rmSync(folder, { recursive: true });
  });

  async function end(): Promise<void> {
    await context?.close();
    context = undefined;
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
  }

  async function boot({ env = {}, http, ...metadata }: Start): Promise<INestApplicationContext> {
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    @Module(metadata)
    class AppModule {}
    const options = { logger: log, abortOnError: false };
    if (!http) return (context = await NestFactory.createApplicationContext(AppModule, options));
    const app = await NestFactory.create(AppModule, options);
    context = app;
    await http(app);
    return app;
  }

  /** A payment, and where the bank sends the buyer of another one. */
  async function pay(payments: PaymentService): Promise<string> {
    const { state } = await payments.doPayment(sale());
    const { conversationId } = await payments.init3d(sale());
    const gateway = simulator.ledger.calls('Init3d', conversationId) > 0 ? simulator : standard;
    const { url } = gateway.approve(conversationId);
    return `pays: ${state}; its bank sends buyers to ${url.replace(/[\w-]{43}/, '{token}')}`;
  }

  /** What the module logs, and whether it then takes payments or what it throws. */
  async function outcomeOf(start: () => Start): Promise<string[]> {
    log = new ModuleLog();
    try {
      const app = await boot(start());
      const lines = [...log.lines];
      const paid = await pay(app.get(PaymentService)).catch((error: PaymentError) => `pays: ${error.code}`);
      return [...lines, paid];
    } catch (error) {
      expectHidden(error);
      return [
        ...log.lines,
        error instanceof PaymentConfigurationError ? `throws ${error.message}` : "throws Nest's own",
      ];
    } finally {
      await end();
    }
  }

  function expectHidden(error: unknown): void {
    const { stack, message } = error as Error;
    const seen = [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), stack, message, ...log.all];
    for (const text of seen) expect(text).not.toContain(SECRET);
  }

  /** Compared with the first; of starts that come out alike, with the first of them. */
  it('says what is started, what looks wrong, and what is wrong', async () => {
    const texts: string[] = [];
    const titles = new Map<string, string>();
    let usualLines: string[] | undefined;
    for (const [title, start] of Object.entries(STARTS)) {
      const lines = await outcomeOf(start);
      expect(log.all.join()).not.toContain(SECRET);
      const first = (usualLines ??= lines);
      const isFirst = first === lines;
      const own = lines.filter((line) => isFirst || !first.includes(line));
      const isStarted = lines.at(-1)!.startsWith('pays');
      const missing = isStarted ? first.filter((line) => !lines.includes(line) && line.startsWith('warn')) : [];
      const shown = [...own, ...missing.map((line) => `not: ${line}`)].map((line) => wrapped(line, '  ')).join('\n');
      const earlier = titles.get(shown);
      titles.set(shown, earlier ?? title);
      if (shown === '') texts.push(`${title}\n  the same`);
      else texts.push(`${title}\n${earlier === undefined ? shown : `  as: ${earlier}`}`);
    }
    TEXTS.expect('start-up.txt', `${texts.join('\n\n')}\n`);
  });

  it('a module that is loaded lazily says so at its first use, before anything is sent', async () => {
    const app = await boot({ env: variables() });
    const module = PaymentModule.forRoot();
    const lazy = await app.get(LazyModuleLoader).load(() => module);
    const payments = lazy.get(PaymentService);
    const before = simulator.requests.length;
    const message = expect.stringMatching(/has not been started by Nest: import it in a module.*app\.init\(\)/s);
    await expect(payments.doPayment(sale())).rejects.toMatchObject({
      code: 'PAYMENT_CONFIGURATION',
      problems: [{ option: 'PaymentModule', variable: null, message }],
    });
    await expect(payments.init3d(sale())).rejects.toThrow(PaymentConfigurationError);
    await expect(payments.reconcile()).rejects.toThrow(PaymentConfigurationError);
    expect(simulator.requests.length).toBe(before);
  });

  // With texts of drivers.
  it.each([
    ['a folder that is not there', () => `sqlite:${join(folder, 'nowhere', 'payments.db')}`],
    ['a file that is no database', () => `sqlite:${join(folder, 'text.db')}`],
    ['a dead PostgreSQL', (port: number) => `postgres://shop:${SECRET}@127.0.0.1:${port}/payments`],
    ['a dead MySQL', (port: number) => `mysql://shop:${SECRET}@127.0.0.1:${port}/payments`],
  ])('a store that cannot be opened: %s', async (_name, url) => {
    writeFileSync(join(folder, 'text.db'), 'This is no database, however long it may be.'.repeat(100));
    const started = boot(usual({ storeUrl: url(await closedPort()) }));
    const error = await started.then(
      () => null,
      (thrown: PaymentConfigurationError) => thrown,
    );
    expect(error?.problems).toMatchObject([{ option: 'storeUrl', variable: 'PAYMENT_STORE_URL' }]);
    expect(error!.message.length).toBeGreaterThan(60);
    expectHidden(error);
  });
});

/** The lines of the module, with the account where a JSON logger is told it; those of Nest count for secrets alone. */
class ModuleLog implements LoggerService {
  readonly lines: string[] = [];
  readonly all: string[] = [];
  readonly log = this.noting('log');
  readonly warn = this.noting('warn');
  readonly error = this.noting('error');

  private noting(level: string) {
    return (message: unknown, ...more: unknown[]): void => {
      const { account } = Object(message) as { readonly account?: string };
      const line = `${level}${account ? ` [${account}]` : ''} ${String(message)}`.replace(
        /127\.0\.0\.1:\d+/g,
        'GATEWAY',
      );
      this.all.push(line, ...more.map(String));
      if (more.includes('PaymentModule') && !SUMMARY.test(line)) this.lines.push(line);
    };
  }
}
