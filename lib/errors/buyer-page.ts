import { createHash } from 'node:crypto';
import type { TextLanguage } from '../payment/text-language.js';
import { BACK_TO_SHOP, type PageText } from './buyer-texts.js';

const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;color:#1c2733}' +
  'h1{font-size:1.6rem}a{color:#0b5cad}' +
  '@media(prefers-color-scheme:dark){body{background:#12181f;color:#e6ebf0}a{color:#8cc2ff}}';

/**
 * The headers of {@link buyerPage}: nothing is loaded, run or kept.
 *
 * @param ancestors who may show the page in a frame
 */
export function buyerPageHeaders(ancestors: "'none'" | "'self'"): Readonly<Record<string, string>> {
  const style = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
  return Object.freeze({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src ${style}; form-action 'none'; base-uri 'none'; frame-ancestors ${ancestors}`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
}

/**
 * The plain page that results and errors are shown on. Nothing of what was received stands in it.
 *
 * @param shopUrl where its link leads; out of a frame that the bank may have been shown in
 */
export function buyerPage({ title, text }: PageText, language: TextLanguage, shopUrl: string): string {
  return (
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>` +
    `<style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>` +
    `<p><a href="${escapeHtml(shopUrl)}" target="_top">${BACK_TO_SHOP[language]}</a></p></main></body></html>`
  );
}

/** Text as it may stand in HTML, also inside quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
