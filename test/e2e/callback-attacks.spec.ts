import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import express from 'express';
import type { BankCallback, Simulator } from 'nestjs-card-payment/simulator';
import { loggerInto } from '../operations/log-lines.js';
import { type BankWay, sentAs } from '../rigs/bank-ways.js';
import { until } from '../services/until.js';
import { type Merchant, type MerchantSetup, PLATFORMS, sale, useMerchant, useMerchants } from './merchant.js';

/** The version that Nest's adapter for Fastify depends on. */
const formbody = createRequire(createRequire(import.meta.url).resolve('@nestjs/platform-fastify'))(
  '@fastify/formbody',
) as Parameters<NestFastifyApplication['register']>[0];

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MARK = 'INJECTED';
const EVIL = 'https://evil.example';
// Packed here: within a test it blocks this process, until the shop closes the connection on which it is sent.
const BOMB = gzipSync(Buffer.alloc(64 << 20, 'a'));

interface Attack {
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

type Fields = Record<string, string>;

/** What an attacker sends who has the token and has seen the bank's content, by the status where only one is right. */
const ATTACKS_BY_STATUS: Readonly<Record<number | 'any', Readonly<Record<string, Make>>>> = {
  204: {
    HEAD: () => ({ method: 'HEAD' }),
    'a prefetch': inQuery('', { headers: { 'sec-purpose': 'prefetch' } }),
    'a prefetch by POST': inForm('', { purpose: 'prefetch' }),
  },
  303: { 'an empty form beside the fields in the query': inQuery('', { ...formOf({}), method: 'POST' }) },
  404: {
    'another method': ({ fields }) => ({ ...formOf(fields), method: 'PUT' }),
    'another route': ({ url, fields }) => ({ ...formOf(fields), url: url.replace(/return$/, 'paid') }),
    'no token': withToken(() => ''),
    'a guessed token': withToken(() => 'direct'),
    'a forged token': withToken(() => 'A'.repeat(43)),
    'the hash of the token': withToken((token) => createHash('sha256').update(token).digest('base64url')),
    'the token and more': withToken((token) => `${token}A`),
    'the token and NUL': withToken((token) => `${token}%00`),
    'the token and a line': withToken((token) => `${token}%0d%0a${MARK}`),
  },
  400: {
    'GET without fields': () => ({ method: 'GET' }),
    'POST without a body': () => ({}),
    'an empty form': () => formOf({}),
    'a repeated field': inForm('&Code=B0000'),
    'a repeated field in another case': inForm('&code=B0000'),
    'a list in JSON': inJson({ Code: ['B0000'] }),
    'an object in JSON': inJson({ Code: { a: 'B0000' } }),
    'a nested detail': inJson({ InstrumentDetail: { a: { b: 1 } } }),
    'a list in place of the object': ({ fields }) => jsonOf([fields]),
    depth: inText(`"a":${'['.repeat(10_000)}${']'.repeat(10_000)}`),
    '__proto__ in JSON': inText('"__proto__":{"state":"succeeded"}'),
    'constructor.prototype in JSON': inJson({ constructor: { prototype: { state: 'succeeded' } } }),
    '__proto__ in the detail': inJson({ InstrumentDetail: '{"__proto__":{"state":"succeeded"}}' }),
    '70 KiB in JSON': inJson({ Message: 'x'.repeat(70_000) }),
    '100 fields': ({ fields }) => formOf({ ...fields, ...many(100) }),
    'lines in the conversationId': withId((id) => `${id}\r\nX-Injected: ${MARK}`),
    'an address for conversationId': withId(() => 'https://evil.example'),
    'lines in refused names': inJson({ [`${MARK}\r\n`]: [MARK] }),
    multipart: ({ fields }) => ({
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: multipart(fields),
    }),
    'JSON as text/plain': inJson({}, { 'content-type': 'text/plain' }),
    'a form as JSON': inForm('', { 'content-type': JSON_TYPE }),
    'cut JSON': ({ fields }) => ({ ...jsonOf({}), body: JSON.stringify(fields).slice(0, -5) }),
  },
  413: {
    '1 MiB in a form': ({ fields }) => formOf({ ...fields, Message: 'x'.repeat(1 << 20) }),
    '1 MiB in JSON': inJson({ Message: 'x'.repeat(1 << 20) }),
  },
  any: {
    'a token that cannot be decoded': withToken(() => '%zz'),
    'a token of 10,000 characters': withToken(() => 'A'.repeat(10_000)),
    'a list': inForm('&Code[]=1&Code[]=2'),
    'nested names': inForm('&a[b][c][d]=1'),
    '__proto__ in a form': inForm('&__proto__[state]=succeeded&__proto__=1'),
    'constructor in a form': inForm('&constructor[prototype][state]=succeeded'),
    '1 MiB of query': ({ url }) => ({ method: 'GET', url: `${url}?Code=${'x'.repeat(1 << 20)}` }),
    '10,000 fields in a form': ({ fields }) => formOf({ ...fields, ...many(10_000) }),
    '10,000 fields in JSON': inJson(many(10_000)),
    NUL: ({ fields }) => formOf({ ...fields, Message: 'a\0b', 'na\0me': '\0' }),
    'lines and headers': ({ fields }) =>
      formOf({ ...fields, Message: `x\r\nX-Injected: ${MARK}\r\n\r\n${MARK}`, [`${MARK}\r\n`]: '\r\n' }),
    'bad UTF-8': inForm(Buffer.from('&a=\xff\xfe\xc0', 'latin1')),
    'bad UTF-8 in JSON': inText(Buffer.from('"a":"\xff\xc0"', 'latin1')),
    'bad percent-encoding': inForm('&a=%&b=%zz&c=%E0%A4&%=1'),
    'JSON as a form': inJson({}, { 'content-type': FORM }),
    'an odd content type': inForm('', { 'content-type': ';;=/,' }),
    'gzip that is none': inForm('', { 'content-encoding': 'gzip' }),
    'a bomb': () => ({ headers: { 'content-type': FORM, 'content-encoding': 'gzip' }, body: BOMB }),
    'addresses in every field': ({ url, fields: { conversationId, ...others } }) => ({
      url: `${url}?next=${EVIL}&successUrl=//evil.example`,
      headers: {
        'content-type': FORM,
        'x-forwarded-host': 'evil.example',
        'x-original-url': '//evil.example',
        referer: EVIL,
      },
      body: form({
        ...Object.fromEntries(Object.keys(others).map((name) => [name, EVIL])),
        conversationId: conversationId!,
        returnUrl: '//evil.example',
        okUrl: EVIL,
      }),
    }),
  },
};
const ATTACKS = Object.entries(ATTACKS_BY_STATUS).flatMap(([status, attacks]) =>
  Object.entries(attacks).map(([what, make]) => [what, status === 'any' ? null : Number(status), make] as const),
);

describe.each(PLATFORMS)('attacks on the callback on %s', (platform) => {
  describe('with the token and the bank’s content', () => {
    const log: string[] = [];
    const shop = useMerchant({ platform, application: { logger: loggerInto(log) } });
    let simulator: Simulator;
    beforeAll(() => {
      ({ simulator } = shop);
    });

    const atTheBank = () => approved(shop, simulator);

    /**
     * After every attack: nothing was charged without an approval or twice, and the store agrees with the ledger.
     */
    async function expectOneHonestEnd(callback: BankCallback): Promise<void> {
      const { conversationId = '' } = callback.fields;
      const payment = await shop.payments.find(conversationId);
      expect(simulator.ledger.calls('Auth3d', conversationId)).toBeLessThanOrEqual(1);
      expect(payment?.state).toBe(simulator.ledger.chargedTimes(conversationId) === 1 ? 'succeeded' : 'failed');
      expect(simulator.ledger.violations).toEqual([]);
    }

    // test/fuzz/callbacks.fuzz.spec.ts attacks the other dialect, too.
    it.each(ATTACKS)('%s', async (_name, status, make) => {
      const callback = await atTheBank();
      const { conversationId = '' } = callback.fields;

      const answer = await send(callback, make(callback));

      if (status === null) expect([303, 400, 404, 413, 414, 415, 431]).toContain(answer.status);
      else expect(platform === 'fastify' && answer.status === 415 ? 400 : answer.status).toBe(status);
      expect(answer.headers.get('x-injected')).toBeNull();
      expect(await answer.text()).not.toContain(MARK);
      const isTouched = answer.status === 303;
      if (isTouched) expect(answer.headers.get('location')).toMatch(placeOf(conversationId));
      else expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(0);

      const after = await send(callback, callback.request);
      expect(after.status).toBe(303);
      const place = isTouched
        ? answer.headers.get('location')
        : `https://shop.example/paid?conversationId=${conversationId}`;
      expect(after.headers.get('location')).toBe(place);
      await expectOneHonestEnd(callback);
      expect(({} as { state?: unknown }).state).toBeUndefined();
    });

    it('refuses the token of one payment with the fields of another', async () => {
      const [one, other] = [await atTheBank(), await atTheBank()];
      expect((await send(one, formOf(other.fields))).status).toBe(400);
      const mixed = formOf({ ...other.fields, conversationId: one.fields.conversationId! });
      expect(placeIn(await send(one, mixed))).toContain('/failed?');
      expect(simulator.ledger.chargedTimes(one.fields.conversationId!)).toBe(0);
      expect(placeIn(await send(other, other.request))).toContain('/paid?');
      for (const callback of [one, other]) await expectOneHonestEnd(callback);
    });

    it('the content for one address at the other', async () => {
      const answers = [];
      for (const code of ['444444', '555555', 'cancel'] as const) {
        const { conversationId } = await shop.payments.init3d(sale());
        const callback = simulator.bank.answer(conversationId, { code });
        const url = code === 'cancel' ? callback.url.replace(/fail$/, 'return') : callback.url;
        const place = placeIn(await send(callback, { ...callback.request, url }));
        answers.push([url.split('/').pop(), place]);
        expect(placeIn(await send(callback, { method: 'GET' }))).toBe(place);
        await expectOneHonestEnd(callback);
      }
      expect(answers).toEqual([
        ['fail', expect.stringContaining('/paid?')],
        ['return', expect.stringContaining('/failed?')],
        ['return', expect.stringContaining('/failed?')],
      ]);
    });

    it('a used token, after success and after failure', async () => {
      const paid = await atTheBank();
      const { conversationId } = await shop.payments.init3d(sale('10.51'));
      const declined = simulator.approve(conversationId);
      for (const [callback, place] of [
        [paid, '/paid?'],
        [declined, '/failed?'],
      ] as const) {
        const foreign = formOf({ ...callback.fields, conversationId: 'ANOTHER' });
        const forms = [{}, callback.fields, { Code: 'B0000' }].map((fields) => formOf(fields));
        for (const attempt of [callback.request, ...forms, { method: 'GET' }]) {
          expect(placeIn(await send(callback, attempt))).toContain(place);
        }
        expect((await send(callback, foreign)).status).toBe(400);
        expect((await send(callback, jsonOf({ ...callback.fields, Code: ['B0000'] }))).status).toBe(400);
        await expectOneHonestEnd(callback);
      }
    });

    it('before Init3d was answered', async () => {
      const fault = simulator.fail({ operation: 'Init3d', kind: 'stall' });
      const starting = shop.payments.init3d(sale());
      const { body } = await fault.played;
      const { conversationId, returnUrl } = body as Record<string, string>;

      const early = await fetch(returnUrl!, {
        ...formOf({ Code: 'B0000', conversationId: conversationId! }),
        method: 'POST',
        redirect: 'manual',
      });
      expect(early.headers.get('location')).toBe(`https://shop.example/failed?conversationId=${conversationId}`);
      fault.release();
      expect((await starting).payment.state).toBe('awaiting');
      expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(0);

      const callback = simulator.approve(conversationId!);
      expect(placeIn(await send(callback, callback.request))).toContain('/paid?');
      await expectOneHonestEnd(callback);
    });

    it('answers others while one body never ends', async () => {
      const [slow, other] = [await atTheBank(), await atTheBank()];
      const { host, port, pathname } = new URL(slow.url);
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const body = form(slow.fields);
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${FORM}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
      );

      expect(placeIn(await send(other, other.request))).toContain('/paid?');
      socket.destroy();
      await once(socket, 'close');
      expect(simulator.ledger.calls('Auth3d', slow.fields.conversationId)).toBe(0);
      expect(placeIn(await send(slow, slow.request))).toContain('/paid?');
      await expectOneHonestEnd(slow);
    });

    it('leaves no line of an attacker in the log', () => {
      expect(log.length).toBeGreaterThan(ATTACKS.length);
      expect(log.filter((line) => /[\r\n]/.test(line) || line.includes(MARK) || line.includes('evil'))).toEqual([]);
    });
  });

  describe('beside', () => {
    const merchants = useMerchants({ timestampToleranceMs: Infinity });
    let simulator: Simulator;
    let shop: Merchant;

    async function open(setup: MerchantSetup = {}): Promise<void> {
      ({ simulator } = merchants);
      shop = await merchants.start(platform, setup);
    }

    const atTheBank = () => approved(shop, simulator);

    it('an Auth3d that takes long: pending after waitMs, and the answer with the next refresh', async () => {
      await open({ structure: { callback: { waitMs: 30 } } });
      const callback = await atTheBank();
      const fault = simulator.fail({ operation: 'Auth3d', kind: 'stall' });
      const first = await send(callback, callback.request);
      const meanwhile = await send(callback, { method: 'GET' });
      for (const answer of [first, meanwhile]) expect(answer.headers.get('location')).toContain('/pending?');

      const { conversationId = '' } = callback.fields;
      fault.release();
      let location: string | null = null;
      await until(async () => {
        location = (await send(callback, { method: 'GET' })).headers.get('location');
        return location?.includes('/pending?') === false;
      });
      expect(location).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
      expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
    });

    it('no body parser: the query alone is read, and no payment is lost', async () => {
      await open({ application: { bodyParser: false } });
      const callback = await atTheBank();
      const { conversationId = '' } = callback.fields;
      // Fastify refuses the type of a body that it has no parser for.
      expect((await send(callback, callback.request)).status).toBe(platform === 'fastify' ? 415 : 400);
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
      expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(0);
      const redirected = await send(callback, { method: 'GET', url: `${callback.url}?${form(callback.fields)}` });
      expect(redirected.headers.get('location')).toContain('/paid?');
    });

    const ownParser: MerchantSetup = {
      application: { bodyParser: false },
      configure(app) {
        if (platform === 'express') app.use(express.urlencoded({ extended: false }));
        else void (app as NestFastifyApplication).register(formbody);
      },
    };
    const notations = (['dotted', 'bracket', 'json'] as const).map((instrumentDetail) => ({ instrumentDetail }));
    const ways = (['form', 'get', 'json'] as const).flatMap((method) => notations.map((way) => ({ ...way, method })));
    it.each<[string, MerchantSetup, readonly BankWay[]]>([
      ["Nest's", {}, ways],
      ['rawBody', { application: { rawBody: true } }, [{ method: 'form' }, { method: 'json' }]],
      ['that of the host', ownParser, notations],
    ])('each way of a bank is read by this parser: %s', async (_whose, setup, banksWays) => {
      await open(setup);
      for (const way of banksWays) {
        const callback = await atTheBank();
        const place = placeIn(await send(callback, sentAs(callback, way)));
        expect([way, place]).toEqual([way, expect.stringContaining('/paid?')]);
      }
    });
  });
});

/** What the bank sends of a new payment whose buyer has approved it. */
async function approved({ payments }: Pick<Merchant, 'payments'>, simulator: Simulator): Promise<BankCallback> {
  return simulator.approve((await payments.init3d(sale())).conversationId);
}

const placeIn = ({ headers }: Response): string => headers.get('location') ?? '';

function send(
  { url: bankUrl }: BankCallback,
  { url = bankUrl, method = 'POST', headers, body }: Attack,
): Promise<Response> {
  return fetch(url, { method, headers, body: body as RequestInit['body'], redirect: 'manual' });
}

function form(fields: Fields): string {
  return new URLSearchParams(fields).toString();
}

function formOf(fields: Fields): Attack {
  return { headers: { 'content-type': FORM }, body: form(fields) };
}

function jsonOf(value: unknown): Attack {
  return { headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(value) };
}

function many(count: number): Fields {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 'x']));
}

function multipart(fields: Fields): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--x--\r\n`;
}

function tokenOf(url: string): string {
  return new URL(url).pathname.split('/')[2] ?? '';
}

type Make = (callback: BankCallback) => Attack;

/** The right fields as a form, and more behind them. */
function inForm(more: string | Buffer, headers: Record<string, string> = {}): Make {
  return ({ fields }) => ({
    headers: { 'content-type': FORM, ...headers },
    body: Buffer.concat([Buffer.from(form(fields)), Buffer.from(more)]),
  });
}

function inQuery(more: string, attack: Attack = {}): Make {
  return ({ url, fields }) => ({ method: 'GET', url: `${url}?${form(fields)}${more}`, ...attack });
}

/** The right fields as JSON, with others among them. */
function inJson(more: object, headers: Record<string, string> = { 'content-type': JSON_TYPE }): Make {
  return ({ fields }) => ({ ...jsonOf({ ...fields, ...more }), headers });
}

/** The right fields as JSON, before them a member as it is. */
function inText(member: string | Buffer): Make {
  return ({ fields }) => {
    const others = `,${JSON.stringify(fields).slice(1)}`;
    return { ...jsonOf({}), body: Buffer.concat(['{', member, others].map((part) => Buffer.from(part as string))) };
  };
}

function withId(change: (id: string) => string): Make {
  return ({ fields }) => formOf({ ...fields, conversationId: change(fields.conversationId!) });
}

function withToken(change: (token: string) => string): Make {
  return ({ url, fields }) => {
    const token = tokenOf(url);
    return { ...formOf(fields), url: url.replace(token, change(token)) };
  };
}

function placeOf(conversationId: string): RegExp {
  return new RegExp(`^https://shop\\.example/(paid|failed|pending)\\?conversationId=${conversationId}$`);
}
