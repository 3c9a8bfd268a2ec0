import { looksAtNoCertificate } from '../../payment/tls.js';
import type { Environment } from './sql-engine.js';

/** With these, pg asks for TLS, and looks at the certificate unless `uselibpqcompat` lets it not. */
const TLS_MODES: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);
const CARELESS_MODES: ReadonlySet<string> = new Set(['prefer', 'require']);
const TLS_FILES = ['sslcert', 'sslkey', 'sslrootcert'];

/**
 * The host that pg reaches without TLS, or without looking at the server's certificate; null where it looks, and for a
 * Unix socket. It reads the URL, and the variables for what that does not say, as pg does.
 */
export function unprotectedPostgresHost(url: string, environment: Environment): string | null {
  if (!URL.canParse(url)) return null;
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') || decoded(hostname) || environment['PGHOST'] || 'localhost';
  return host.startsWith('/') || isProtected(searchParams, environment) ? null : host;
}

function isProtected(query: URLSearchParams, environment: Environment): boolean {
  if (looksAtNoCertificate(environment)) return false;
  const mode = query.get('sslmode');
  if (mode !== null && mode !== '') {
    const isCareless = query.get('uselibpqcompat') === 'true' && CARELESS_MODES.has(mode);
    return TLS_MODES.has(mode) && (!isCareless || (mode === 'require' && query.has('sslrootcert')));
  }
  if (TLS_FILES.some((name) => query.get(name)) || query.get('sslnegotiation') === 'direct') return true;
  const ssl = query.get('ssl');
  if (ssl !== null) return ssl === 'true' || ssl === '1';
  return TLS_MODES.has(environment['PGSSLMODE'] ?? '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
