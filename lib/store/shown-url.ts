const MAX_READ_CHARACTERS = 10_000;
const MAX_SHOWN_CHARACTERS = 500;
/** Shorter texts are not hidden, because they occur in too many words. */
const MIN_HIDDEN_CHARACTERS = 4;

/** The example in an error of this module, whose port may have been hidden. */
const EXAMPLE = /^[a-z]+:\/\/user:password@host:[\d*]+\/database;?$/;
const URL_IN_TEXT = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"`<>…]+/gi;
/** A secret in `host=db password=…`, which PostgreSQL accepts instead of a URL, or in JSON. */
const SECRET_IN_TEXT =
  /\b(password|passwd|pass|pwd|user|username|token|secret)("?\s?[=:]\s?)(?!password@host:[\d*]+\/database\b)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi;

/**
 * The parts of a URL that may be shown: scheme, host, port and path. User, password, query and fragment are left out.
 * Only the scheme is shown where an unescaped character may have put a part of the password into the host or the path.
 */
export function shownUrl(url: string): string {
  const [scheme = ''] = /^[a-z][a-z0-9+.-]{0,30}:/i.exec(url) ?? [];
  if (scheme === 'memory:') return scheme;
  if (scheme === 'sqlite:') return `${scheme}${shownFile(url.slice(scheme.length))}`;
  if (!url.startsWith(`${scheme}//`)) return '…';
  if (!URL.canParse(url)) return `${scheme}//…`;
  const { host, pathname, search, hash } = new URL(url);
  const isSplitWrong = /[@;&=]|%40|%3f/i.test(host + pathname) || (search + hash).includes('@');
  return isSplitWrong ? `${scheme}//…` : `${scheme}//${host}${pathname}`;
}

/** The part of a SQLite file's path that may be shown: people may write it like the URL of a server. */
export function shownFile(file: string): string {
  const name = file.replace(/[?#].*$/s, '');
  return /^\/\/[^/]*@|^[^@:]*:[^@]*@/.test(name) ? '…' : name;
}

/** A message without secrets. It may repeat the URL of the store, another URL, or parts of them. */
export function withoutSecrets(message: string, storeUrl: string): string {
  const hidden = [storeUrl, ...secretsOf(storeUrl)].filter((text) => text.length >= MIN_HIDDEN_CHARACTERS);
  return hidden
    .reduce((text, secret) => withoutText(text, secret), message.slice(0, MAX_READ_CHARACTERS))
    .replace(URL_IN_TEXT, (url) => (EXAMPLE.test(url) ? url : shownUrl(url)))
    .replace(SECRET_IN_TEXT, '$1$2***')
    .slice(0, MAX_SHOWN_CHARACTERS);
}

/** Ignores case, because drivers show hosts, and what they take for a host, in lowercase. */
function withoutText(text: string, secret: string): string {
  const [small, sought] = [text.toLowerCase(), secret.toLowerCase()];
  // Some letters have more characters in lowercase.
  if (small.length !== text.length) return text.replaceAll(secret, '***');
  let shown = '';
  let from = 0;
  for (let at = small.indexOf(sought); at >= 0; at = small.indexOf(sought, from)) {
    shown += `${text.slice(from, at)}***`;
    from = at + sought.length;
  }
  return shown + text.slice(from);
}

/** The parts of a URL that are not shown, as written and decoded, the longest first. */
function secretsOf(storeUrl: string): string[] {
  const shown = partsOf(shownUrl(storeUrl));
  const { username, password } = URL.canParse(storeUrl) ? new URL(storeUrl) : { username: '', password: '' };
  const hidden = [username, password, ...partsOf(storeUrl)].filter((part) => !shown.includes(part));
  return [...hidden, ...hidden.map(decoded)].sort((one, other) => other.length - one.length);
}

function partsOf(url: string): string[] {
  return url.split(/[:@/?&#=,\s]+/);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
