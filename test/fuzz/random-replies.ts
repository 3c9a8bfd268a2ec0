import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { answeringGateway } from '../rigs/answering-gateway.js';
import { inWhole } from '../rigs/extent.js';

const BATCH = 50;
/** 2,000 replies, half of them to payments; 100,000 to each in the whole tests. */
const BATCHES = inWhole(2_000, 20);
/** How many replies there are in a suite, and how long they may take. */
export const REPLIES = BATCHES * BATCH;
export const REPLIES_MS = BATCHES * 3_000;
/** What a sale takes. */
export const AMOUNT = '149.90';
const ENCODERS = { gzip: gzipSync, identity: (bytes: Buffer) => bytes };

/** What the gateway answers; `raw` goes on the socket as it is, instead of an answer. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly encoding: keyof typeof ENCODERS;
  readonly isLying: boolean;
  readonly isCut: boolean;
  readonly body: (conversationId: string) => string | Buffer;
  readonly raw: Buffer | null;
}

/** The right answer, from which the random ones are made. An amount is `"AMOUNT"`, and becomes a number. */
export type RightFields = (conversationId: string) => Record<string, unknown>;

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
  '00',
  '0',
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
  'currencyCode',
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

const bodyOf = (right: RightFields): fc.Arbitrary<Answer['body']> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant((id: string) => genuine(right, id)) },
    { weight: 6, arbitrary: changes.map((list) => (id: string) => changed(right, id, list)) },
    { weight: 1, arbitrary: fc.json().map((value) => () => value) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => () => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((value) => () => value) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 3 })).map(
        ([at, bytes]) =>
          (id: string) =>
            spliced(genuine(right, id), at, bytes),
      ),
    },
  );

/** Tries {@link REPLIES} of these, some at the same time. */
export async function tryAll<T>(one: fc.Arbitrary<T>, tryOne: (one: T) => Promise<void>): Promise<void> {
  const batches = fc.array(one, { minLength: BATCH, maxLength: BATCH, size: 'max' });
  const property = fc.asyncProperty(batches, async (batch) => void (await Promise.all(batch.map(tryOne))));
  await fc.assert(property, { numRuns: BATCHES, endOnFailure: true });
}

/** Any answer: the right one, one with other fields or bytes, or anything else. */
export const answersLike = (right: RightFields): fc.Arbitrary<Answer> =>
  fc.record({
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
    encoding: fc.constantFrom('identity', 'identity', 'gzip'),
    isLying: fc.constantFrom(false, false, false, false, true),
    isCut: fc.constantFrom(false, false, false, false, false, true),
    body: bodyOf(right),
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

/** A gateway that answers as planned, by the conversationId of the request, and otherwise rightly. */
export async function fuzzedGateway(right: RightFields) {
  /** The next answers of an operation. */
  const planned = new Map<string, { readonly operation: string; readonly answer: Answer }>();
  const received = new Map<string, number>();
  /** How often such a request arrived. */
  const timesReceived = (operation: string, id: string): number => received.get(`${operation} ${id}`) ?? 0;
  const { url, close } = await answeringGateway(({ operation, body }, response) => {
    const id = body['conversationId'] as string;
    received.set(`${operation} ${id}`, timesReceived(operation, id) + 1);
    const plan = planned.get(id);
    if (plan?.operation === operation) send(response, plan.answer, id);
    else response.end(genuine(right, id));
  });
  return { url, close, planned, timesReceived };
}

function send(response: ServerResponse, answer: Answer, conversationId: string): void {
  const { status, type, encoding, isLying, isCut, raw, body: make } = answer;
  const { socket } = response;
  if (raw) return void socket?.end(raw);
  const told = Buffer.from(make(conversationId));
  const bytes = isLying ? told : ENCODERS[encoding](told);
  response.writeHead(status, {
    ...(type && { 'content-type': type }),
    'content-encoding': encoding,
    ...(isCut && { 'content-length': bytes.length + 1 }),
  });
  if (isCut) response.write(bytes, () => socket?.destroy());
  else response.end(bytes);
}

export function genuine(right: RightFields, conversationId: string): string {
  return JSON.stringify(right(conversationId)).replace('"AMOUNT"', AMOUNT);
}

function changed(right: RightFields, conversationId: string, list: readonly (readonly [string, unknown])[]): string {
  return JSON.stringify({ ...right(conversationId), ...Object.fromEntries(list) }).replace('"AMOUNT"', AMOUNT);
}

function spliced(text: string, at: number, bytes: Uint8Array): Buffer {
  const whole = Buffer.from(text);
  const place = at % whole.length;
  return Buffer.concat([whole.subarray(0, place), bytes, whole.subarray(place + bytes.length)]);
}

/** Whether the whole answer arrives as it was meant. */
export function isWhole({ raw, isCut, isLying, encoding }: Answer): boolean {
  return !raw && !isCut && (!isLying || encoding === 'identity');
}

/** The answer as JSON.parse reads it; null unless it is an object. */
export function objectIn(body: string | Buffer): object | null {
  try {
    const text = Buffer.from(body)
      .toString()
      .replace(/^\uFEFF/, '');
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' ? parsed : null;
  } catch {
    return null;
  }
}

/** The values of a field, in any spelling of its name, without null and the empty text. */
export function valuesIn(object: object, wanted: string): unknown[] {
  return Object.entries(object)
    .filter(([key, value]) => key.toLowerCase() === wanted.toLowerCase() && value !== null && value !== '')
    .map(([, value]) => value as unknown);
}
