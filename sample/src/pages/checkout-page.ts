import type { CardOffer } from '../checkout/card-offer.js';
import type { CheckoutField, CheckoutValues } from '../checkout/checkout-form.js';
import type { DemoGateway } from '../demo/demo-gateway.js';
import { type Html, html } from '../html.js';
import { displayKurus } from '../money.js';
import type { Order } from '../orders/order.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import { cardText, choicesOf } from './card-choices.js';
import { layout } from './layout.js';
import { orderLines } from './order-lines.js';

export interface Checkout {
  readonly order: Order;
  readonly visitor: Visitor;
  readonly values: CheckoutValues;
  /** What is wrong with the fields that were refused. */
  readonly wrong?: ReadonlyMap<CheckoutField, string>;
  /** What the card can do, once its first digits are known. */
  readonly offer?: CardOffer | null;
  readonly demo: DemoGateway;
}

/** In the order of the page. */
const FIELDS: readonly CheckoutField[] = ['phone', 'holder', 'number', 'expiry', 'cvv', 'instalments'];

export function checkoutPage({ order, visitor, values, wrong = new Map(), offer = null, demo }: Checkout): string {
  const { language } = visitor;
  const { checkout, order: orderTexts } = TEXTS[language];
  const input = (field: CheckoutField, label: string, attributes: Html, hint?: string): Html =>
    labelled(field, label, attributes, wrong.get(field), hint);

  const body = html`<h1>${checkout.title}</h1>
    ${wrong.size > 0 && problems(wrong, language)}
    <div class="split">
      <div>
        ${paymentPage(order, language)} ${lookUp(order, language)}
        <form
          class="panel checkout"
          method="post"
          action="/orders/${order.id}/pay"
          data-checkout
          data-choices="/orders/${order.id}/card/choices"
          data-hint="${checkout.cardHint}"
          data-failed="${checkout.lookUpFailed}"
        >
          <h2>${checkout.here}</h2>
          <fieldset>
            <legend>${checkout.buyer}</legend>
            ${input('phone', checkout.phone, html`type="tel" autocomplete="tel" inputmode="tel" maxlength="24" required value="${values.phone}"`)}
          </fieldset>
          <fieldset>
            <legend>${checkout.card}</legend>
            ${input('holder', checkout.holder, html`autocomplete="cc-name" autocapitalize="characters" maxlength="100" required value="${values.holder}"`)}
            ${input('number', checkout.number, html`autocomplete="cc-number" inputmode="numeric" maxlength="23" required spellcheck="false"`)}
            <div class="pair">
              ${input('expiry', checkout.expiry, html`autocomplete="cc-exp" inputmode="numeric" maxlength="9" required`, checkout.expiryHint)}
              ${input('cvv', checkout.cvv, html`autocomplete="cc-csc" inputmode="numeric" maxlength="4" required spellcheck="false"`, checkout.cvvHint)}
            </div>
            ${instalments(order, values, offer, wrong.get('instalments'), language)}
          </fieldset>
          ${demo.isOn && methods(values, language)}
          <button class="primary wide" data-busy="${checkout.paying}">
            ${checkout.pay(displayKurus(order.totalKurus, language))}
          </button>
          <p class="hint lock">${checkout.secure}</p>
        </form>
      </div>
      <div>
        <section class="panel">
          <h2>${orderTexts.summary}</h2>
          <p class="hint">${order.id}</p>
          ${orderLines(order, language)}
        </section>
        ${demo.isOn && testCards(demo, language)}
      </div>
    </div>`;
  const title = `${checkout.title} · ${orderTexts.title} ${order.id}`;
  return layout({
    title: wrong.size > 0 ? `${checkout.problems} · ${title}` : title,
    body,
    visitor,
    script: '/assets/checkout.js',
  });
}

/** The other way to pay: the buyer types the card at the gateway's own page. */
function paymentPage({ id }: Order, language: Language): Html {
  const { checkout } = TEXTS[language];
  return html`<form class="panel elsewhere" method="post" action="/orders/${id}/payment-page">
    <p>${checkout.atPageText}</p>
    <button data-busy="${checkout.paying}">${checkout.atPage}</button>
  </form>`;
}

/** `autofocus` works without scripts, too, so that screen readers read this first. */
function problems(wrong: ReadonlyMap<CheckoutField, string>, language: Language): Html {
  const { checkout } = TEXTS[language];
  return html`<div class="notice bad" tabindex="-1" autofocus aria-labelledby="problems">
    <div role="alert">
      <h2 id="problems">${checkout.problems}</h2>
      <p>${checkout.wrongTitle}</p>
      <ul>
        ${FIELDS.filter((field) => wrong.has(field)).map(
          (field) => html`<li><a href="#${field}">${wrong.get(field)}</a></li>`,
        )}
      </ul>
    </div>
  </div>`;
}

function labelled(field: CheckoutField, label: string, attributes: Html, problem?: string, hint?: string): Html {
  return html`<div class="field">
    <label for="${field}">${label} ${hint && html`<span class="hint">${hint}</span>`}</label>
    <input
      id="${field}"
      name="${field}"
      ${attributes}
      ${problem && html`aria-invalid="true" aria-describedby="${field}-problem"`}
    />
    ${problem && html`<p class="problem" id="${field}-problem">${problem}</p>`}
  </div>`;
}

/** The script asks as the buyer types. Without it, the buyer asks here first. */
function lookUp({ id }: Order, language: Language): Html {
  const { checkout } = TEXTS[language];
  return html`<noscript>
    <form class="panel look-up" method="post" action="/orders/${id}/card">
      <h2>${checkout.lookUpTitle}</h2>
      <p>${checkout.lookUpText}</p>
      <div class="field">
        <label for="bin">${checkout.lookUpDigits}</label>
        <input id="bin" name="bin" inputmode="numeric" autocomplete="off" pattern="[0-9]{6,8}" maxlength="8" required />
      </div>
      <button>${checkout.lookUp}</button>
    </form>
  </noscript>`;
}

function instalments(
  order: Order,
  values: CheckoutValues,
  offer: CardOffer | null,
  problem: string | undefined,
  language: Language,
): Html {
  const { checkout } = TEXTS[language];
  return html`<div class="field">
    <label for="instalments">${checkout.instalments}</label>
    <select
      id="instalments"
      name="instalments"
      aria-describedby="card-told${problem && ' instalments-problem'}"
      ${problem && html`aria-invalid="true"`}
    >
      ${choicesOf(order, offer, language).map(
        ({ count, text, pay, fee }) =>
          html`<option
            value="${count}"
            data-pay="${pay}"
            data-fee="${fee}"
            ${count === values.instalments && html`selected`}
          >
            ${text}
          </option>`,
      )}
    </select>
    ${problem && html`<p class="problem" id="instalments-problem">${problem}</p>`}
    <p class="hint told" id="card-told" role="status">
      <span data-card>${cardText(offer, language)}</span> <span data-fee-told></span>
    </p>
  </div>`;
}

/** Only with the simulated gateway; with a real one every payment goes through 3D Secure. */
function methods({ is3d }: CheckoutValues, language: Language): Html {
  const { checkout } = TEXTS[language];
  return html`<fieldset class="methods">
    <legend>${checkout.method}</legend>
    ${method('3d', checkout.method3d, checkout.method3dText, is3d)}
    ${method('direct', checkout.methodDirect, checkout.methodDirectText, !is3d)}
  </fieldset>`;
}

function method(value: string, title: string, text: string, isChosen: boolean): Html {
  return html`<label class="method">
    <input type="radio" name="method" value="${value}" ${isChosen && html`checked`} />
    <span><strong>${title}</strong> <small>${text}</small></span>
  </label>`;
}

function testCards({ testCards: cards, smsCode }: DemoGateway, language: Language): Html {
  const { checkout } = TEXTS[language];
  return html`<section class="panel demo">
    <h2>${checkout.demoTitle}</h2>
    <p>${checkout.demoText}</p>
    <ul>
      ${cards.map(({ cardNo, expDate, cvv }) => {
        const number = cardNo.replace(/(.{4})(?=.)/g, '$1 ');
        const expiry = `${expDate.slice(0, 2)}/${expDate.slice(2)}`;
        return html`<li>
          <button type="button" data-number="${number}" data-expiry="${expiry}" data-cvv="${cvv}">
            <code>${number}</code> <code>${expiry}</code> <code>${cvv}</code>
            <span class="unseen">${checkout.demoFill}</span>
          </button>
        </li>`;
      })}
    </ul>
    <p>${checkout.demoSms} <code>${smsCode}</code></p>
  </section>`;
}
