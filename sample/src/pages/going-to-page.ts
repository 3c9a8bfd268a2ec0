import { html } from '../html.js';
import { TEXTS } from '../texts/texts.js';
import type { Visitor } from '../visitor/visitor.js';
import { layout } from './layout.js';

/**
 * Takes the buyer to the gateway's own payment page, without a script. Chromium would block a redirect: it applies the
 * `form-action` of the page with the button to redirects, too. That page has a card form, so it allows the shop alone.
 */
export function goingToPage(url: string, visitor: Visitor): string {
  const { order } = TEXTS[visitor.language];
  const { title, text } = order.goingToPage;
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p class="go-on"><a class="button primary" href="${url}">${order.continueAtPage}</a></p>`;
  return layout({ title, body, visitor, goesTo: url });
}
