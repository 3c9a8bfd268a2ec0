import { setImmediate as nextTurn } from 'node:timers/promises';
import { standardDialect } from '../../lib/gateway/dialects/standard.dialect.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { TOO_LATE } from '../../lib/gateway/gateway-client.js';
import type { GatewayDialect } from '../../lib/gateway/gateway-dialect.js';
import { WireDecimal } from '../../lib/gateway/wire-body.js';
import { toPayment } from '../../lib/payment/payment.js';
import { CREDENTIALS, sampleSale, OPEN_CLAIM } from './sample-sale.js';
import { replied, standard, stubClient } from './stub-client.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const CARD = '4508034508034509';
const SALE = sampleSale();
const PAYMENT = toPayment(aPaymentRecord({ state: 'authorizing', amount: '60.00' }));
const APPROVED = replied({ code: 'B0000', conversationId: SALE.conversationId });
const CALLBACK = { Code: 'B0000', MdStatus: 'x' };
const AUTH3D = { payment: PAYMENT, fields: CALLBACK, gathered: CALLBACK };

/** The operations of the standard dialect, with another body or reader. */
function altered(part: object): Partial<GatewayDialect> {
  const { doPayment, init3d, auth3d } = standard().operations;
  const operations = { doPayment: { ...doPayment, ...part }, init3d: { ...init3d, ...part }, auth3d };
  return { operations: { ...operations, auth3d: { ...auth3d, ...part } } };
}

function fail(): never {
  throw new Error(`a dialect that fails, and tells ${CARD}`);
}

/** A rejection that nobody handles would end the process. */
function reject(): never {
  return Promise.reject(new Error(CARD)) as never;
}

/** @returns what ends the recording, and gives the rejections that nobody has handled */
function recordUnhandled(): () => Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const record = (reason: unknown): unknown => unhandled.push(reason);
  process.on('unhandledRejection', record);
  return async () => {
    await nextTurn();
    await nextTurn();
    process.off('unhandledRejection', record);
    return unhandled;
  };
}

describe('nothing is sent', () => {
  it.each<[string, Partial<GatewayDialect>]>([
    ['cannot make the body', altered({ body: fail })],
    ['cannot sign', { sign: reject }],
    ['cannot make the headers', { headers: fail }],
    ['gives no text for a sign', { sign: () => Promise.resolve(undefined as never) }],
    ['makes promises in the body', altered({ body: () => ({ one: reject(), two: [reject()] }) })],
    ['makes a decimal of a number', altered({ body: () => ({ amount: new WireDecimal(60 as never) }) })],
    ['makes a header that is a promise', { headers: () => ({ 'x-ClientID': reject() }) }],
  ])('when the dialect %s', async (_how, over) => {
    const unhandled = recordUnhandled();
    const { client, transport, pay } = stubClient(APPROVED, standard(over));
    for (const outcome of [
      await pay(),
      await client.init3d(SALE),
      await client.charge('auth3d', AUTH3D, { expected: PAYMENT }, OPEN_CLAIM),
    ]) {
      expect(outcome).toEqual({ sent: false, why: expect.stringMatching(/signer/) as string });
      expect(JSON.stringify(outcome)).not.toContain(CARD);
    }
    expect(transport.requests).toHaveLength(0);
    expect(await unhandled()).toEqual([]);
  });

  it.each([
    [7, true],
    [9, false],
  ])('when the signer answers after the claim may have run out: %d seconds', async (seconds, sent) => {
    let answer: (sign: string) => void = () => undefined;
    const dialect = standardDialect({ signer: () => new Promise((resolve) => (answer = resolve)) });
    const { pay, clock, transport } = stubClient(APPROVED, dialect);
    const paying = pay();
    await clock.advance(seconds * 1_000);
    answer('SIGN');
    expect(await paying).toMatchObject({ sent, ...(!sent && { why: 'the signer took too long' }) });
    expect(transport.requests).toHaveLength(sent ? 1 : 0);
  });

  it.each([
    ['has no time', () => Promise.resolve(false), () => true],
    ['cannot be asked', () => Promise.reject(new Error('store')), () => true],
    ['never answers', () => new Promise<boolean>(() => undefined), () => true],
    ['would run out', () => Promise.resolve(true), (ms: number) => ms !== 60_000],
  ])('when the claim %s: the caller is told within eight seconds', async (_how, confirmTime, mayStart) => {
    const { pay, clock, transport } = stubClient(APPROVED);
    const paying = pay({ timeoutMs: 60_000, confirmTime, mayStart });
    await clock.advance(8_000);
    expect(await paying).toBe(TOO_LATE);
    expect(transport.requests).toHaveLength(0);
  });

  it('when the claim has run out by the time it is written', async () => {
    expect(await stubClient({ sent: false, cause: 'claim_over' }).pay()).toBe(TOO_LATE);
  });
});

test('the sign of an answer is verified only where that is asked for, with the key', async () => {
  const keys: (string | null)[] = [];
  const dialect = standard({ verifySign: (_fields, { apiKey }) => keys.push(apiKey) === 0 });
  for (const [verifySign, reason] of [
    [false, null],
    [true, 'sign_mismatch'],
  ] as const) {
    expect(await stubClient(APPROVED, dialect, { verifySign }).pay()).toMatchObject({ outcome: { reason } });
  }
  expect(keys).toEqual(['api-key-1']);
});

describe('an answer, where a dialect in plain JavaScript', () => {
  const { codes, operations } = standard();
  const saying = (said: boolean) => ({ ...new Set(), has: () => Promise.resolve(said) }) as never;

  it.each<[string, () => object, object]>([
    [
      'has a set whose answers are promises',
      () => ({ codes: { ...codes, approvedCodes: saying(true), declinedCodes: saying(true) } }),
      { state: 'unknown' },
    ],
    [
      'gives a result with promises in it',
      () => altered({ read: () => ({ code: 'B0000', authCode: reject(), message: reject() }) as never }),
      { state: 'unknown', reason: 'unreadable' },
    ],
    ['has operations that can be read once', () => once('operations', operations), { state: 'succeeded' }],
  ])('%s, is judged without a throw', async (_how, over, outcome) => {
    const unhandled = recordUnhandled();
    const dialect = Object.defineProperties(standard(), Object.getOwnPropertyDescriptors(over()));
    const { pay } = stubClient(APPROVED, dialect);
    for (const attempt of [await pay(), await pay()]) expect(attempt).toMatchObject({ sent: true, outcome });
    expect(await unhandled()).toEqual([]);
  });

  /** A part that throws from its second reading on. */
  function once(part: string, value: unknown): object {
    let reads = 0;
    const get = (): unknown => ((reads += 1) > 1 ? fail() : value);
    return Object.defineProperty({}, part, { get, configurable: true, enumerable: true });
  }
});

describe('an inquiry', () => {
  it.each([
    { sent: true, reply: null, cause: 'deadline' },
    { sent: false, cause: 'connection_failed' },
  ] as const)('that meets %j is no answer', async (transmission) => {
    expect(await stubClient(transmission, morposDialect()).client.checkPayment(PAYMENT)).toBeNull();
  });

  it('is not to be had from a dialect without one, nor is an answer about a BIN', async () => {
    const { client, transport } = stubClient(replied({ responseCode: 'B0000' }));
    const question = { conversationId: 'ABC1', language: 'tr', bin: '402940', amount: null, currencyCode: null };
    expect(client.canInquire).toBe(false);
    expect(await client.checkPayment(PAYMENT)).toEqual({ outcome: 'unclear' });
    expect(await client.checkBin(question, 2_000, 'fixed')).toBeNull();
    expect(transport.requests).toHaveLength(0);
  });

  it('keeps nothing of the secrets that its answer echoes: neither as configured nor as sent', async () => {
    const echo = { responseCode: 'B0000', responseDescription: 'Approved', amount: 60 };
    const reply = { sent: true as const, reply: { status: 200, text: '' } };
    const dialect = morposDialect();
    const headers: GatewayDialect['headers'] = (context) => {
      return { ...dialect.headers(context), authorization: 'Bearer t0k3n' };
    };
    const { client, transport } = stubClient(reply, { ...dialect, headers });
    await client.checkPayment(PAYMENT);
    const [sent] = transport.requests;
    const { sign } = JSON.parse(sent!.body) as { sign: string };
    const { clientSecret, apiKey } = CREDENTIALS;
    for (const secret of [clientSecret, apiKey!, sent!.headers['x-ClientSecret'] ?? '', 't0k3n', sign]) {
      const told = { ...echo, responseDescription: `Approved, ${secret}`, orderId: secret, paymentId: `1-${secret}` };
      reply.reply.text = JSON.stringify(told);
      const result = { message: 'Approved, ***', orderId: null, paymentId: null };
      expect(await client.checkPayment(PAYMENT)).toMatchObject({ charge: { result } });
    }
  });
});
