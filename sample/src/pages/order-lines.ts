import { type Html, html } from '../html.js';
import { displayKurus } from '../money.js';
import type { Order } from '../orders/order.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';

/** What is in an order, and its total. */
export function orderLines({ lines, totalKurus }: Order, language: Language): Html {
  return html`<table class="sum">
    <tbody>
      ${lines.map(
        ({ name, quantity, kurus }) =>
          html`<tr>
            <th scope="row">${quantity} × ${name[language]}</th>
            <td>${displayKurus(kurus, language)}</td>
          </tr>`,
      )}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">${TEXTS[language].basket.total}</th>
        <td>${displayKurus(totalKurus, language)}</td>
      </tr>
    </tfoot>
  </table>`;
}
