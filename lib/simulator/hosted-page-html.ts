import type { TestCard } from './magic.js';
import { displayAmount } from './money.js';
import { html, Html, languageNav, noticePage, page, postingPage, type PageLanguage } from './page-layout.js';

/** The texts of the gateway's own page. */
const PAGE_TEXTS = {
  tr: {
    title: 'Kartla ödeme',
    merchant: 'İşyeri',
    amount: 'Tutar',
    instalments: 'Taksit',
    single: 'Tek çekim',
    count: (count: number) => `${count} taksit`,
    cardNo: 'Kart numarası',
    expDate: 'Son kullanma (AA/YY)',
    cvv: 'Güvenlik kodu (CVV)',
    pay: 'Öde',
    cancel: 'İptal',
    wrong: 'Kart bilgilerini kontrol edin.',
    wrongFields: {
      cardNo: 'Kart numarası geçerli değil.',
      expDate: 'Ay ve yılı girin, örneğin 12/30.',
      cvv: '3 veya 4 rakam girin.',
      installmentCount: 'Listeden seçin.',
    },
    simulator: 'Simülatör',
    hint: 'Bu bir simülatördür, gerçek para çekilmez. Yalnızca deneme kartlarıyla ödenir:',
    paid: 'Ödemeniz alındı. İşyerine geri dönüyorsunuz.',
    goingBack: 'İşyerine geri dönüyorsunuz.',
    gone: 'Bu ödeme sayfası bulunamadı veya kapandı.',
    noAnswer: 'Banka yanıt vermedi. Bu sayfayı kapatabilirsiniz.',
  },
  en: {
    title: 'Pay by card',
    merchant: 'Merchant',
    amount: 'Amount',
    instalments: 'Instalments',
    single: 'Single payment',
    count: (count: number) => `${count} instalments`,
    cardNo: 'Card number',
    expDate: 'Expiry (MM/YY)',
    cvv: 'Security code (CVV)',
    pay: 'Pay',
    cancel: 'Cancel',
    wrong: 'Check the details of the card.',
    wrongFields: {
      cardNo: 'The card number is not valid.',
      expDate: 'Enter month and year, such as 12/30.',
      cvv: 'Enter 3 or 4 digits.',
      installmentCount: 'Choose from the list.',
    },
    simulator: 'Simulator',
    hint: 'This is a simulator, no real money moves. Only test cards can pay:',
    paid: 'Your payment was received. You are being taken back to the merchant.',
    goingBack: 'You are being taken back to the merchant.',
    gone: 'There is no such payment page, or it was closed.',
    noAnswer: 'The bank did not answer. You can close this page.',
  },
} as const;

type PageField = keyof (typeof PAGE_TEXTS)['tr']['wrongFields'];

/** What the gateway's page shows. It never shows what was typed. */
export interface HostedPageView {
  readonly session: string;
  readonly address: string;
  /** Where its form is posted to. */
  readonly action: string;
  readonly language: PageLanguage;
  readonly merchantName: string;
  readonly amount: string;
  readonly currencyCode: number;
  /** 0: none, or as the buyer chooses. */
  readonly installmentCount: number;
  /** The numbers of instalments to choose from; empty when there is no choice. */
  readonly choices: readonly number[];
  readonly testCards: readonly TestCard[];
  /** Why the page is shown again. */
  readonly wrongFields: readonly PageField[];
}

/** Where the buyer types the card. */
export function paymentPage(view: HostedPageView): string {
  return documentOf(view, view.wrongFields[0] ?? 'cardNo');
}

/** The same for a page or frame of the merchant. It takes the focus from nothing there. */
export function embeddedForm(view: HostedPageView): string {
  return documentOf(view, null);
}

/** The page that brings the result to the merchant. */
export function goingBackPage(
  language: PageLanguage,
  url: string,
  fields: Readonly<Record<string, string>>,
  isPaid: boolean,
): string {
  return postingPage(language, url, fields, PAGE_TEXTS[language][isPaid ? 'paid' : 'goingBack']);
}

export function messagePage(language: PageLanguage, message: 'gone' | 'noAnswer'): string {
  return noticePage(language, PAGE_TEXTS[language][message]);
}

function documentOf(view: HostedPageView, focus: PageField | null): string {
  const { language, installmentCount, choices } = view;
  const texts = PAGE_TEXTS[language];
  const problem = view.wrongFields.length > 0 ? texts.wrong : null;
  const field = (name: CardField) => cardField(name, view, name === focus);
  return page(
    language,
    problem === null ? texts.title : `${problem} · ${texts.title}`,
    html`<main class="card">
      <header>
        <div class="bank"><span class="logo" aria-hidden="true"></span>Demo Pay</div>
        ${languageNav(view.address, language)}
      </header>
      <p class="badge">${texts.simulator}</p>
      <h1>${texts.title}</h1>
      <dl>
        <dt>${texts.merchant}</dt>
        <dd>${view.merchantName}</dd>
        <dt>${texts.amount}</dt>
        <dd class="amount">${displayAmount(view.amount, view.currencyCode, language)}</dd>
        ${
          installmentCount > 1
            ? html`<dt>${texts.instalments}</dt>
                <dd>${installmentCount}</dd>`
            : null
        }
      </dl>
      <form id="simulator-card" method="post" action="${view.action}" target="_self">
        <input type="hidden" name="session" value="${view.session}" />
        <input type="hidden" name="lang" value="${language}" />
        ${problem === null ? null : html`<p class="error" role="alert">${problem}</p>`}
        <div class="fields">
          ${field('cardNo')}${field('expDate')}${field('cvv')}${choices.length > 0 ? instalments(view) : null}
        </div>
        <div class="buttons">
          <button name="action" value="pay" class="primary">${texts.pay}</button>
          <button name="action" value="cancel" formnovalidate>${texts.cancel}</button>
        </div>
      </form>
      <div class="hint">
        ${texts.hint}
        <ul>
          ${view.testCards.map(testCard)}
        </ul>
      </div>
    </main>`,
  );
}

type CardField = Exclude<PageField, 'installmentCount'>;

const FIELD_ATTRIBUTES: Readonly<Record<CardField, Html>> = {
  cardNo: new Html('autocomplete="cc-number" pattern="[0-9 ]{12,23}" maxlength="23"'),
  expDate: new Html('autocomplete="cc-exp" pattern="[0-9]{2} ?/? ?(20)?[0-9]{2}" maxlength="9"'),
  cvv: new Html('autocomplete="cc-csc" pattern="[0-9]{3,4}" maxlength="4"'),
};

function cardField(name: CardField, view: HostedPageView, isFocused: boolean): Html {
  return html`<div class="${name === 'cardNo' ? 'wide' : 'half'}">
    <label for="${name}">${PAGE_TEXTS[view.language][name]}</label>
    <input
      id="${name}"
      name="${name}"
      required
      inputmode="numeric"
      ${FIELD_ATTRIBUTES[name]}
      ${isFocused ? new Html('autofocus') : null}
      ${marksOf(name, view)}
    />
    ${complaint(name, view)}
  </div>`;
}

function instalments(view: HostedPageView): Html {
  const texts = PAGE_TEXTS[view.language];
  const options = view.choices.map(
    (count) => html`<option value="${count}">${count === 1 ? texts.single : texts.count(count)}</option>`,
  );
  return html`<div class="wide">
    <label for="installmentCount">${texts.instalments}</label>
    <select id="installmentCount" name="installmentCount" ${marksOf('installmentCount', view)}>
      ${options}
    </select>
    ${complaint('installmentCount', view)}
  </div>`;
}

function marksOf(name: PageField, view: HostedPageView): Html | null {
  return view.wrongFields.includes(name) ? new Html(`aria-invalid="true" aria-describedby="${name}-error"`) : null;
}

function complaint(name: PageField, view: HostedPageView): Html | null {
  if (!view.wrongFields.includes(name)) return null;
  return html`<p id="${name}-error" class="error">${PAGE_TEXTS[view.language].wrongFields[name]}</p>`;
}

function testCard({ cardNo, expDate, cvv }: TestCard): Html {
  const [month, year] = [expDate.slice(0, 2), expDate.slice(2)];
  return html`<li><code>${cardNo.replace(/(.{4})(?=.)/g, '$1 ')}</code> ${month}/${year} ${cvv}</li>`;
}
