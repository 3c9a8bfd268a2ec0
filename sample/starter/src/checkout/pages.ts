import { createHash } from 'node:crypto';
import { applyDecorators, Header } from '@nestjs/common';
import { escapeHtml } from 'nestjs-card-payment';
import { LANGUAGE, TEXTS } from './texts.js';

/** Where these pages are, with the application's global prefix. */
export const CHECKOUT = '/checkout';

const STYLE = `
  body {
    max-width: 26rem;
    margin: 2rem auto;
    padding: 0 1rem;
    font: 1rem/1.5 system-ui, sans-serif;
  }
  label, input, button {
    display: block;
    box-sizing: border-box;
    width: 100%;
    font: inherit;
  }
  input, button { padding: 0.6rem; border: 1px solid #767676; }
  button { border: 0; background: #14532d; color: #fff; cursor: pointer; }
  strong { color: #b00020; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** One style; no script or frame; and forms go to this shop only. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const ShopPage = () =>
  applyDecorators(
    Header('Content-Type', 'text/html; charset=utf-8'),
    Header('Cache-Control', 'no-store'),
    Header('Content-Security-Policy', POLICY),
  );

const page = (title: string, content: string): string => `<!doctype html>
<html lang="${LANGUAGE}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
<h1>${title}</h1>
${content}
</html>`;

export function shopPage(price: string): string {
  const order = TEXTS.placeOrder(TEXTS.amount(price));
  return page(
    TEXTS.shop,
    `<form method="post" action="${CHECKOUT}"><button>${order}</button></form>`,
  );
}

type Field = keyof typeof TEXTS.fields;
const ATTRIBUTES: Readonly<Record<Field, string>> = {
  'cardDetails.cardNo': 'autocomplete="cc-number" inputmode="numeric"',
  'cardDetails.expDate': 'autocomplete="cc-exp"',
  'cardDetails.cvv': 'autocomplete="cc-csc" inputmode="numeric"',
  'cardHolderInfo.cardHolderName': 'autocomplete="cc-name"',
  'cardHolderInfo.buyerGsm': 'autocomplete="tel" inputmode="tel"',
};
const FIELDS = Object.keys(ATTRIBUTES) as Field[];

export const isOnForm = (path: string): boolean =>
  FIELDS.some((name) => name === path);

/**
 * People type the card into the wrong field: what is a name or a phone number
 * is shown again.
 */
const SHOWN_AGAIN = /^(?:(?:\P{N}*\p{N}){0,2}\P{N}*|\+?\d(?: ?\d){6,12})$/u;

export function cardForm(
  total: string,
  messages: Readonly<Record<string, string>> = {},
  typed: Readonly<Record<string, unknown>> = {},
): string {
  const again = (name: Field): string => {
    const text = typed[name];
    const isHolder = name.startsWith('cardHolderInfo.');
    return isHolder && typeof text === 'string' && SHOWN_AGAIN.test(text)
      ? text
      : '';
  };
  const fields = FIELDS.map(
    (name) => `
  <p><label>${TEXTS.fields[name]}
    <input name="${name}" value="${escapeHtml(again(name))}"
      ${ATTRIBUTES[name]} required></label>
    <strong>${escapeHtml(messages[name] ?? '')}</strong>`,
  );
  return page(
    TEXTS.payment,
    `<form method="post" autocomplete="on">
  <p>${TEXTS.amount(total)}${fields.join('')}
  <p><button>${TEXTS.pay}</button>
</form>`,
  );
}

export function orderPage(
  id: string,
  state: keyof typeof TEXTS.states,
): string {
  const link =
    state === 'not paid'
      ? ` <a href="${CHECKOUT}/${id}/pay">${TEXTS.pay}</a>`
      : '';
  return page(TEXTS.order, `<p>${TEXTS.states[state]}${link}</p>`);
}
