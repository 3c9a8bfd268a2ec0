import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  type INestApplicationContext,
  Injectable,
  type LoggerService,
  Module,
  type ModuleMetadata,
  Scope,
} from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { LazyModuleLoader, NestFactory, REQUEST } from '@nestjs/core';
import {
  MemoryPaymentStore,
  OnPayment,
  PaymentConfigurationError,
  PaymentModule,
  type PaymentOptions,
  type PaymentOptionsFactory,
  PaymentService,
  standardDialect,
} from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { sale, simulatorOptions } from './merchant.js';

const PASSWORD = 'hunter2-secret';

class KeptLog implements LoggerService {
  readonly lines: string[] = [];
  private readonly keep = (...said: unknown[]): void => void this.lines.push(...said.map(String));
  log = this.keep;
  warn = this.keep;
  error = this.keep;
}

describe('starting up', () => {
  let simulator: Simulator;
  let context: INestApplicationContext | undefined;
  let folder: string;
  let log: KeptLog;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    folder = mkdtempSync(join(tmpdir(), 'start-up-'));
  });
  beforeEach(() => (log = new KeptLog()));
  afterEach(async () => {
    await context?.close();
    context = undefined;
    for (const name of Object.keys(process.env)) if (name.startsWith('PAYMENT_')) delete process.env[name];
  });
  afterAll(async () => {
    await simulator.close();
    rmSync(folder, { recursive: true });
  });

  function variables(): Record<string, string> {
    const { credentials } = simulator;
    return {
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: simulator.url,
      PAYMENT_MERCHANT_ID: credentials.merchantId,
      PAYMENT_CLIENT_ID: credentials.clientId,
      PAYMENT_CLIENT_SECRET: credentials.clientSecret,
      PAYMENT_API_KEY: credentials.apiKey,
      PAYMENT_PUBLIC_URL: 'https://shop.example',
    };
  }

  /** An application context without HTTP. */
  async function boot(imports: ModuleMetadata['imports'], more: ModuleMetadata = {}): Promise<PaymentService> {
    @Module({ ...more, imports })
    class AppModule {}
    context = await NestFactory.createApplicationContext(AppModule, { logger: log, abortOnError: false });
    return context.get(PaymentService);
  }

  async function failure(imports: ModuleMetadata['imports']): Promise<PaymentConfigurationError> {
    const error: unknown = await boot(imports).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(PaymentConfigurationError);
    return error as PaymentConfigurationError;
  }

  async function expectToPay(payments: PaymentService): Promise<void> {
    expect(await payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
  }

  it('forRoot() with nothing but variables, without HTTP', async () => {
    Object.assign(process.env, variables());
    const payments = await boot([PaymentModule.forRoot()]);
    await expectToPay(payments);
    const { conversationId } = await payments.init3d(sale());
    const { url, fields } = simulator.approve(conversationId);
    expect(url).toMatch(/^https:\/\/shop\.example\/payments\/[\w-]{43}\/return$/);
    expect(await payments.auth3d({ conversationId, fields })).toMatchObject({ state: 'succeeded' });
  });

  it.each(['before', 'after'])('variables of an .env file, ConfigModule imported %s', async (place) => {
    const envFilePath = join(folder, '.env');
    writeFileSync(
      envFilePath,
      Object.entries(variables())
        .map(([name, value]) => `${name}="${value}"`)
        .join('\n'),
    );
    const config = (): ReturnType<typeof ConfigModule.forRoot> => ConfigModule.forRoot({ envFilePath });
    const imports = place === 'before' ? [config(), PaymentModule.forRoot()] : [PaymentModule.forRoot(), config()];
    await expectToPay(await boot(imports));
  });

  it('options that come from a request stop the start, and the error says what to change', async () => {
    const useFactory = (): PaymentOptions => ({ ...simulatorOptions(simulator), publicUrl: 'https://shop.example' });
    const error = await failure([PaymentModule.forRootAsync({ inject: [REQUEST], useFactory })]);
    expect(error.message).toContain('forRootAsync: depends on a request-scoped provider');
  });

  it.each([
    ['of a request', Scope.REQUEST],
    ['made again for each provider that injects it', Scope.TRANSIENT],
  ])('a handler on a provider %s stops the start', async (_what, scope) => {
    @Injectable({ scope })
    class Mail {
      @OnPayment('succeeded')
      paid(): void {}
    }
    Object.assign(process.env, variables());
    @Module({ providers: [Mail] })
    class MailModule {}
    const error = await failure([PaymentModule.forRoot(), MailModule]);
    expect(error.message).toContain('@OnPayment Mail.paid: is on a request-scoped or transient provider');
  });

  it('a bare import is an error that says which module imports it', async () => {
    const error = await failure([PaymentModule]);
    expect(error.message).toContain('PaymentModule: is imported bare by AppModule: import PaymentModule.forRoot()');

    Object.assign(process.env, variables());
    @Module({ imports: [PaymentModule] })
    class OrdersModule {}
    const beside = await failure([PaymentModule.forRoot(), OrdersModule]);
    expect(beside.message).toContain('is imported bare by OrdersModule: ');
    expect(beside.message).toContain('the others need not import it, since it is global');
  });

  it('a bare import is an error in the log when Nest first meets a service that needs it', async () => {
    @Injectable()
    class OrderService {
      constructor(readonly payments: PaymentService) {}
    }
    @Module({ imports: [PaymentModule], providers: [OrderService] })
    class ShopModule {}
    const booted = NestFactory.createApplicationContext(ShopModule, { logger: log, abortOnError: false });
    await expect(booted).rejects.toThrow('OrderService');
    expect(log.lines.join('\n')).toContain(
      'PaymentModule is imported bare by ShopModule: import PaymentModule.forRoot()',
    );
  });

  it('a module that is re-exported is no bare import', async () => {
    Object.assign(process.env, variables());
    @Module({ imports: [PaymentModule.forRoot({ isGlobal: false })], exports: [PaymentModule] })
    class ShopModule {}
    await expectToPay(await boot([ShopModule]));
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no factory', {}],
    ['structure alone', { isGlobal: true }],
    ['options in place of a factory', { useFactory: { baseUrl: 'https://gateway.example' } }],
  ])('forRootAsync with %s says what it needs', (_what, given) => {
    const call = (): unknown => PaymentModule.forRootAsync(given as { useFactory: () => PaymentOptions });
    expect(call).toThrow(PaymentConfigurationError);
    expect(call).toThrow(/forRootAsync: needs useFactory: .* call PaymentModule\.forRoot\(\)/);
  });

  it('says where options that shape the module belong', async () => {
    Object.assign(process.env, variables());
    const useFactory = () => ({ callback: false }) as PaymentOptions;
    const error = await failure([PaymentModule.forRootAsync({ useFactory })]);
    expect(error.message).toContain('callback: shapes the module: put it beside useFactory');
  });

  it('a module that is loaded lazily says so at its first use, before anything is sent', async () => {
    Object.assign(process.env, variables());
    @Module({})
    class AppModule {}
    context = await NestFactory.createApplicationContext(AppModule, { logger: log, abortOnError: false });
    const module = PaymentModule.forRoot();
    const lazy = await context.get(LazyModuleLoader).load(() => module);
    const payments = lazy.get(PaymentService);
    const before = simulator.requests.length;
    await expect(payments.doPayment(sale())).rejects.toThrow(/has not been started by Nest: import it in a module/);
    await expect(payments.init3d(sale())).rejects.toThrow(PaymentConfigurationError);
    await expect(payments.reconcile()).rejects.toThrow(PaymentConfigurationError);
    expect(simulator.requests.length).toBe(before);
  });

  it('an option wins over its variable', async () => {
    Object.assign(process.env, variables(), { PAYMENT_BASE_URL: 'http://127.0.0.1:1' });
    await expectToPay(await boot([PaymentModule.forRoot({ baseUrl: simulator.url })]));
  });

  describe('forRootAsync', () => {
    const structure = { callback: { path: 'pay', waitMs: 1_000 }, isGlobal: false } as const;

    @Injectable()
    class Options implements PaymentOptionsFactory {
      createPaymentOptions(): PaymentOptions {
        return { ...simulatorOptions(simulator), publicUrl: 'https://shop.example' };
      }
    }

    @Module({ providers: [Options], exports: [Options] })
    class OptionsModule {}

    it.each([
      [
        'useFactory',
        () => PaymentModule.forRootAsync({ ...structure, useFactory: () => new Options().createPaymentOptions() }),
      ],
      [
        'useFactory that waits, with imports and inject',
        () =>
          PaymentModule.forRootAsync({
            ...structure,
            imports: [OptionsModule, ConfigModule.forRoot({ ignoreEnvFile: true })],
            inject: [Options, ConfigService],
            useFactory: async (options: Options) => {
              await new Promise(setImmediate);
              return options.createPaymentOptions();
            },
          }),
      ],
      ['useClass', () => PaymentModule.forRootAsync({ ...structure, useClass: Options })],
      [
        'useExisting',
        () => PaymentModule.forRootAsync({ ...structure, imports: [OptionsModule], useExisting: Options }),
      ],
    ])('%s', async (_name, module) => {
      const payments = await boot([module()]);
      await expectToPay(payments);
      const { conversationId } = await payments.init3d(sale());
      expect(simulator.approve(conversationId).url).toMatch('https://shop.example/pay/');
    });

    it('reads what the factory leaves out from variables', async () => {
      Object.assign(process.env, variables());
      await expectToPay(await boot([PaymentModule.forRootAsync({ useFactory: () => ({ language: 'en' }) })]));
    });

    it('turns callback: false into no route and no publicUrl', async () => {
      Object.assign(process.env, variables(), { PAYMENT_PUBLIC_URL: '' });
      const payments = await boot([PaymentModule.forRootAsync({ callback: false, useFactory: () => ({}) })]);
      await expect(payments.init3d(sale())).rejects.toMatchObject({ code: 'PAYMENT_VALIDATION' });
    });
  });

  describe('what is wrong', () => {
    const wrong = {
      baseUrl: ['PAYMENT_BASE_URL', `http://user:${PASSWORD}@gateway.example`],
      dialect: ['PAYMENT_DIALECT', `${PASSWORD}-dialect`],
      timeoutMs: ['PAYMENT_TIMEOUT_MS', `${PASSWORD}ms`],
      luhn: ['PAYMENT_LUHN', `${PASSWORD}?`],
      storeUrl: ['PAYMENT_STORE_URL', `oracle://root:${PASSWORD}@db/payments`],
    } as const;

    it('five variables: one error, five names, no values', async () => {
      Object.assign(process.env, variables(), Object.fromEntries(Object.values(wrong)));
      const error = await failure([PaymentModule.forRoot()]);

      expect(context).toBeUndefined();
      expect(error.problems.map(({ option }) => option).sort()).toEqual(Object.keys(wrong).sort());
      for (const [option, [variable]] of Object.entries(wrong))
        expect(error.message).toContain(`${option} (${variable})`);
      const said = [
        error.message,
        JSON.stringify(error),
        inspect(error, { depth: 9, showHidden: true }),
        error.stack,
        ...log.lines,
      ];
      for (const text of said) expect(text).not.toContain(PASSWORD);
    });

    it.each(['redis', 'rediss'])(
      'a store at %s://, beside the rest: why it is none, and what to use',
      async (scheme) => {
        const PAYMENT_STORE_URL = `${scheme}://shop:${PASSWORD}@cache.example:6379/0`;
        Object.assign(process.env, variables(), { PAYMENT_STORE_URL, PAYMENT_LUHN: 'zzz' });
        const error = await failure([PaymentModule.forRoot()]);
        expect(error.problems.map(({ option }) => option)).toEqual(['storeUrl', 'luhn']);
        expect(error.message).toContain(
          'storeUrl (PAYMENT_STORE_URL): must not be Redis: a fail-over of Redis may lose an acknowledged write, and a ' +
            'payment may then be charged twice; use sqlite:FILE, postgres://…, mysql://…, mariadb://…',
        );
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASSWORD);
      },
    );

    it.each<[string, () => unknown]>([
      [
        'of the merchant’s own',
        () => Object.create(MemoryPaymentStore.prototype, { password: { value: PASSWORD } }) as object,
      ],
      ['that was not awaited', () => openSqlStore('sqlite::memory:')],
      ['that is a URL', () => `postgres://shop:${PASSWORD}@db/payments`],
    ])('a store %s, beside the rest: what makes one', async (_what, store) => {
      Object.assign(process.env, variables(), { PAYMENT_LUHN: 'zzz' });
      const error = await failure([PaymentModule.forRoot({ store: store() as PaymentOptions['store'] })]);
      expect(error.problems.map(({ option }) => option)).toEqual(['store', 'luhn']);
      expect(error.message).toContain('store: must be a store of this package: await openSqlStore(');
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASSWORD);
    });

    it.each<[string | undefined, Record<string, string>, boolean]>([
      [undefined, {}, true],
      ['development', {}, true],
      ['test', { PAYMENT_PUBLIC_URL: 'https://shop.example' }, true],
      [undefined, { PAYMENT_PUBLIC_URL: 'https://shop.example' }, false],
      ['production', {}, false],
      ['staging', {}, false],
    ])('the simulator is offered while NODE_ENV is %s, with %j: %s', async (environment, more, isOffered) => {
      const before = process.env['NODE_ENV'];
      if (environment === undefined) delete process.env['NODE_ENV'];
      else process.env['NODE_ENV'] = environment;
      Object.assign(process.env, more);
      try {
        const { message } = await failure([PaymentModule.forRoot()]);
        expect(message.includes('set PAYMENT_BASE_URL=simulator: and nothing else')).toBe(isOffered);
      } finally {
        process.env['NODE_ENV'] = before;
      }
    });

    it('the simulator is not offered when there is an account', async () => {
      Object.assign(process.env, variables(), { PAYMENT_API_KEY: '' });
      expect((await failure([PaymentModule.forRoot()])).message).not.toContain('simulator:');
    });

    it.each([
      ['a folder that is not there', () => `sqlite:${join(folder, 'nowhere', 'payments.db')}`],
      ['a file that is no database', () => `sqlite:${join(folder, 'text.db')}`],
      ['a dead PostgreSQL', (port: number) => `postgres://shop:${PASSWORD}@127.0.0.1:${port}/payments`],
      ['a dead MySQL', (port: number) => `mysql://shop:${PASSWORD}@127.0.0.1:${port}/payments`],
    ])('a store that cannot be opened: %s', async (_name, url) => {
      writeFileSync(join(folder, 'text.db'), 'This is no database, however long it may be.'.repeat(100));
      const { credentials } = simulator;
      const error = await failure([
        PaymentModule.forRoot({
          ...simulatorOptions(simulator),
          ...credentials,
          publicUrl: 'https://shop.example',
          storeUrl: url(await closedPort()),
        }),
      ]);
      expect(error.problems).toMatchObject([{ option: 'storeUrl', variable: 'PAYMENT_STORE_URL' }]);
      expect(error.message.length).toBeGreaterThan(60);
      for (const text of [error.message, JSON.stringify(error), inspect(error, { depth: 9 }), ...log.lines]) {
        expect(text).not.toContain(PASSWORD);
      }
    });
  });

  it('warns that the store in memory is not durable, and of no other store', async () => {
    const options = { ...simulatorOptions(simulator), publicUrl: 'https://shop.example' };
    const warnings = (): string[] => log.lines.filter((line) => line.includes('kept in memory'));
    await boot([PaymentModule.forRoot(options)]);
    expect(warnings()).toHaveLength(1);
    await context?.close();

    log.lines.length = 0;
    await expectToPay(await boot([PaymentModule.forRoot({ ...options, storeUrl: `sqlite:${join(folder, 'a.db')}` })]));
    expect(warnings()).toEqual([]);
  });

  it('starts without EventEmitterModule', async () => {
    await expectToPay(
      await boot([
        PaymentModule.forRoot({
          ...simulatorOptions(simulator),
          dialect: 'morpos',
          publicUrl: 'https://shop.example',
        }),
      ]),
    );
    expect(log.lines.filter((line) => /event.?emitter/i.test(line))).toEqual([]);
  });

  it('takes a dialect that the merchant wrote', async () => {
    const standard = await startSimulator();
    const dialect = { ...standardDialect({ signer: () => 'signed' }), name: 'own' };
    await expectToPay(
      await boot([
        PaymentModule.forRoot({
          ...simulatorOptions(standard),
          dialect,
          callback: false,
          returnUrl: 'https://shop.example/r',
          failUrl: 'https://shop.example/f',
        }),
      ]),
    );
    await context?.close();
    context = undefined;
    await standard.close();
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
