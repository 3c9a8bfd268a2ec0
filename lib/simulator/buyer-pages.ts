import { Html, html } from '../runtime/html.js';
import { languageNav, languageOf, noticePage, page, type PageLanguage, postingPage } from './page-layout.js';
import type { SimulatorSettings } from './simulator-options.js';
import { currentTestCards, INSTALMENT_COUNTS, SMS_CODE, type TestCard } from './test-data.js';
import { addressOf, FORM_PATH, isAtBank, type Visit } from './visits.js';
import { displayAmount, replyDate } from './wire-values.js';

/** The texts of the bank's pages and of the gateway's own, in Turkish and in English. */
const TEXTS = {
  simulator: ['Simülatör', 'Simulator'],
  merchant: ['İşyeri', 'Merchant'],
  amount: ['Tutar', 'Amount'],
  instalments: ['Taksit', 'Instalments'],
  cancel: ['İptal', 'Cancel'],
  goingBack: ['İşyerine geri dönüyorsunuz.', 'You are being taken back to the merchant.'],

  verification: ['3D Secure Doğrulama', '3D Secure verification'],
  typeCode: [
    'Ödemenizi onaylamak için telefonunuza gönderilen tek kullanımlık şifreyi girin.',
    'To approve your payment, enter the one-time password that was sent to your phone.',
  ],
  card: ['Kart', 'Card'],
  date: ['Tarih', 'Date'],
  code: ['SMS şifresi', 'SMS code'],
  confirm: ['Onayla', 'Confirm'],
  wrongCode: ['Şifre hatalı. Kalan deneme hakkınız: {}.', 'Wrong code. Tries left: {}.'],
  codeHint: [
    'Bu bir simülatördür, gerçek para çekilmez. SMS şifresi:',
    'This is a simulator, no real money moves. SMS code:',
  ],
  goingToBank: [
    'Bankanızın doğrulama sayfasına yönlendiriliyorsunuz.',
    'You are being taken to the verification page of your bank.',
  ],
  noVerification: ['Bu doğrulama bulunamadı veya süresi doldu.', 'There is no such verification, or it has expired.'],
  verified: [
    'Doğrulama tamamlandı. Bu sayfayı kapatabilirsiniz.',
    'Verification is complete. You can close this page.',
  ],

  payByCard: ['Kartla ödeme', 'Pay by card'],
  single: ['Tek çekim', 'Single payment'],
  count: ['{} taksit', '{} instalments'],
  cardNo: ['Kart numarası', 'Card number'],
  expDate: ['Son kullanma (AA/YY)', 'Expiry (MM/YY)'],
  cvv: ['Güvenlik kodu (CVV)', 'Security code (CVV)'],
  pay: ['Öde', 'Pay'],
  wrong: ['Kart bilgilerini kontrol edin.', 'Check the details of the card.'],
  wrongCardNo: ['Kart numarası geçerli değil.', 'The card number is not valid.'],
  wrongExpDate: ['Ay ve yılı girin, örneğin 12/30.', 'Enter month and year, such as 12/30.'],
  wrongCvv: ['3 veya 4 rakam girin.', 'Enter 3 or 4 digits.'],
  wrongInstallmentCount: ['Listeden seçin.', 'Choose from the list.'],
  cardHint: [
    'Bu bir simülatördür, gerçek para çekilmez. Yalnızca deneme kartlarıyla ödenir:',
    'This is a simulator, no real money moves. Only test cards can pay:',
  ],
  paid: [
    'Ödemeniz alındı. İşyerine geri dönüyorsunuz.',
    'Your payment was received. You are being taken back to the merchant.',
  ],
  noPage: ['Bu ödeme sayfası bulunamadı veya kapandı.', 'There is no such payment page, or it was closed.'],
  noAnswer: ['Banka yanıt vermedi. Bu sayfayı kapatabilirsiniz.', 'The bank did not answer. You can close this page.'],
} as const satisfies Readonly<Record<string, readonly [tr: string, en: string]>>;

type TextName = keyof typeof TEXTS;

function textIn(language: PageLanguage, name: TextName, count?: number): string {
  const [tr, en] = TEXTS[name];
  return (language === 'tr' ? tr : en).replace('{}', String(count));
}

/** A page with one sentence. */
export function messagePage(
  language: PageLanguage,
  message: 'noVerification' | 'verified' | 'noPage' | 'noAnswer',
): string {
  return noticePage(language, textIn(language, message));
}

/** The page of Init3d's reply: it posts itself to the bank. */
export function bankPageForm(action: string, saleLanguage: string): string {
  const language = languageOf(saleLanguage);
  return postingPage(language, action, { lang: language }, textIn(language, 'goingToBank'));
}

/** The page that brings a result to the merchant: it posts itself to the merchant's URL. */
export function goingBackPage(
  language: PageLanguage,
  { url, fields }: { readonly url: string; readonly fields: Readonly<Record<string, string>> },
  message: 'goingBack' | 'paid' = 'goingBack',
): string {
  return postingPage(language, url, fields, textIn(language, message));
}

const FIELD_ERRORS = {
  cardNo: 'wrongCardNo',
  expDate: 'wrongExpDate',
  cvv: 'wrongCvv',
  installmentCount: 'wrongInstallmentCount',
} as const satisfies Readonly<Record<string, TextName>>;

type PageField = keyof typeof FIELD_ERRORS;
type CardField = Exclude<PageField, 'installmentCount'>;

/** A page with a form. It never shows what was typed. */
export interface FormView {
  readonly visit: Visit;
  readonly settings: SimulatorSettings;
  readonly language: PageLanguage;
  /** Why the page is shown again. */
  readonly wrongFields: readonly ('code' | PageField)[];
  /** Whether it is in a page or frame of the merchant, from which it takes no focus. */
  readonly isEmbedded?: boolean;
}

/** The form that is embedded into a page of the merchant. */
export function embeddedForm(visit: Visit, settings: SimulatorSettings): string {
  const language = languageOf(visit.request.language);
  return formPage({ visit, settings, language, wrongFields: [], isEmbedded: true });
}

/** Where the buyer types the SMS code, or the card. */
export function formPage(view: FormView): string {
  const { visit, settings, language } = view;
  const { amount, currencyCode, installmentCount: count, operation } = visit.request;
  const text = (name: TextName) => textIn(language, name);
  const fact = (name: string, value: string) =>
    html`<dt>${name}</dt>
      <dd>${value}</dd>`;
  const { bank, title, problem, intro, facts, form, hint } = isAtBank(visit) ? verification(view) : payment(view);
  const address = addressOf(visit, settings);
  const action = operation === 'embeddedForm' ? settings.publicUrl + FORM_PATH : address;
  return page(
    language,
    problem === null ? title : `${problem} · ${title}`,
    html`<main class="card">
      <header>
        <div class="bank"><span class="logo" aria-hidden="true"></span>${bank}</div>
        ${languageNav(address, language)}
      </header>
      <p class="badge">${text('simulator')}</p>
      <h1>${title}</h1>
      ${intro}
      <dl>
        ${fact(text('merchant'), settings.merchantName)}
        <dt>${text('amount')}</dt>
        <dd class="amount">${displayAmount(amount, currencyCode, language)}</dd>
        ${count > 1 ? fact(text('instalments'), String(count)) : null}
        ${facts.map(([name, value]) => fact(name, value))}
      </dl>
      <form method="post" action="${action}" target="_self">
        <input type="hidden" name="lang" value="${language}" />
        ${form}
      </form>
      <div class="hint">${hint}</div>
    </main>`,
  );
}

/** What differs between the pages with a form. */
interface FormParts {
  readonly bank: string;
  readonly title: string;
  /** What was wrong with what was typed. */
  readonly problem: string | null;
  readonly intro: Html | null;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly form: Html;
  readonly hint: Html;
}

/** The bank's page. */
function verification({ visit, settings, language, wrongFields }: FormView): FormParts {
  const text = (name: TextName) => textIn(language, name);
  const problem = wrongFields.length > 0 ? textIn(language, 'wrongCode', visit.triesLeft) : null;
  return {
    bank: 'Demo Bank',
    title: text('verification'),
    problem,
    intro: html`<p>${text('typeCode')}</p>`,
    facts: [
      [text('card'), inGroups(visit.request.maskedCardNumber)],
      [text('date'), replyDate(settings.clock())],
    ],
    form: html`<label for="code">${text('code')}</label>
      <input
        id="code"
        name="code"
        inputmode="numeric"
        autocomplete="one-time-code"
        maxlength="6"
        autofocus
        ${problem === null ? null : new Html('aria-invalid="true" aria-describedby="error"')}
      />
      ${problem === null ? null : html`<p id="error" class="error" role="alert">${problem}</p>`}
      <div class="buttons">
        <button name="action" value="confirm" class="primary">${text('confirm')}</button>
        <button name="action" value="cancel">${text('cancel')}</button>
      </div>`,
    hint: html`${text('codeHint')} <code>${SMS_CODE}</code>`,
  };
}

/** The gateway's own page. */
function payment(view: FormView): FormParts {
  const { visit, settings, language, wrongFields, isEmbedded } = view;
  const text = (name: TextName) => textIn(language, name);
  const problem = wrongFields.length > 0 ? text('wrong') : null;
  const focus = isEmbedded ? null : (wrongFields[0] ?? 'cardNo');
  const field = (name: CardField) => cardField(name, view, name === focus);
  return {
    bank: 'Demo Pay',
    title: text('payByCard'),
    problem,
    intro: null,
    facts: [],
    form: html`<input type="hidden" name="session" value="${visit.id}" />
      ${problem === null ? null : html`<p class="error" role="alert">${problem}</p>`}
      <div class="fields">
        ${field('cardNo')}${field('expDate')}${field('cvv')}
        ${visit.request.installmentCount === 0 ? instalments(view) : null}
      </div>
      <div class="buttons">
        <button name="action" value="pay" class="primary">${text('pay')}</button>
        <button name="action" value="cancel" formnovalidate>${text('cancel')}</button>
      </div>`,
    hint: html`${text('cardHint')}
      <ul>
        ${currentTestCards(settings.clock()).map(testCard)}
      </ul>`,
  };
}

const FIELD_ATTRIBUTES: Readonly<Record<CardField, Html>> = {
  cardNo: new Html('autocomplete="cc-number" pattern="[0-9 ]{12,23}" maxlength="23"'),
  expDate: new Html('autocomplete="cc-exp" pattern="[0-9]{2} ?/? ?(20)?[0-9]{2}" maxlength="9"'),
  cvv: new Html('autocomplete="cc-csc" pattern="[0-9]{3,4}" maxlength="4"'),
};

function cardField(name: CardField, view: FormView, isFocused: boolean): Html {
  return html`<div class="${name === 'cardNo' ? 'wide' : 'half'}">
    <label for="${name}">${textIn(view.language, name)}</label>
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

function instalments(view: FormView): Html {
  const { language } = view;
  const options = INSTALMENT_COUNTS.map((count) => {
    const label = count === 1 ? textIn(language, 'single') : textIn(language, 'count', count);
    return html`<option value="${count}">${label}</option>`;
  });
  return html`<div class="wide">
    <label for="installmentCount">${textIn(language, 'instalments')}</label>
    <select id="installmentCount" name="installmentCount" ${marksOf('installmentCount', view)}>
      ${options}
    </select>
    ${complaint('installmentCount', view)}
  </div>`;
}

function marksOf(name: PageField, view: FormView): Html | null {
  return view.wrongFields.includes(name) ? new Html(`aria-invalid="true" aria-describedby="${name}-error"`) : null;
}

function complaint(name: PageField, view: FormView): Html | null {
  if (!view.wrongFields.includes(name)) return null;
  return html`<p id="${name}-error" class="error">${textIn(view.language, FIELD_ERRORS[name])}</p>`;
}

function testCard({ cardNo, expDate, cvv }: TestCard): Html {
  return html`<li><code>${inGroups(cardNo)}</code> ${expDate.slice(0, 2)}/${expDate.slice(2)} ${cvv}</li>`;
}

function inGroups(cardNo: string): string {
  return cardNo.replace(/(.{4})(?=.)/g, '$1 ');
}
