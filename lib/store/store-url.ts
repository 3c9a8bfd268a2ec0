import { engineOfUrl, SQL_ENGINES } from './sql/engines.js';

const STRAY_PERCENT = 'must have each % in its user and password written as %25';

/** The forms of a store's URL, for messages. */
export const STORE_URL_FORMS: readonly string[] = ['memory:', ...SQL_ENGINES.map(({ urlForm }) => urlForm)];

const REDIS =
  'must not be Redis: a fail-over of Redis may lose an acknowledged write, and a payment may then be charged twice; ' +
  `use ${SQL_ENGINES.map(({ urlForm }) => urlForm).join(', ')}`;

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
  return !isDecodable(username) || !isDecodable(password);
}

function isDecodable(text: string): boolean {
  try {
    // The result is used, or the bundler would leave the call out.
    return decodeURIComponent(text).length <= text.length;
  } catch {
    return false;
  }
}
