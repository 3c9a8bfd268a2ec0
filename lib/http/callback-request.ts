import type { IncomingMessage } from 'node:http';

/** The parts of an Express or Fastify request that are read. */
export interface CallbackRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Whether a browser or proxy is only prefetching: this must have no effect. */
export function isLookingAhead({ method, headers }: CallbackRequest): boolean {
  const purpose = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']].join(' ');
  return method === 'HEAD' || /prefetch|prerender|preview/i.test(purpose);
}

/**
 * Whether the browser shows the answer in a frame of a page, as it does where the gateway's form is embedded. Browsers
 * say so to sites with TLS, and to this machine.
 */
export function isInFrame({ headers }: CallbackRequest): boolean {
  return ['iframe', 'frame'].includes(String(headers['sec-fetch-dest']));
}

/** The body's fields as the host's parser made them, or else the query's. */
export function receivedFields(request: CallbackRequest): unknown {
  return isEmpty(request.body) ? queryFields(request) : request.body;
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

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);
}
