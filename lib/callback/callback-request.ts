import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { PaymentCallbackError } from '../errors/payment-errors.js';

/** The parts of an Express or Fastify request that are read. */
export interface CallbackRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

const MAX_BODY_BYTES = 65_536;
const BODY_LIMIT_MS = 10_000;
const FORM = 'application/x-www-form-urlencoded';

/** Whether a browser or proxy is only prefetching: this must have no effect. */
export function isLookingAhead({ method, headers }: CallbackRequest): boolean {
  const purpose = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']].join(' ');
  return method === 'HEAD' || /prefetch|prerender|preview/i.test(purpose);
}

/**
 * Whether the browser shows the answer in a frame of a page, as it does where the gateway's form is embedded. Browsers say
 * so to sites with TLS, and to this machine.
 */
export function isInFrame({ headers }: CallbackRequest): boolean {
  return ['iframe', 'frame'].includes(String(headers['sec-fetch-dest']));
}

/**
 * The body's fields, or else the query's, as objects made by the host's parser. Where Express has no parser, the body
 * is read here.
 */
export async function receivedFields(request: CallbackRequest): Promise<unknown> {
  const body = isUnread(request) ? await readBody(request) : request.body;
  return isEmpty(body) ? queryFields(request) : body;
}

/** The callback token in the route or the query; an empty text if there is none. */
export function receivedToken({ params, query }: CallbackRequest): string {
  return tokenIn(params) ?? tokenIn(query) ?? '';
}

/** A token in the query belongs to the merchant's URL, not to the bank's fields. */
function queryFields({ params, query }: CallbackRequest): unknown {
  if (tokenIn(params) !== null || tokenIn(query) === null) return query;
  return Object.fromEntries(Object.entries(query as object).filter(([name]) => name !== 'token'));
}

function tokenIn(holder: unknown): string | null {
  const token = (holder as { token?: unknown } | null | undefined)?.token;
  return typeof token === 'string' ? token : null;
}

function isUnread(request: CallbackRequest): request is CallbackRequest & IncomingMessage {
  const isStream = typeof (request as Partial<IncomingMessage>).on === 'function';
  return isStream && request.body === undefined && request.method === 'POST' && bodyType(request) !== null;
}

function bodyType({ headers }: CallbackRequest): 'form' | 'json' | null {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';', 1);
  if (type.trim() === FORM) return 'form';
  return type.trim() === 'application/json' ? 'json' : null;
}

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);
}

async function readBody(request: CallbackRequest & IncomingMessage): Promise<unknown> {
  // Not joined as a Buffer, which would leave the bank's fields in the memory that small Buffers share.
  const decoder = new StringDecoder('utf8');
  let text = '';
  let size = 0;
  const timer = setTimeout(() => request.destroy(), BODY_LIMIT_MS);
  try {
    // Not destroyed when it is too large: the refusal could not be sent over a closed connection.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new PaymentCallbackError('too_large');
      text += decoder.write(chunk);
    }
    text += decoder.end();
    return bodyType(request) === 'json' ? (JSON.parse(text) as unknown) : formFields(text);
  } catch (error) {
    throw error instanceof PaymentCallbackError ? error : new PaymentCallbackError('not_a_callback');
  } finally {
    clearTimeout(timer);
    request.resume();
  }
}

function formFields(text: string): Record<string, string | string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = values.get(name);
    if (earlier) earlier.push(value);
    else values.set(name, [value]);
  }
  return Object.fromEntries(Array.from(values, ([name, all]) => [name, all.length === 1 ? all[0]! : all]));
}
