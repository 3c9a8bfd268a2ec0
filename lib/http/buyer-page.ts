import { createHash } from 'node:crypto';
import type { TextLanguage } from '../runtime/text-language.js';
import { BACK_TO_SHOP, type PageText } from '../errors/buyer-texts.js';

const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;color:#1c2733}' +
  'h1{font-size:1.6rem}a{color:#0b5cad}' +
  '@media(prefers-color-scheme:dark){body{background:#12181f;color:#e6ebf0}a{color:#8cc2ff}}';

/** Follows the page's link in the whole window. */
const LEAVE_FRAME = 'top.location.replace(document.links[0].href)';

/**
 * The headers of {@link buyerPage}: the browser loads nothing, runs nothing but what leaves a frame, and keeps no copy.
 *
 * @param ancestors who may show the page in a frame
 * @param leavesFrame as of {@link buyerPage}
 */
export function buyerPageHeaders(
  ancestors: "'none'" | "'self'",
  leavesFrame = false,
): Readonly<Record<string, string>> {
  const style = hashOf(STYLE);
  const script = leavesFrame ? ` script-src ${hashOf(LEAVE_FRAME)};` : '';
  return Object.freeze({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src ${style};${script} form-action 'none'; base-uri 'none'; frame-ancestors ${ancestors}`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
}

function hashOf(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}

/**
 * The plain page that shows a result or an error. It repeats nothing from the request.
 *
 * @param shopUrl where its link leads. The link opens in the whole window, since the bank may have been shown in a
 *   frame
 * @param leavesFrame whether the page follows its link by itself; a browser that runs no script shows the link
 */
export function buyerPage(
  { title, text }: PageText,
  language: TextLanguage,
  shopUrl: string,
  leavesFrame = false,
): string {
  const script = leavesFrame ? `<script>${LEAVE_FRAME}</script>` : '';
  return (
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>` +
    `<style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>` +
    `<p><a href="${escapeHtml(shopUrl)}" target="_top">${BACK_TO_SHOP[language]}</a></p></main>${script}</body></html>`
  );
}

/** Escapes text for HTML, including attributes in quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Browsers send fewer than 200 characters. */
const MAX_HEADER_LENGTH = 1_000;

/** The media ranges that include JSON, the least exact first. */
const JSON_RANGES = ['*/*', 'application/*', 'application/json'];

/**
 * Whether the client prefers a page to JSON: its `Accept` names `text/html`, as browsers do when they open a page or
 * post a form, and gives JSON no higher weight. `fetch`, axios and the like do not name HTML.
 */
export function prefersHtml(accept: string | undefined): boolean {
  let html = 0;
  let json = { exactness: -1, weight: 0 };
  for (const range of (accept ?? '').slice(0, MAX_HEADER_LENGTH).toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = weightOf(parameters);
    if (type === 'text/html') html = Math.max(html, weight);
    const exactness = JSON_RANGES.indexOf(type);
    if (exactness > json.exactness) json = { exactness, weight };
  }
  return html > 0 && html >= json.weight;
}

/** 1 if no weight is given; 0 if it cannot be read. */
function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given) ? Number(given.slice(2)) : 0;
}
