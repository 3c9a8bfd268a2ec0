import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import {
  type CallbackRequest,
  isLookingAhead,
  receivedFields,
  receivedToken,
} from '../../lib/callback/callback-request.js';
import { PaymentCallbackError } from '../../lib/errors/payment-errors.js';

const FORM = 'application/x-www-form-urlencoded';
/** Every timer function except `setTimeout`. */
const NOT_FAKED = [
  'setImmediate',
  'clearImmediate',
  'nextTick',
  'queueMicrotask',
  'Date',
  'performance',
  'hrtime',
] as const;

function callbackRequest(over: Partial<CallbackRequest> = {}): CallbackRequest {
  return { method: 'POST', headers: {}, ...over };
}

describe('a prefetch', () => {
  it.each([
    ['HEAD', {}],
    ['GET', { 'sec-purpose': 'prefetch' }],
    ['GET', { 'sec-purpose': 'prefetch;prerender' }],
    ['GET', { purpose: 'Prefetch' }],
    ['GET', { 'x-purpose': 'preview' }],
    ['GET', { 'x-moz': 'prefetch' }],
    ['POST', { purpose: 'prefetch' }],
  ])('is recognised: %s %j', (method, headers) => {
    expect(isLookingAhead(callbackRequest({ method, headers }))).toBe(true);
  });

  it.each([
    ['GET', {}],
    ['POST', { 'sec-fetch-mode': 'navigate', accept: 'text/html' }],
  ])('is distinguished from a visit: %s %j', (method, headers) => {
    expect(isLookingAhead(callbackRequest({ method, headers }))).toBe(false);
  });
});

describe('receivedToken', () => {
  it('returns the token of the route, or else of the query', () => {
    expect(receivedToken(callbackRequest({ params: { token: 'a' }, query: { token: 'b' } }))).toBe('a');
    expect(receivedToken(callbackRequest({ params: {}, query: { token: 'b' } }))).toBe('b');
  });

  it('returns an empty token if it is repeated, nested or missing', () => {
    for (const token of [['a', 'b'], { a: 'b' }, 7, null, undefined]) {
      expect(receivedToken(callbackRequest({ params: { token }, query: { token } }))).toBe('');
    }
    expect(receivedToken(callbackRequest())).toBe('');
    expect(receivedToken(callbackRequest({ params: null, query: null }))).toBe('');
  });
});

describe('receivedFields', () => {
  it('returns the body that the host has parsed', async () => {
    const body = { Code: 'B0000' };
    expect(await receivedFields(callbackRequest({ body, query: { a: '1' } }))).toBe(body);
    expect(await receivedFields(callbackRequest({ body: 'text', query: {} }))).toBe('text');
    expect(await receivedFields(callbackRequest({ body: 7, query: { a: '1' } }))).toBe(7);
  });

  it.each([undefined, null, {}, []])('returns the query if the body is %j', async (body) => {
    expect(await receivedFields(callbackRequest({ method: 'GET', body, query: { Code: 'B0000' } }))).toEqual({
      Code: 'B0000',
    });
  });

  it('leaves out the token in the query, unless the token is in the route', async () => {
    const query = { token: 't', Code: 'B0000' };
    expect(await receivedFields(callbackRequest({ method: 'GET', query }))).toEqual({ Code: 'B0000' });
    expect(await receivedFields(callbackRequest({ method: 'GET', query, params: { token: 'own' } }))).toEqual(query);
    expect(query).toEqual({ token: 't', Code: 'B0000' });
  });
});

describe('a body that the host has not parsed', () => {
  let server: Server;
  let received: Promise<unknown>[] = [];

  beforeAll(async () => {
    server = createServer((incoming, response) => {
      const fields = receivedFields(incoming as CallbackRequest);
      received.push(fields);
      fields.then(
        () => response.writeHead(200).end(),
        () => response.writeHead(400).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => (received = []));
  afterAll(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));

  function send(body: string | Buffer, type = FORM, method = 'POST'): Promise<number> {
    const { port } = server.address() as AddressInfo;
    const headers = type === '' ? {} : { 'content-type': type };
    return new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', method, headers }, (response: IncomingMessage) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  it.each([
    ['a=1&b=%C3%B6+x', { a: '1', b: 'ö x' }],
    ['a=1&a=2&b=', { a: ['1', '2'], b: '' }],
    [
      'InstrumentDetail[CardType]=CARD&InstrumentDetail.X=y',
      { 'InstrumentDetail[CardType]': 'CARD', 'InstrumentDetail.X': 'y' },
    ],
    ['a=%ZZ&b=%ff&c', { a: '%ZZ', b: '\ufffd', c: '' }],
  ])('is parsed as a form: %s', async (body, fields) => {
    expect(await send(body, `${FORM}; charset=UTF-8`)).toBe(200);
    expect(await received[0]).toEqual(fields);
  });

  it('may have field names that are properties of every object', async () => {
    await send('__proto__=x&constructor=y');
    const fields = (await received[0]) as object;
    expect(Object.entries(fields)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  it.each([
    ['a=1', ` ${FORM.toUpperCase()} ; charset=utf-8`],
    ['{"a":"1"}', 'application/json ;charset=utf-8'],
  ])('is parsed if its content type has spaces around it: %s', async (body, type) => {
    expect(await send(body, type)).toBe(200);
    expect(await received[0]).toEqual({ a: '1' });
  });

  it('is parsed as JSON', async () => {
    await send('{"Code":"B0000","n":1}', 'Application/JSON');
    expect(await received[0]).toEqual({ Code: 'B0000', n: 1 });
  });

  it.each([
    ['truncated', '{"Code":'],
    ['empty', ''],
  ])('is refused if it is %s JSON', async (_how, body) => {
    expect(await send(body, 'application/json')).toBe(400);
    await expect(received[0]).rejects.toEqual(new PaymentCallbackError('not_a_callback'));
  });

  it.each(['multipart/form-data; boundary=x', 'text/plain', ''])(
    'is not read with the content type %j',
    async (type) => {
      expect(await send('a=1', type)).toBe(200);
      expect(await received[0]).toBeUndefined();
    },
  );

  it.each(['PUT', 'PATCH'])('is not read with the method %s', async (method) => {
    expect(await send('a=1', FORM, method)).toBe(200);
    expect(await received[0]).toBeUndefined();
  });

  it('is not read if the host has already read it', async () => {
    const stream = { on: () => undefined, headers: { 'content-type': FORM } };
    for (const body of [{ Code: 'B0000' }, 'text']) {
      expect(await receivedFields(callbackRequest({ ...stream, body }))).toBe(body);
    }
    expect(await receivedFields(callbackRequest({ headers: stream.headers, query: { a: '1' } }))).toEqual({ a: '1' });
  });

  it('leaves no timer behind, whether it is read or refused', async () => {
    jest.useFakeTimers({ doNotFake: [...NOT_FAKED] });
    try {
      expect(await send('a=1')).toBe(200);
      expect(await send('{', 'application/json')).toBe(400);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('may have up to 64 KiB, and is refused beyond that without breaking the connection', async () => {
    expect(await send(`a=${'x'.repeat(65_534)}`)).toBe(200);
    expect(await send(`a=${'x'.repeat(65_535)}`)).toBe(400);
    await expect(received[1]).rejects.toEqual(new PaymentCallbackError('too_large'));
    for (let copies = 0; copies < 20; copies += 1) expect(await send('x'.repeat(1_000_000))).toBe(400);
  });

  it('is refused if it does not end within ten seconds, and its connection is closed', async () => {
    jest.useFakeTimers({ doNotFake: [...NOT_FAKED] });
    try {
      const { port } = server.address() as AddressInfo;
      const headers = { 'content-type': FORM, 'content-length': 10 };
      const slow = request({ port, host: '127.0.0.1', method: 'POST', headers });
      const closed = new Promise((resolve) => slow.on('error', resolve));
      const requested = new Promise((resolve) => server.once('request', resolve));
      slow.write('a=1');
      await requested;
      let hasEnded = false;
      void received[0]!.catch(() => undefined).then(() => (hasEnded = true));
      jest.advanceTimersByTime(9_999);
      for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
      expect(hasEnded).toBe(false);
      jest.advanceTimersByTime(1);
      await expect(received[0]).rejects.toEqual(new PaymentCallbackError('not_a_callback'));
      await closed;
    } finally {
      jest.useRealTimers();
    }
  });
});
