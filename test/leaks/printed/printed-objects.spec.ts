import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DynamicModule, Global, type INestApplicationContext, Module } from '@nestjs/common';
import { ApplicationConfig, ModuleRef, ModulesContainer, NestFactory } from '@nestjs/core';
import {
  PAYMENT_HTTP,
  paymentHealthToken,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  standardDialect,
} from 'nestjs-card-payment';
import { openSqlStore, postgresPaymentStore, sqlPaymentStore } from 'nestjs-card-payment/sql';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Agent, ProxyAgent } from 'undici';
import { resolveSettings } from '../../../lib/options/resolve-settings.js';
import { withHidden } from '../../../lib/payment/hidden.js';
import { sale } from '../../rigs/sale.js';
import { printings } from '../printings.js';
import { type Secret, searchFor } from '../secret-search.js';

const CREDENTIALS = {
  merchantId: '100200300',
  clientId: 'print-test-client',
  clientSecret: Buffer.from('a client secret to be printed').toString('base64'),
  apiKey: 'api-key-that-nobody-prints',
};
const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
const PASSWORD = 'store-password-1';
const PROXY_TOKEN = 'Basic cHJveHk6cGFzc3dvcmQ=';
const SECRETS: Secret[] = [
  { name: 'client secret', text: CREDENTIALS.clientSecret },
  { name: 'decoded client secret', text: 'a client secret to be printed' },
  { name: 'API key', text: CREDENTIALS.apiKey },
  { name: 'card number', text: CARD.cardNo },
  { name: 'password', text: PASSWORD },
  { name: 'proxy token', text: PROXY_TOKEN },
];

function leaksIn(source: string, value: unknown, more: readonly Secret[] = []): string[] {
  const evidence = printings(value).map((text) => ({ source, text }));
  return searchFor([...SECRETS, ...more], evidence).map(
    ({ secret, form, excerpt }) => `${source}: ${secret}, ${form}: ${excerpt}`,
  );
}

const options = (more: PaymentOptions = {}): PaymentOptions => ({
  ...CREDENTIALS,
  baseUrl: 'http://127.0.0.1:9',
  publicUrl: 'https://shop.example',
  dialect: 'morpos',
  background: false,
  returnUrl: 'https://shop.example/back',
  failUrl: 'https://shop.example/back',
  ...more,
});

@Global()
@Module({ providers: [{ provide: 'VAULT', useValue: { read: () => options() } }], exports: ['VAULT'] })
class VaultModule {}

const REGISTRATIONS: [string, (more: PaymentOptions) => DynamicModule][] = [
  ['forRoot', (more) => PaymentModule.forRoot({ ...options(more), callback: false })],
  [
    'forRootAsync',
    (more) =>
      PaymentModule.forRootAsync({
        imports: [VaultModule],
        inject: ['VAULT'],
        callback: false,
        useFactory: (vault: { read: () => PaymentOptions }) => Promise.resolve({ ...vault.read(), ...more }),
      }),
  ],
];

describe.each(REGISTRATIONS)('a module made by %s', (_way, register) => {
  let app: INestApplicationContext;
  let gateway: Server;
  let arrived: Promise<void>;
  let dispatcher: Agent;
  /** What was received. */
  let sent: Secret[];

  beforeAll(async () => {
    let arrive: () => void;
    arrived = new Promise((go) => (arrive = go));
    // It takes requests and answers none.
    gateway = createServer((request) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { sign } = JSON.parse(body) as { sign: string };
        sent = [
          { name: 'sent client secret', text: String(request.headers['x-clientsecret']) },
          { name: 'sent sign', text: sign },
        ];
        arrive();
      });
    }).listen(0, '127.0.0.1');
    await new Promise((go) => gateway.once('listening', go));
    const baseUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    dispatcher = new Agent();
    app = await NestFactory.createApplicationContext(register({ baseUrl, dispatcher, timeoutMs: 10_000 }), {
      logger: false,
    });
    await app.init();
  });
  afterAll(async () => {
    gateway.closeAllConnections();
    gateway.close();
    await app.close();
    await dispatcher.destroy();
  });

  /** The providers of the module, less those that Nest gives to every module, which show the whole application. */
  const ours = () => {
    const [module] = [...app.get(ModulesContainer).values()].filter(({ metatype }) => metatype === PaymentModule);
    return [...(module?.providers ?? [])].filter(([token]) => token !== ModuleRef && token !== ApplicationConfig);
  };

  it('shows no secret when its service, the module itself or its providers are printed', () => {
    for (const [name, value] of [
      ['service', app.get(PaymentService)],
      ['module', app.get(PaymentModule)],
      ['health', app.get<object>(paymentHealthToken())],
      ['http', app.get<object>(PAYMENT_HTTP)],
    ] as const) {
      expect(leaksIn(name, value)).toEqual([]);
    }
    expect(ours().length).toBeGreaterThan(20);
    for (const [token, wrapper] of ours()) {
      expect(leaksIn(String(token), wrapper.instance)).toEqual([]);
    }
  });

  it('shows no card when it is printed while a payment is under way', async () => {
    const paying = app.get(PaymentService).doPayment(sale('60.00', { cardDetails: CARD }));
    await arrived;
    expect(sent.map(({ text }) => text.length > 20)).toEqual([true, true]);
    expect(leaksIn('service', app.get(PaymentService), sent)).toEqual([]);
    expect(leaksIn('module', app.get(PaymentModule), sent)).toEqual([]);
    gateway.closeAllConnections();
    const payment = await paying;
    expect(payment.state).toBe('unknown');
    expect(leaksIn('payment', payment)).toEqual([]);
    expect(leaksIn('service', app.get(PaymentService))).toEqual([]);
  });
});

describe('a definition', () => {
  it.each(REGISTRATIONS)('of a module made by %s shows no secret', (_way, register) => {
    expect(leaksIn('definition', register({ storeUrl: `postgres://shop:${PASSWORD}@127.0.0.1:9/shop` }))).toEqual([]);
  });
});

describe('settings', () => {
  const storeUrl = `postgres://shop:${PASSWORD}@127.0.0.1:9/shop`;
  const dispatcher = new ProxyAgent({ uri: 'http://127.0.0.1:9', token: PROXY_TOKEN });
  const settings = resolveSettings(options({ storeUrl, dispatcher }), {}, {});
  afterAll(() => dispatcher.close());

  it('show no secret, however they are printed or copied', () => {
    expect(leaksIn('settings', settings)).toEqual([]);
    expect(leaksIn('copy', { ...settings })).toEqual([]);
    expect(leaksIn('holder', { deep: [{ settings }] })).toEqual([]);
  });

  it('show what is not secret', () => {
    expect(printings(settings)[0]).toContain("language: 'tr'");
    expect(JSON.stringify(settings)).toContain('"language":"tr"');
  });

  it('still hold the secrets, for the gateway client to use', () => {
    expect(settings).toMatchObject({ credentials: CREDENTIALS, storeUrl });
    expect(settings.dispatcher).toBe(dispatcher);
  });
});

describe('a store', () => {
  const url = `postgres://shop:${PASSWORD}@127.0.0.1:9/shop`;

  it('of PostgreSQL shows no password, before and after it failed to open', async () => {
    const opened = await openSqlStore(url);
    const pool = new pg.Pool({ connectionString: url });
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    const stores = [
      opened,
      postgresPaymentStore({ connectionString: url }),
      postgresPaymentStore({ pool }),
      sqlPaymentStore({ db, dialect: 'postgres' }),
    ];
    for (const store of stores) {
      expect(leaksIn('store', store)).toEqual([]);
      const error: unknown = await store.open().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(leaksIn('error', error)).toEqual([]);
      expect(leaksIn('store', store)).toEqual([]);
      await store.close();
    }
    await pool.end();
  });
});

describe('the printing itself', () => {
  it('finds a secret at any depth, in properties that are not enumerable, and behind a getter', () => {
    const deep = Array.from({ length: 50 }).reduce<object>((inner) => ({ inner }), { secret: CREDENTIALS.apiKey });
    const hidden = Object.defineProperty({}, 'secret', { value: new Map([[PASSWORD, 1]]) });
    const computed = Object.defineProperty({}, 'secret', { get: () => PASSWORD });
    const circle: { self?: object; secret: string } = { secret: PASSWORD };
    circle.self = circle;
    for (const value of [deep, hidden, computed, circle, { buffer: Buffer.from(CARD.cardNo) }]) {
      expect(leaksIn('planted', value)).not.toEqual([]);
    }
  });

  it('finds none that is hidden on purpose', () => {
    expect(leaksIn('hidden', { settings: withHidden({ shown: 1 }, { secret: PASSWORD }) })).toEqual([]);
  });

  it('would find a signer that keeps a key where it can be seen', () => {
    const signer = Object.assign(() => createHash('sha256').digest('hex'), { key: CREDENTIALS.apiKey });
    expect(leaksIn('signer', { signer })).not.toEqual([]);
    expect(leaksIn('settings', resolveSettings(options({ dialect: standardDialect({ signer }) }), {}, {}))).toEqual([]);
  });
});
