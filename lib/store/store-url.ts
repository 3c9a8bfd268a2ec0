import { looksAtNoCertificate } from '../payment/tls.js';
import { engineOfUrl, SQL_ENGINES } from './sql/engines.js';
import type { Environment } from './sql/sql-engine.js';

export const STRAY_PERCENT = 'must have each % in its user and password written as %25';

/** The forms of a store's URL, for messages. */
export const STORE_URL_FORMS: readonly string[] = [
  'memory:',
  ...SQL_ENGINES.map(({ urlForm }) => urlForm),
  'redis://…',
];

/** What is wrong with the form of a store's URL, without showing it; null if nothing is. */
export function storeUrlProblem(url: string): string | null {
  if (storeKindOf(url) === null) return `must be ${STORE_URL_FORMS.join(', ')} (rediss:// with TLS)`;
  return credentialsOf(url) === null ? STRAY_PERCENT : null;
}

/** The decoded user and password of a URL; null if they contain a % that begins no escape. */
export function credentialsOf(url: string): { readonly user: string; readonly password: string } | null {
  const { username, password } = URL.canParse(url) ? new URL(url) : { username: '', password: '' };
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return null;
  }
}

/** The kind of store that a URL names, by its form; null if it names none. */
export function storeKindOf(url: string): 'memory' | 'sql' | 'redis' | null {
  if (url === 'memory:') return 'memory';
  if (/^rediss?:\/\/./.test(url)) return 'redis';
  return /:./.test(url) && SQL_ENGINES.some((engine) => engine.owns(url)) ? 'sql' : null;
}

/** What makes the connection to the store of a URL one by verified TLS. */
export function tlsRemedy(url: string): string {
  const { tlsOption } = engineOfUrl(url) ?? { tlsOption: null };
  return tlsOption === null ? 'begin its URL with rediss://' : `put ${tlsOption} in its URL`;
}

/** The host of a store that is reached without TLS, or without verifying its certificate; null if there is none. */
export function unprotectedHost(url: string, environment: Environment): string | null {
  if (/^redis:\/\/./.test(url) || (/^rediss:\/\/./.test(url) && looksAtNoCertificate(environment))) {
    return URL.canParse(url) ? new URL(url).hostname : null;
  }
  return engineOfUrl(url)?.unprotectedHost(url, environment) ?? null;
}
