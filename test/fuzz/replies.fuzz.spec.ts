import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import fc from 'fast-check';
import {
  PaymentInit3dError,
  PaymentModule,
  PaymentNotSentError,
  PaymentService,
  standardDialect,
} from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';

const BATCH = 50;
/** 2,000 replies, 100,000 before a release. */
const BATCHES = process.env.RELEASE === '1' ? 2_000 : 40;
const AMOUNT = '149.90';
const PAGE = Buffer.from('<!doctype html><html><body>bank</body></html>').toString('base64');
const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, identity: (bytes: Buffer) => bytes };

/** What the gateway answers; `raw` goes on the socket as it is, instead of an answer. */
interface Answer {
  readonly status: number;
  readonly type: string;
  readonly encoding: keyof typeof ENCODERS;
  readonly isLying: boolean;
  readonly isCut: boolean;
  readonly body: (conversationId: string) => string | Buffer;
  readonly raw: Buffer | null;
}

const RAW = [
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 3\r\n\r\n{}',
].map((line) => Buffer.from(line));
const CODES = [
  'B0000',
  'b0000',
  'B0000 ',
  'B0051',
  'B0010',
  'B0096',
  'B7777',
  '',
  'RVV0000999999',
  'B0000\0',
  'B00000',
];
const scalar = fc.oneof(
  fc.constantFrom(...CODES, AMOUNT, '949', 949, 149.9, 0.01, null, true),
  fc.jsonValue({ maxDepth: 1 }),
);
const name = fc.constantFrom(
  'code',
  'Code',
  'CODE',
  'resultCode',
  'conversationId',
  'ConversationId',
  'currency',
  'paymentInfo',
  'PaymentInfo',
  'amount',
  'Amount',
  'message',
  'instrumentDetail',
  'sign',
  '__proto__',
  'htmlForm',
  'orderId',
);
const changes = fc.array(fc.tuple(name, scalar), { maxLength: 4 });

const body: fc.Arbitrary<Answer['body']> = fc.oneof(
  { weight: 2, arbitrary: fc.constant((id: string) => genuine(id)) },
  { weight: 6, arbitrary: changes.map((list) => (id: string) => changed(id, list)) },
  { weight: 1, arbitrary: fc.json().map((value) => () => value) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => () => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((value) => () => value) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 3 })).map(
      ([at, bytes]) =>
        (id: string) =>
          spliced(genuine(id), at, bytes),
    ),
  },
);

const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.oneof(
    { weight: 4, arbitrary: fc.constant(200) },
    { weight: 1, arbitrary: fc.integer({ min: 200, max: 599 }) },
  ),
  type: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-8',
    'text/html',
    'application/json; charset=iso-8859-9',
    'application/json; charset=no-such',
    '',
  ),
  encoding: fc.constantFrom('identity', 'identity', 'identity', 'gzip', 'br', 'deflate'),
  isLying: fc.constantFrom(false, false, false, false, true),
  isCut: fc.constantFrom(false, false, false, false, false, true),
  body,
  raw: fc.oneof(
    { weight: 11, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom(...RAW),
      ),
    },
  ),
});
const operation = fc.constantFrom('DoPayment', 'Init3d', 'Auth3d');

describe('random replies', () => {
  let server: Server;
  let context: INestApplicationContext;
  let payments: PaymentService;
  const planned = new Map<string, { operation: string; answer: Answer }>();
  const received = new Map<string, number>();
  let count = 0;

  beforeAll(async () => {
    server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    @Module({
      imports: [
        PaymentModule.forRoot({
          baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
          publicUrl: 'https://shop.example',
          merchantId: 'merchant',
          clientId: 'client',
          clientSecret: 'secret',
          dialect: standardDialect({ signer: () => 'signed' }),
          background: false,
          timeoutMs: 20_000,
        }),
      ],
    })
    class AppModule {}
    context = await NestFactory.createApplicationContext(AppModule, { logger: false });
    payments = context.get(PaymentService);
  });
  afterAll(async () => {
    await context.close();
    server.closeAllConnections();
    server.close();
  });

  it(
    `${BATCHES * BATCH} of them: no throw after sending, no success that is none`,
    async () => {
      const batches = fc.array(fc.tuple(operation, answer), { minLength: BATCH, maxLength: BATCH, size: 'max' });
      await fc.assert(
        fc.asyncProperty(
          batches,
          async (batch) => void (await Promise.all(batch.map(([what, said]) => tryOne(what, said)))),
        ),
        { numRuns: BATCHES, endOnFailure: true },
      );
    },
    BATCHES * 3_000,
  );

  async function tryOne(what: string, said: Answer): Promise<void> {
    count += 1;
    const conversationId = `FUZZ${String(count).padStart(16, '0')}`;
    planned.set(conversationId, { operation: what, answer: said });
    const sent = `${what} ${conversationId}`;
    const input = sale(AMOUNT, { conversationId });
    try {
      if (what === 'DoPayment') {
        const payment = await payments.doPayment(input);
        expectNoWrongSuccess(payment.state, said, conversationId, { isNamed: false });
      } else {
        await payments.init3d(input);
        if (what === 'Auth3d') {
          const payment = await payments.auth3d({ conversationId, fields: { conversationId, Code: 'B0000' } });
          expectNoWrongSuccess(payment.state, said, conversationId, { isNamed: true });
        }
      }
    } catch (error) {
      const isAllowed =
        error instanceof PaymentNotSentError
          ? !received.has(sent)
          : what === 'Init3d' && error instanceof PaymentInit3dError;
      if (!isAllowed) throw error;
    } finally {
      expect(received.get(sent) ?? 0).toBeLessThanOrEqual(1);
      planned.delete(conversationId);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = (await request.toArray()) as Buffer[];
    const { conversationId } = JSON.parse(Buffer.concat(chunks).toString()) as { conversationId: string };
    const what = request.url?.split('/').pop() ?? '';
    received.set(`${what} ${conversationId}`, (received.get(`${what} ${conversationId}`) ?? 0) + 1);
    const plan = planned.get(conversationId);
    if (plan?.operation !== what) return void response.end(genuine(conversationId));
    const { status, type, encoding, isLying, isCut, raw, body: make } = plan.answer;
    if (raw) return void request.socket.end(raw);
    const told = Buffer.from(make(conversationId));
    const bytes = isLying ? told : ENCODERS[encoding](told);
    response.writeHead(status, {
      ...(type && { 'content-type': type }),
      'content-encoding': encoding,
      ...(isCut && { 'content-length': bytes.length + 1 }),
    });
    if (!isCut) return void response.end(bytes);
    response.write(bytes, () => request.socket.destroy());
  }
});

/** Whether an approval has to name the payment. */
interface Wanted {
  readonly isNamed: boolean;
}

/** Reads the reply again, by other code than the module's: what it must contain if money was taken as asked. */
function expectNoWrongSuccess(state: string, said: Answer, conversationId: string, wanted: Wanted): void {
  const isWhole = !said.raw && !said.isCut && (!said.isLying || said.encoding === 'identity');
  const isRight =
    isWhole &&
    said.status >= 200 &&
    said.status < 300 &&
    saysApproved(said.body(conversationId), conversationId, wanted);
  if (state === 'succeeded') expect({ ...said, isRight }).toMatchObject({ isRight: true });
  if (isWhole && said.status === 200 && String(said.body(conversationId)) === genuine(conversationId))
    expect(state).toBe('succeeded');
}

function saysApproved(body: string | Buffer, conversationId: string, { isNamed }: Wanted): boolean {
  let parsed: unknown;
  try {
    parsed = JSON.parse(
      Buffer.from(body)
        .toString()
        .replace(/^\uFEFF/, ''),
    ) as unknown;
  } catch {
    return false;
  }
  if (typeof parsed !== 'object' || parsed === null) return false;
  const object: object = parsed;
  const all = (wanted: string, within = object): unknown[] =>
    Object.entries(within)
      .filter(([key, value]) => key.toLowerCase() === wanted.toLowerCase() && value !== null && value !== '')
      .map(([, value]) => value as unknown);
  const codes = all('code');
  const amounts = all('paymentInfo').flatMap((info) =>
    typeof info === 'object' && info !== null && !Array.isArray(info) ? all('amount', info) : [NaN],
  );
  if (isNamed) amounts.push(...all('amount'));
  if (isNamed && (all('conversationId').length === 0 || amounts.length === 0)) return false;
  return (
    codes.length > 0 &&
    [...codes, ...all('resultCode')].every((code) => code === 'B0000') &&
    all('conversationId').every((id) => id === conversationId) &&
    all('currency').every((currency) => Number(currency) === 949) &&
    amounts.every((amount) => Number(amount) === Number(AMOUNT))
  );
}

function genuine(conversationId: string): string {
  return JSON.stringify(fieldsOf(conversationId)).replace('"AMOUNT"', AMOUNT);
}

function fieldsOf(conversationId: string): Record<string, unknown> {
  return {
    code: 'B0000',
    message: 'Onaylandı',
    resultCode: 'B0000',
    conversationId,
    currency: '949',
    paymentInfo: { amount: 'AMOUNT', installmentCount: 1 },
    instrumentDetail: { maskedCardNumber: '450803******4509' },
    htmlForm: PAGE,
  };
}

function changed(conversationId: string, list: readonly (readonly [string, unknown])[]): string {
  return JSON.stringify({ ...fieldsOf(conversationId), ...Object.fromEntries(list) }).replace('"AMOUNT"', AMOUNT);
}

function spliced(text: string, at: number, bytes: Uint8Array): Buffer {
  const whole = Buffer.from(text);
  const place = at % whole.length;
  return Buffer.concat([whole.subarray(0, place), bytes, whole.subarray(place + bytes.length)]);
}
