import { engineOfUrl, SQL_ENGINES } from './sql/engines.js';
import { shownFile, unescaped } from './sql/errors.js';

const STRAY_PERCENT = 'must have each % in its user and password written as %25';

/** The forms of a store's URL, for messages. */
export const STORE_URL_FORMS: readonly string[] = ['memory:', ...SQL_ENGINES.map(({ urlForm }) => urlForm)];

const REDIS =
  'must not be Redis: a fail-over of Redis may lose an acknowledged write, and a payment may then be charged twice; ' +
  `use ${SQL_ENGINES.map(({ urlForm }) => urlForm).join(', ')}`;

/**
 * The URL of a server whose host can be told from its user and password. It cannot where one of these holds an
 * unescaped character, or an escaped `@` stands after the host.
 */
const SERVER =
  /^(?<scheme>[a-z][a-z0-9+.-]{0,30}:\/\/)(?:[^@/?#]*@)?(?<host>(?:[a-z0-9.-]+|\[[\da-f:.]+\])?(?::\d+)?)(?:\/(?<database>[\w.-]*))?(?:[?#](?!.*%40)[^@]*)?$/i;

/** What is wrong with the form of a store's URL, without showing it; null if nothing is. */
export function storeUrlProblem(url: string): string | null {
  if (/^rediss?:/i.test(url)) return REDIS;
  if (url !== 'memory:' && !(/:./.test(url) && engineOfUrl(url))) return `must be ${STORE_URL_FORMS.join(', ')}`;
  return hasStrayPercent(url) ? STRAY_PERCENT : null;
}

/** Whether the user or password of a URL contains a % that begins no escape. */
function hasStrayPercent(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return unescaped(username) === null || unescaped(password) === null;
}

/**
 * The scheme and host of a store's URL, or its file: never a user, a password or a query. Only the scheme
 * where these cannot be told apart.
 */
export function shownUrl(url: string): string {
  if (url === 'memory:') return url;
  const scheme = /^[a-z]+:/.exec(url)?.[0] ?? '';
  if (engineOfUrl(url)?.server === null) return scheme + shownFile(url.slice(scheme.length));
  const { scheme: server, host = '' } = SERVER.exec(url)?.groups ?? {};
  return server ? server + host : `${/^[a-z][a-z0-9+.-]{0,30}:\/\//i.exec(url)?.[0] ?? ''}…`;
}

/** Host, port and database of a store's URL, for an error; empty for a file, and where they cannot be told apart. */
export function shownPlace(url: string): string {
  const { host, database = '' } = SERVER.exec(url)?.groups ?? {};
  const port = engineOfUrl(url)?.server?.port;
  if (host === undefined || !port) return '';
  const [, name = '', own = port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return `host ${name || 'localhost'}, port ${own}${database && `, database ${database}`}`;
}
