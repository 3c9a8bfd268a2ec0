import type { Product } from '../catalogue/product.js';
import { type Html, html } from '../html.js';
import { displayKurus } from '../money.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import { layout } from './layout.js';

export function shopPage(
  { products, postcards }: { products: readonly Product[]; postcards: readonly Product[] },
  visitor: Visitor,
): string {
  const { language } = visitor;
  const { shop } = TEXTS[language];
  const body = html`<div class="hero">
      <h1>${shop.heroTitle}</h1>
      <p>${shop.heroText}</p>
    </div>
    <ul class="products">
      ${products.map((product) => card(product, 'h2', language))}
    </ul>
    ${
      postcards.length > 0 &&
      html`<section class="postcards" aria-labelledby="postcards">
        <h2 id="postcards">${shop.postcards}</h2>
        <p>${shop.postcardsText}</p>
        <ul class="products small">
          ${postcards.map((product) => card(product, 'h3', language))}
        </ul>
      </section>`
    }`;
  return layout({ title: shop.tagline, body, visitor });
}

function card({ id, name, detail, kurus, picture }: Product, level: 'h2' | 'h3', language: Language): Html {
  const { shop } = TEXTS[language];
  const heading = level === 'h2' ? html`<h2>${name[language]}</h2>` : html`<h3>${name[language]}</h3>`;
  return html`<li class="product">
    ${picture}
    <div class="about">
      ${heading}
      <p>${detail[language]}</p>
    </div>
    <form method="post" action="/basket/add">
      <input type="hidden" name="product" value="${id}" />
      <span class="price">${displayKurus(kurus, language)}</span>
      <button aria-label="${shop.addOf(name[language])}">${shop.add}</button>
    </form>
  </li>`;
}
