import { looksAtNoCertificate } from '../payment/tls.js';
import { shownUrl } from '../store/shown-url.js';
import { unprotectedHost } from '../store/store-url.js';
import type { Environment } from './read-options.js';
import { isLoopback } from './url-checks.js';

/**
 * What to say of a store on another host whose connection nobody protects; null where there is nothing to say. A private
 * network is no exception: it cannot be told from here who else is in it.
 */
export function unprotectedStoreText(storeUrl: string, variable: string, environment: Environment): string | null {
  const host = unprotectedHost(storeUrl, environment);
  if (host === null || isLoopback(host.toLowerCase()) || host === '::1') return null;
  const shown = shownUrl(storeUrl).endsWith('…') ? 'another host' : host;
  const isBlind = looksAtNoCertificate(environment);
  const own = storeUrl.startsWith('redis') ? 'begin its URL with rediss://' : 'put sslmode=verify-full in its URL';
  const remedy = isBlind ? `${own}, and take NODE_TLS_REJECT_UNAUTHORIZED=0 away` : own;
  return (
    `The connection to the payment store at ${shown} is not protected by verified TLS: whoever can listen in between ` +
    `reads and changes payments, and learns the password. Where the server speaks TLS, ${remedy} (${variable}).`
  );
}
