import { type CanActivate, Injectable, Scope, SetMetadata, Module, type ModuleMetadata } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import {
  OnPayment,
  PaymentConfigurationError,
  PaymentModule,
  type PaymentOptions,
  type PaymentStructure,
} from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { startPostgres } from '../services/postgres.js';

const SET = {
  baseUrl: 'https://gateway.example/pos',
  dialect: 'morpos',
  merchantId: 'merchant-secret',
  clientId: 'client-secret',
  clientSecret: 'secret-secret',
  apiKey: 'key-secret',
  publicUrl: 'https://shop.example',
} satisfies PaymentOptions;

@Injectable()
class Orders {
  @OnPayment(['succeeded', 'review'])
  paid(): void {}

  @OnPayment('expired')
  expired(): void {}

  @OnPayment('failed', { name: 'eu', id: 'eu-failed' })
  failed(): void {}
}

@Injectable()
class LoginGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

/** What the module logs when it starts, and when a setting looks wrong. */
describe('the log at start-up', () => {
  const log: string[] = [];
  const records: unknown[] = [];

  afterEach(() => {
    log.length = 0;
    records.length = 0;
    for (const name of Object.keys(process.env)) if (/payment/i.test(name)) delete process.env[name];
  });

  /** Starts an application behind HTTP and ends it. @returns lines of the module */
  async function said(metadata: ModuleMetadata, prefix = ''): Promise<string[]> {
    @Module(metadata)
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: loggerInto(log, records), abortOnError: false });
    app.setGlobalPrefix(prefix);
    await app.init();
    await app.close();
    return log.filter((line) => !line.includes('kept in memory'));
  }

  const payment = (options: PaymentOptions & PaymentStructure = {}) => PaymentModule.forRoot({ ...SET, ...options });

  it('is one line for each account: dialect, gateway, store, callback, handlers', async () => {
    const lines = await said(
      {
        imports: [payment(), payment({ name: 'eu', callback: { path: 'pay/eu' }, background: false })],
        providers: [Orders],
      },
      'api',
    );
    expect(lines.filter((line) => line.includes('Account '))).toEqual([
      'log Account default: dialect morpos; gateway gateway.example; store memory; ' +
        'callback https://shop.example/api/payments/{token}/return; ' +
        'handlers Orders.paid (succeeded, review), Orders.expired (expired).',
      'log Account eu: dialect morpos; gateway gateway.example; store memory; ' +
        'callback https://shop.example/api/pay/eu/{token}/return; handlers eu-failed (failed); no background work here.',
    ]);
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual([]);
    expect(lines.join()).not.toMatch(/secret/);
  });

  it('also says what is missing', async () => {
    expect(await said({ imports: [payment({ callback: false })] })).toContain(
      'log Account default: dialect morpos; gateway gateway.example; store memory; ' +
        'no callback controller, so each call names its own returnUrl and failUrl; ' +
        'no @OnPayment handlers.',
    );
  });

  it('says where callbacks arrive without its own controller', async () => {
    const returnUrl = 'https://shop.example/back/{token}?key=secret';
    const lines = await said({ imports: [payment({ callback: false, returnUrl, failUrl: returnUrl })] });
    expect(lines.join()).toContain(
      '; no callback controller, so callbacks arrive at https://shop.example/back/{token} (returnUrl); ',
    );
  });

  describe('of an application that listens', () => {
    const { NODE_ENV } = process.env;
    afterEach(() => (process.env.NODE_ENV = NODE_ENV));

    /** @param enable whether and when shutdown hooks are enabled */
    async function hooksWarnings(enable: 'never' | 'before' | 'after'): Promise<string[]> {
      @Module({ imports: [payment(), payment({ name: 'eu' })] })
      class AppModule {}
      process.env.NODE_ENV = 'development';
      const app = await NestFactory.create(AppModule, { logger: loggerInto(log, records), abortOnError: false });
      if (enable === 'before') app.enableShutdownHooks(['SIGTERM']);
      await app.listen(0, '127.0.0.1');
      if (enable === 'after') app.enableShutdownHooks(['SIGTERM']);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await app.close();
      return log.filter((line) => line.includes('enableShutdownHooks'));
    }

    it('warns once that nothing waits for its payments at the end', async () => {
      expect(await hooksWarnings('never')).toEqual([
        'warn Nothing waits for payments when this process is told to end (SIGTERM): call app.enableShutdownHooks() in main.ts.',
      ]);
    });

    it.each(['before', 'after'] as const)('does not where shutdown hooks are enabled %s it listens', async (enable) => {
      expect(await hooksWarnings(enable)).toEqual([]);
    });
  });

  it('warns once of a store on another host that is reached without TLS', async () => {
    const postgres = await startPostgres();
    // A name of this machine that is no loopback address.
    const storeUrl = postgres.url.replace('127.0.0.1', '0.0.0.0');
    const warned = (lines: readonly string[]) => lines.filter((line) => line.includes('TLS'));
    expect(warned(await said({ imports: [payment({ storeUrl })] }))).toEqual([
      'warn The connection to the payment store at 0.0.0.0 is not protected by verified TLS: anyone who can listen ' +
        'in between reads and changes payments, and learns the password. If the server supports TLS, put ' +
        'sslmode=verify-full in its URL (PAYMENT_STORE_URL).',
    ]);
    log.length = 0;
    expect(warned(await said({ imports: [payment({ storeUrl: postgres.url })] }))).toEqual([]);
    await postgres.stop();
  });

  it('warns of an account without a handler, unless plain events may reach a listener', async () => {
    const warning =
      'warn No handler gets the outcome of payments of the account default: add a method with ' +
      "@OnPayment(['succeeded', 'failed', 'expired']) to a provider.";
    expect(await said({ imports: [payment()] })).toContainEqual(warning);
    expect(records[log.indexOf(warning)]).toMatchObject({ account: 'default' });
    log.length = 0;
    const lines = await said({ imports: [EventEmitterModule.forRoot(), payment()] });
    expect(lines).not.toContainEqual(warning);
    expect(lines.join()).toContain('no @OnPayment handlers');
  });

  it('names misspelt variables, and shows no value', async () => {
    process.env['PAYMENT_SUCESS_URL'] = 'https://shop.example/secret';
    const both = await said({ imports: [payment(), payment({ name: 'eu' })], providers: [Orders] });
    expect(both).toContain(
      'warn PAYMENT_SUCESS_URL is not a variable of nestjs-card-payment and has no effect: did you mean PAYMENT_SUCCESS_URL?',
    );
    expect(both.join()).not.toContain('secret');
  });

  describe('with a guard before everything', () => {
    const guarded = (options: PaymentOptions & PaymentStructure = {}): ModuleMetadata => ({
      imports: [payment(options)],
      providers: [{ provide: APP_GUARD, useClass: LoginGuard }],
    });
    const warningOf = (guards: string) =>
      `warn Global guards (${guards}) apply to the bank's callback, which comes without a login: what they refuse ` +
      'is never completed. Mark it public: callback: { decorators: [Public()] } with your own decorator; or say that ' +
      'they let it pass: callback: { decorators: [] }.';
    const warning = warningOf('LoginGuard');

    it('says that the callback must be public', async () => {
      expect(await said(guarded())).toContainEqual(warning);
    });

    it('also names a guard that is made for each request', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class RequestGuard extends LoginGuard {}
      const providers = [LoginGuard, RequestGuard].map((useClass) => ({ provide: APP_GUARD, useClass }));
      expect(await said({ imports: [payment()], providers })).toContainEqual(warningOf('LoginGuard, RequestGuard'));
    });

    it('names a guard whose name only resembles one that counts requests', async () => {
      @Injectable()
      class LoginThrottlerGuard extends LoginGuard {}
      const providers = [{ provide: APP_GUARD, useClass: LoginThrottlerGuard }];
      expect(await said({ imports: [payment()], providers })).toContainEqual(warningOf('LoginThrottlerGuard'));
    });

    it.each<[string, PaymentStructure]>([
      ['the callback is decorated', { callback: { decorators: [SetMetadata('isPublic', true)] } }],
      ['the host says that the guard lets it pass', { callback: { decorators: [] } }],
      ['there is no callback', { callback: false }],
    ])('unless %s', async (_what, structure) => {
      expect((await said(guarded(structure))).join()).not.toContain('Global guards');
    });

    it('or the guard only counts requests', async () => {
      const lines = await said({
        imports: [ThrottlerModule.forRoot([{ ttl: 1_000, limit: 10 }]), payment()],
        providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
      });
      expect(lines.join()).not.toContain('Global guards');
    });
  });

  describe('that ends in an error', () => {
    async function failure(options: PaymentOptions): Promise<PaymentConfigurationError> {
      const error: unknown = await said({ imports: [PaymentModule.forRoot(options)] }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(PaymentConfigurationError);
      return error as PaymentConfigurationError;
    }

    it('with nothing set asks for .env', async () => {
      const { message } = await failure({});
      expect(message).toContain('No variable begins with PAYMENT_: was .env loaded?');
      expect(message).toContain('PAYMENT_DIALECT is not set');
    });

    it('with one variable set does not', async () => {
      process.env['PAYMENT_BASE_URL'] = 'https://gateway.example';
      expect((await failure({})).message).not.toContain('.env');
    });

    it('without a dialect names the other one', async () => {
      const { dialect: _dialect, ...others } = SET;
      const { message, problems } = await failure(others);
      expect(problems.map(({ option }) => option)).toEqual(['signer']);
      expect(message).toContain('for a MorPOS gateway set PAYMENT_DIALECT=morpos');
      expect((await failure({ ...others, dialect: 'standard' })).message).not.toContain('PAYMENT_DIALECT is not set');
    });

    it('names what was mistyped', async () => {
      process.env['PAYMENT_MERCHANTID'] = 'm-secret';
      const { message } = await failure({ ...SET, merchantId: undefined });
      expect(message).toContain('merchantId (PAYMENT_MERCHANT_ID): is missing');
      expect(message).toContain(
        'PAYMENT_MERCHANTID is not a variable of nestjs-card-payment and has no effect: did you mean PAYMENT_MERCHANT_ID?',
      );
      expect(message).not.toContain('secret');
    });
  });
});
