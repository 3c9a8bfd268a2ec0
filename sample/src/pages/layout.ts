import { type Html, html } from '../html.js';
import { TEXTS } from '../texts/texts.js';
import { type Language, LANGUAGES } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly visitor: Visitor;
  readonly script?: string;
  /** Where the browser goes by itself, without a script. */
  readonly goesTo?: string;
}

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { tr: 'Türkçe', en: 'English' };

/** A whole page of the shop. */
export function layout({ title, body, visitor: { language, basketCount }, script, goesTo }: Page): string {
  const { nav, footer, shop } = TEXTS[language];
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Toprak</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/shop.css" />
        ${goesTo && html`<meta http-equiv="refresh" content="0; url=${goesTo}" />`}
        ${script && html`<script src="${script}" defer></script>`}
      </head>
      <body>
        <a class="skip" href="#content">${nav.skip}</a>
        <header class="top">
          <div class="wrap">
            <a class="brand" href="/">
              <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true">
                <path d="M4 13h24c0 10-5 15-12 15S4 23 4 13z" fill="currentColor" />
                <path
                  d="M10 9c-2-3 2-4 0-7M16 9c-2-3 2-4 0-7M22 9c-2-3 2-4 0-7"
                  fill="none"
                  stroke="currentColor"
                  stroke-width="1.8"
                  stroke-linecap="round"
                />
              </svg>
              <span>Toprak<small>${shop.tagline}</small></span>
            </a>
            <nav class="links" aria-label="${nav.pages}">
              <a href="/">${nav.shop}</a>
              <a href="/desk">${nav.desk}</a>
              <a href="/basket" class="basket-link">${nav.basket}${basketCount > 0 && html` <b>${basketCount}</b>`}</a>
            </nav>
            <nav class="languages" aria-label="${nav.language}">
              ${LANGUAGES.map((each) => languageLink(each, each === language))}
            </nav>
          </div>
        </header>
        <main id="content" class="wrap" tabindex="-1">${body}</main>
        <footer class="wrap">${footer}</footer>
      </body>
    </html>`.text;
}

function languageLink(language: Language, isCurrent: boolean): Html {
  return html`<a
    href="?lang=${language}"
    lang="${language}"
    title="${LANGUAGE_NAMES[language]}"
    ${isCurrent && html`aria-current="true"`}
    >${language.toUpperCase()}</a
  >`;
}
