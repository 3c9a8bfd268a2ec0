import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { format, inspect, type InspectOptions } from 'node:util';
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
import { sale } from '../../rigs/sale.js';
import { CARD, type Secret, searchFor } from '../secret-search.js';

const CREDENTIALS = {
  merchantId: '100200300',
  clientId: 'print-test-client',
  clientSecret: Buffer.from('a client secret to be printed').toString('base64'),
  apiKey: 'api-key-that-nobody-prints',
};
const PASSWORD = 'store-password-1';
const PROXY_TOKEN = 'Basic cHJveHk6cGFzc3dvcmQ=';
const STORE_URL = `postgres://shop:${PASSWORD}@127.0.0.1:9/shop`;
const SECRETS: readonly Secret[] = [
  { name: 'client secret', text: CREDENTIALS.clientSecret },
  { name: 'API key', text: CREDENTIALS.apiKey },
  { name: 'card number', text: CARD.cardNo },
  { name: 'password', text: PASSWORD },
  { name: 'proxy token', text: PROXY_TOKEN },
];
const EVERYTHING: InspectOptions = { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null };

/** Every way in which Node.js prints a value, at every depth, and its JSON, circles left out. */
function printings(value: unknown): string[] {
  const above: unknown[] = [];
  const text = JSON.stringify(value, function (this: unknown, _name, member: unknown) {
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (typeof member !== 'object' || member === null) return typeof member === 'bigint' ? String(member) : member;
    if (above.includes(member)) return '[circle]';
    above.push(member);
    return member;
  }) as string | undefined;
  return [
    // All that is shown without `getters` is shown with them.
    inspect(value, { ...EVERYTHING, getters: true }),
    inspect(value, { ...EVERYTHING, customInspect: false }),
    format('%s %o %O', value, value, value),
    text ?? '',
  ];
}

function leaksIn(source: string, value: unknown, more: readonly Secret[] = []): string[] {
  const leaks = searchFor(
    [...SECRETS, ...more],
    printings(value).map((text) => ({ source, text })),
  );
  return leaks.map(({ secret, excerpt }) => `${source}: ${secret}: ${excerpt}`);
}

function nameOf(value: unknown): string {
  return (value as object | undefined)?.constructor.name ?? String(value);
}

const options = (more: PaymentOptions = {}): PaymentOptions => ({
  ...CREDENTIALS,
  baseUrl: 'http://127.0.0.1:9',
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
  let dispatcher: Agent;
  /** The sign and the secret that the gateway received; it answers nothing. */
  let arrived: Promise<Secret[]>;

  beforeAll(async () => {
    gateway = createServer().listen(0, '127.0.0.1');
    arrived = once(gateway, 'request').then(async ([request]: IncomingMessage[]) => {
      const { sign } = (await json(request!)) as { sign: string };
      return [sign, String(request!.headers['x-clientsecret'])].map((text) => ({ name: 'sent secret', text }));
    });
    await once(gateway, 'listening');
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
    const providers = ours();
    expect(providers.length).toBeGreaterThan(20);
    const instances = new Set(providers.map(([, { instance }]) => instance));
    for (const token of [PaymentService, PaymentModule, paymentHealthToken(), PAYMENT_HTTP]) {
      expect([token, instances.has(app.get<object>(token))]).toEqual([token, true]);
    }
    for (const instance of instances) expect(leaksIn(nameOf(instance), instance)).toEqual([]);
  });

  it('shows no card when it is printed while a payment is under way', async () => {
    const paying = app.get(PaymentService).doPayment(sale('60.00', { cardDetails: CARD }));
    const sent = await arrived;
    expect(sent.map(({ text }) => text.length > 20)).toEqual([true, true]);
    expect(leaksIn('service', app.get(PaymentService), sent)).toEqual([]);
    expect(leaksIn('module', app.get(PaymentModule), sent)).toEqual([]);
    gateway.closeAllConnections();
    const payment = await paying;
    expect(payment.state).toBe('unknown');
    expect(leaksIn('payment', payment)).toEqual([]);
  });

  it('shows no secret when its definition is printed', () => {
    expect(leaksIn('definition', register({ storeUrl: STORE_URL }))).toEqual([]);
  });
});

describe('settings', () => {
  const dispatcher = new ProxyAgent({ uri: 'http://127.0.0.1:9', token: PROXY_TOKEN });
  const signer = Object.assign(() => 'signed', { key: CREDENTIALS.apiKey });
  const dialect = standardDialect({ signer });
  const settings = resolveSettings(options({ storeUrl: STORE_URL, dispatcher, dialect }), { callback: false }, {});
  afterAll(() => dispatcher.close());

  it('show what is not secret, and no more, however they are printed or copied', () => {
    for (const shown of [settings, { ...settings }, { deep: [{ settings }] }]) expect(leaksIn('x', shown)).toEqual([]);
    expect(printings(settings)[0]).toContain("language: 'tr'");
    expect(JSON.stringify(settings)).toContain('"language":"tr"');
  });

  it('still hold the secrets, for the gateway client to use', () => {
    expect(settings).toMatchObject({ credentials: CREDENTIALS, storeUrl: STORE_URL });
    expect(settings.dispatcher).toBe(dispatcher);
  });
});

it('a store shows no password, before and after it failed to open', async () => {
  const pool = new pg.Pool({ connectionString: STORE_URL });
  for (const store of [
    await openSqlStore(STORE_URL),
    postgresPaymentStore({ connectionString: STORE_URL }),
    postgresPaymentStore({ pool }),
    sqlPaymentStore({ db: new Kysely<object>({ dialect: new PostgresDialect({ pool }) }), dialect: 'postgres' }),
  ]) {
    expect(leaksIn('store', store)).toEqual([]);
    const error: unknown = await store.open().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(leaksIn('error', error)).toEqual([]);
    expect(leaksIn('store', store)).toEqual([]);
    await store.close();
  }
  await pool.end();
});

it('the printing finds a secret at any depth, in what is not listed, and behind a getter', () => {
  const deep = Array.from({ length: 50 }).reduce<object>((inner) => ({ inner }), { secret: CREDENTIALS.apiKey });
  const unlisted = Object.defineProperty({}, 'secret', { value: new Map([[PASSWORD, 1]]) });
  const computed = Object.defineProperty({}, 'secret', { get: () => PASSWORD });
  const circle: { self?: object; secret: string } = { secret: PASSWORD };
  circle.self = circle;
  for (const value of [deep, unlisted, computed, circle]) expect(leaksIn('planted', value)).not.toEqual([]);
});
