import type { IncomingHttpHeaders } from 'node:http';

/** The parts of an Express or Fastify request that are read. */
export interface DeskRequest {
  readonly method: string;
  readonly url: string;
  /** With what a router or a middleware took away from `url`. */
  readonly originalUrl?: string;
  readonly headers: IncomingHttpHeaders;
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Where the pages are, as seen from the one that is asked for: a proxy may have taken a path away. */
export interface Place {
  /** Of the first page. */
  readonly home: string;
  /** What the other pages' paths are put behind. */
  readonly root: string;
}

/** @param depth how many segments the asked page is below the first one */
export function placeOf({ originalUrl, url }: DeskRequest, depth: number): Place {
  const segments = (originalUrl ?? url)
    .replace(/[?#].*/s, '')
    .split('/')
    .slice(1);
  const count = segments.at(-1) === '' ? segments.length - 1 : segments.length;
  const ofDesk = count - 1 - depth;
  const up = segments.length - 1 - ofDesk;
  const name = segments[ofDesk];
  const root = up === 0 ? `./${name}/` : '../'.repeat(up - 1) || './';
  return { root, home: name === undefined ? root : `${'../'.repeat(up) || './'}${name}` };
}

/**
 * Whether a form was sent by a page of this site, as the browser says. Browsers that do not say so, and those on a page
 * without TLS, send where the form was: its host and port have to be those of the request, by whatever scheme, since a
 * proxy may end TLS.
 */
export function isFromOwnPage({ headers }: DeskRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const [scheme, host] = /^(https?):\/\/([^/]+)$/i.exec(headers.origin ?? '')?.slice(1) ?? [];
  const asked = headers.host ?? headers[':authority'];
  if (scheme === undefined || host === undefined || typeof asked !== 'string') return false;
  // A default port may be written out.
  const withoutDefault = (text: string): string | null => {
    const address = `${scheme}://${text}`;
    return URL.canParse(address) ? new URL(address).host : null;
  };
  return withoutDefault(host) !== null && withoutDefault(host) === withoutDefault(asked);
}

/** The account that is named; null if none is, undefined for more than one: `account=a&account=b`, `account[]=a`. */
export function accountIn(query: unknown): string | null | undefined {
  const named = Object.entries(Object(query) as object).filter(([name]) => /^account(?![^[])/.test(name));
  const isText = named.every(([name, value]) => name === 'account' && typeof value === 'string');
  return isText ? textIn(query, 'account') : undefined;
}

/** 12 digits or more, whatever stands between them but letters: a card number, perhaps. */
const CARD_LIKE = /\p{N}(?:[^\p{L}\p{N}]*\p{N}){11,}/gu;

/** What somebody typed, to be shown to them again: people also type card numbers. */
export function withoutCard(typed: string): string {
  return typed.replace(CARD_LIKE, '***');
}

/** A value of a query, form or route as it is; null if there is none, or a blank one, and if it is no text. */
export function textIn(fields: unknown, name: string): string | null {
  if (typeof fields !== 'object' || fields === null || !Object.hasOwn(fields, name)) return null;
  const value = (fields as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
