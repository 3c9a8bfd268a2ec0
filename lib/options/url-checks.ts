import { isLoopback } from '../runtime/network.js';

/** The `baseUrl` for the gateway and the bank inside the application. */
export const SIMULATOR_URL = 'simulator:';

const SITE = 'http://site.invalid';
/** URL parsers drop these characters, so the URL in use would not be the one that was checked. */
// eslint-disable-next-line no-control-regex
const INVISIBLE_CHARACTERS = /[\u0000-\u0020\u007f]/;

/** An absolute http(s) URL without credentials; https unless the host is this machine. */
function secureUrlProblem(text: string): string | null {
  const url = INVISIBLE_CHARACTERS.test(text) ? null : parse(text);
  if (!url) return 'must be an absolute https URL';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return 'must be https, except to a loopback address';
  return null;
}

/** {@link secureUrlProblem}. Nothing may follow the path, since paths are appended to it. */
export function baseUrlProblem(text: string): string | null {
  if (parse(text) && /[?#]/.test(text)) return 'must have no query and no fragment';
  return secureUrlProblem(text);
}

/** {@link baseUrlProblem}, or the embedded simulator. */
export function gatewayUrlProblem(text: string): string | null {
  if (text === SIMULATOR_URL) return null;
  if (namesSimulator(text)) {
    return 'must be simulator: alone, without a port or a path, for the embedded simulator; or an absolute https URL';
  }
  return baseUrlProblem(text);
}

/** Whether it is the embedded simulator, perhaps mistyped. */
export function namesSimulator(text: string): boolean {
  return /^\W*simulator(?![\w.-])/i.test(text);
}

/** An absolute http(s) URL, which may hold `{token}`. */
export function callbackUrlProblem(text: string): string | null {
  return secureUrlProblem(text.replaceAll('{token}', 'token'));
}

/** An absolute http(s) URL, or a path of this site. */
export function resultUrlProblem(text: string): string | null {
  return isPath(text) || parse(text) ? null : 'must be an absolute http(s) URL, or a path that begins with one /';
}

export function withoutTrailingSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

function parse(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  return url && isHttp && url.username === '' && url.password === '' ? url : null;
}

/** Whether the path stays on this site even after a browser has resolved its dots. */
function isPath(text: string): boolean {
  if (!text.startsWith('/') || !URL.canParse(text, SITE)) return false;
  const { origin, pathname } = new URL(text, SITE);
  return origin === SITE && !pathname.startsWith('//');
}

/** Whether an absolute URL leads to this machine alone. */
export function isLoopbackUrl(text: string): boolean {
  const url = parse(text);
  return url !== null && isLoopback(url.hostname);
}
