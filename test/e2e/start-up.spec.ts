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
} from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { SUMMARY } from '../operations/log-lines.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { closedPort } from '../rigs/sockets.js';
import { suiteStore } from '../rigs/suite-stores.js';
import { wrapped } from '../rigs/wrapped.js';
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
let postgres: string;
let folder: string;

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
const listening = (isEnabled: boolean): Start => ({
  imports: [payment(), payment({ name: 'eu', callback: { path: 'eu' } })],
  providers: [Orders, EuOrders],
  env: { NODE_ENV: 'development' },
  async http(app) {
    await app.listen(0, '127.0.0.1');
    if (isEnabled) app.enableShutdownHooks(['SIGTERM']);
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
const unset = (NODE_ENV: string, env: Start['env'] = {}): Start => ({
  env: { NODE_ENV, ...env },
  imports: [PaymentModule.forRoot()],
});

/** The first is the one that others are compared with. */
const STARTS: Readonly<Record<string, () => Start>> = {
  'every setting, and a handler': () => usual(),
  'nothing but variables': () => ({ env: variables(), imports: [PaymentModule.forRoot()], providers: [Orders] }),
  'an .env file, ConfigModule after the module': () => ({
    imports: [PaymentModule.forRoot(), ConfigModule.forRoot({ envFilePath: envFile() })],
  }),
  'two accounts below a prefix, one without background work': () => ({
    imports: [payment(), payment({ name: 'eu', callback: { path: 'pay/eu' }, background: false })],
    providers: [Orders, EuOrders],
    http: (app) => app.setGlobalPrefix('api').init(),
  }),
  'no callback controller': () => usual({ callback: false }),
  'no handler': () => ({ imports: [payment()] }),
  'handlers of refunds alone': () => {
    @Injectable()
    class Returns {
      @OnRefund('succeeded')
      paidBack(): void {}
    }
    return { imports: [payment()], providers: [Returns] };
  },
  'no handler, but plain events': () => ({ imports: [EventEmitterModule.forRoot(), payment()] }),
  'a misspelt variable, and two accounts': () => ({
    imports: [payment(), payment({ name: 'eu', callback: { path: 'eu' } })],
    providers: [Orders, EuOrders],
    env: { PAYMENT_SUCESS_URL: `https://shop.example/${SECRET}` },
  }),
  'a store in a file': () => usual({ storeUrl: `sqlite:${join(folder, 'a.db')}` }),
  // A name of this machine that is no loopback address.
  'a store on another host without TLS': () => usual({ storeUrl: postgres.replace('127.0.0.1', '0.0.0.0') }),
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

  'it listens without shutdown hooks': () => listening(false),
  'shutdown hooks are enabled after it listens': () => listening(true),

  'a guard before everything': () => guarded([LoginGuard]),
  'a guard, and the callback is decorated': () =>
    guarded([LoginGuard], { callback: { decorators: [SetMetadata('isPublic', true)] } }),
  'a guard that lets the callback pass, as the host says': () =>
    guarded([LoginGuard], { callback: { decorators: [] } }),
  'a guard that only counts requests': () => guarded([ThrottlerGuard]),
  'a guard whose name resembles another': () => guarded([class LoginThrottlerGuard extends LoginGuard {}]),

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
  'forRootAsync: useExisting': () => async({ imports: [OptionsModule], useExisting: Options }),
  'forRootAsync: variables for what the factory leaves out': () => ({
    ...async({ useFactory: () => ({ language: 'en' }) }),
    env: variables(),
  }),
  'forRootAsync: options in place of a factory': () => async({ useFactory: { baseUrl: 'x' } as never }),
  'forRootAsync: an option that shapes the module': () => ({
    ...async({ useFactory: () => ({ callback: false }) as PaymentOptions }),
    env: variables(),
  }),
  'forRootAsync: options of a request': () =>
    async({ inject: [REQUEST], useFactory: () => new Options().createPaymentOptions() }),

  'a handler on a provider of a request': () => handlerWith(Scope.REQUEST),
  'a handler on a provider that is made again for each that injects it': () => handlerWith(Scope.TRANSIENT),
  'a bare import beside the right one': () => {
    @Module({ imports: [PaymentModule] })
    class ShopModule {}
    return { imports: [payment(), ShopModule] };
  },
  'an account that is registered twice': () => {
    @Module({ imports: [payment()] })
    class OrdersModule {}
    return { imports: [payment(), OrdersModule] };
  },
  'a handler of an account that is not registered': () => ({ imports: [payment()], providers: [EuOrders, EuMails] }),
  'two accounts with one path': () => ({
    imports: [payment(), payment({ name: 'eu', callback: { path: 'payments' } })],
  }),
  'two accounts with the same variables': () => ({
    imports: ['eu-shop', 'EU_shop'].map((name) => payment({ name, callback: { path: name } })),
  }),

  'nothing is set': () => unset('test'),
  'nothing is set, in production': () => unset('production'),
  'the simulator, in production': () => unset('production', { PAYMENT_BASE_URL: 'simulator:' }),
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
  "a store of the merchant's own": () =>
    wrong({}, { store: Object.create(MemoryPaymentStore.prototype, { password: { value: SECRET } }) as never }),
};

function handlerWith(scope: Scope): Start {
  @Injectable({ scope })
  class Mail {
    @OnPayment('succeeded')
    paid(): void {}
  }
  return { imports: [payment()], providers: [Mail] };
}

describe('starting up', () => {
  let context: INestApplicationContext | undefined;
  let log: ModuleLog;
  const environment = { ...process.env };

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    postgres = await (await suiteStore('PostgreSQL')).create();
    folder = mkdtempSync(join(tmpdir(), 'start-up-'));
  });
  beforeEach(() => (log = new ModuleLog()));
  afterEach(end);
  afterAll(async () => {
    await simulator.close();
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
    const { url } = simulator.approve(conversationId);
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
