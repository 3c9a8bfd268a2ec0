import { type BasketLine, MAX_QUANTITY, totalOf } from '../basket/basket.js';
import { type Html, html } from '../html.js';
import { displayKurus } from '../money.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import { layout } from './layout.js';

export function basketPage(lines: readonly BasketLine[], visitor: Visitor): string {
  const { language } = visitor;
  const { basket } = TEXTS[language];
  const count = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  const body = html`<h1>${basket.title}</h1>
    ${lines.length === 0 ? empty(language) : filled(lines, language)}`;
  return layout({ title: basket.titleOf(count), body, visitor, script: '/assets/basket.js' });
}

function empty(language: Language): Html {
  const { basket } = TEXTS[language];
  return html`<p>${basket.empty}</p>
    <p><a class="button" href="/">${basket.goShopping}</a></p>`;
}

function filled(lines: readonly BasketLine[], language: Language): Html {
  const { basket } = TEXTS[language];
  return html`<div class="split">
    <ul class="panel lines">
      ${lines.map((line) => row(line, language))}
    </ul>
    <div class="panel">
      <p class="total" role="status">
        <span>${basket.total}</span> <strong>${displayKurus(totalOf(lines), language)}</strong>
      </p>
      <p class="hint">${basket.vat}</p>
      <form method="post" action="/orders"><button class="primary wide">${basket.checkout}</button></form>
    </div>
  </div>`;
}

function row({ product, quantity }: BasketLine, language: Language): Html {
  const { basket } = TEXTS[language];
  const name = product.name[language];
  const choices = Array.from({ length: MAX_QUANTITY }, (_, index) => index + 1);
  return html`<li>
    ${product.picture}
    <div class="about">
      <h2>${name}</h2>
      <p>${product.detail[language]}</p>
    </div>
    <form method="post" action="/basket/quantity" class="quantity">
      <input type="hidden" name="product" value="${product.id}" />
      <select name="quantity" aria-label="${basket.quantityOf(name)}" data-submits>
        ${choices.map((count) => html`<option ${count === quantity && html`selected`}>${count}</option>`)}
      </select>
      <button class="quiet">${basket.update}</button>
    </form>
    <form method="post" action="/basket/quantity">
      <input type="hidden" name="product" value="${product.id}" />
      <button class="quiet" name="quantity" value="0" aria-label="${basket.removeOf(name)}">${basket.remove}</button>
    </form>
    <strong class="price">${displayKurus(product.kurus * quantity, language)}</strong>
  </li>`;
}
