import { replyDate } from './dates.js';
import { SMS_CODE } from './magic.js';
import { displayAmount } from './money.js';

export type BankLanguage = 'tr' | 'en';

/** The texts of the bank's pages. */
const BANK_TEXTS = {
  tr: {
    title: '3D Secure Doğrulama',
    intro: 'Ödemenizi onaylamak için telefonunuza gönderilen tek kullanımlık şifreyi girin.',
    merchant: 'İşyeri',
    amount: 'Tutar',
    instalments: 'Taksit',
    card: 'Kart',
    date: 'Tarih',
    code: 'SMS şifresi',
    confirm: 'Onayla',
    cancel: 'İptal',
    wrong: (left: number) => `Şifre hatalı. Kalan deneme hakkınız: ${left}.`,
    simulator: 'Simülatör',
    hint: 'Bu bir simülatördür, gerçek para çekilmez. SMS şifresi:',
    goingToBank: 'Bankanızın doğrulama sayfasına yönlendiriliyorsunuz.',
    goingBack: 'İşyerine geri dönüyorsunuz.',
    goOn: 'Devam et',
    gone: 'Bu doğrulama bulunamadı veya süresi doldu.',
    done: 'Doğrulama tamamlandı. Bu sayfayı kapatabilirsiniz.',
  },
  en: {
    title: '3D Secure verification',
    intro: 'To approve your payment, enter the one-time password that was sent to your phone.',
    merchant: 'Merchant',
    amount: 'Amount',
    instalments: 'Instalments',
    card: 'Card',
    date: 'Date',
    code: 'SMS code',
    confirm: 'Confirm',
    cancel: 'Cancel',
    wrong: (left: number) => `Wrong code. Tries left: ${left}.`,
    simulator: 'Simulator',
    hint: 'This is a simulator, no real money moves. SMS code:',
    goingToBank: 'You are being taken to the verification page of your bank.',
    goingBack: 'You are being taken back to the merchant.',
    goOn: 'Continue',
    gone: 'There is no such verification, or it has expired.',
    done: 'Verification is complete. You can close this page.',
  },
} as const;

/** The parts of a payment that the bank shows. */
export interface BankPageView {
  /** The address of the page, to which its forms are posted. */
  readonly action: string;
  readonly language: BankLanguage;
  readonly merchantName: string;
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
  readonly maskedCardNumber: string;
  readonly at: Date;
  readonly triesLeft: number;
  readonly wrongCode: boolean;
}

export function languageOf(text: string | null | undefined): BankLanguage {
  return text === 'en' ? 'en' : 'tr';
}

/** The page of Init3d's reply: it posts itself to the bank. */
export function bankPageForm(action: string, saleLanguage: string): string {
  const language = languageOf(saleLanguage);
  return postingPage(language, action, { lang: language }, BANK_TEXTS[language].goingToBank);
}

/** The page that brings the bank's result to the merchant: it posts itself to the merchant's URL. */
export function callbackPage(language: BankLanguage, url: string, fields: Readonly<Record<string, string>>): string {
  return postingPage(language, url, fields, BANK_TEXTS[language].goingBack);
}

export function messagePage(language: BankLanguage, message: 'gone' | 'done'): string {
  return page(
    language,
    BANK_TEXTS[language][message],
    html`<main class="card"><h1 class="message">${BANK_TEXTS[language][message]}</h1></main>`,
  );
}

/** Where the buyer types the SMS code. */
export function verificationPage(view: BankPageView): string {
  const texts = BANK_TEXTS[view.language];
  const { language } = view;
  return page(
    language,
    view.wrongCode ? `${texts.wrong(view.triesLeft)} · ${texts.title}` : texts.title,
    html`<main class="card">
      <header>
        <div class="bank"><span class="logo" aria-hidden="true"></span>Demo Bank</div>
        <nav>${languageLink('tr', view)}${languageLink('en', view)}</nav>
      </header>
      <p class="badge">${texts.simulator}</p>
      <h1>${texts.title}</h1>
      <p>${texts.intro}</p>
      <dl>
        <dt>${texts.merchant}</dt>
        <dd>${view.merchantName}</dd>
        <dt>${texts.amount}</dt>
        <dd class="amount">${displayAmount(view.amount, view.currencyCode, language)}</dd>
        ${
          view.installmentCount > 1
            ? html`<dt>${texts.instalments}</dt>
                <dd>${view.installmentCount}</dd>`
            : null
        }
        <dt>${texts.card}</dt>
        <dd>${view.maskedCardNumber.replace(/(.{4})(?=.)/g, '$1 ')}</dd>
        <dt>${texts.date}</dt>
        <dd>${replyDate(view.at)}</dd>
      </dl>
      <form method="post" action="${view.action}">
        <input type="hidden" name="lang" value="${language}" />
        <label for="code">${texts.code}</label>
        <input
          id="code"
          name="code"
          inputmode="numeric"
          autocomplete="one-time-code"
          maxlength="6"
          autofocus
          ${view.wrongCode ? new Html('aria-invalid="true" aria-describedby="error"') : null}
        />
        ${view.wrongCode ? html`<p id="error" class="error" role="alert">${texts.wrong(view.triesLeft)}</p>` : null}
        <div class="buttons">
          <button name="action" value="confirm" class="primary">${texts.confirm}</button>
          <button name="action" value="cancel">${texts.cancel}</button>
        </div>
      </form>
      <p class="hint">${texts.hint} <code>${SMS_CODE}</code></p>
    </main>`,
  );
}

function languageLink(language: BankLanguage, view: BankPageView): Html {
  const current = language === view.language ? new Html(' aria-current="true"') : null;
  return html`<a href="${view.action}?lang=${language}" lang="${language}" ${current}>${language.toUpperCase()}</a>`;
}

/** A form that submits itself, and a button for browsers without scripts. */
function postingPage(
  language: BankLanguage,
  action: string,
  fields: Readonly<Record<string, string>>,
  message: string,
): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return page(
    language,
    message,
    html`<main class="card">
      <h1 class="message">${message}</h1>
      <form method="post" action="${action}">
        ${inputs}
        <div class="buttons"><button class="primary">${BANK_TEXTS[language].goOn}</button></div>
      </form>
      <script>
        document.forms[0].submit();
      </script>
    </main>`,
  );
}

function page(language: BankLanguage, title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <link rel="icon" href="data:," />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}

/** HTML that is inserted without escaping. */
class Html {
  constructor(readonly text: string) {}
}

/** Builds HTML: every value but Html is escaped, null is left out. */
function html(parts: TemplateStringsArray, ...values: (string | number | Html | Html[] | null)[]): Html {
  return new Html(parts.reduce((text, part, index) => text + markup(values[index - 1] ?? null) + part));
}

function markup(value: string | number | Html | Html[] | null): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((item) => item.text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = new Html(`
:root { color-scheme: light dark; --page: #eef2f8; --card: #fff; --tint: #f6f8fc; --ink: #14213d; --soft: #5b6782;
  --line: #dde3ee; --field: #7d8aa5; --brand: #12498f; --fill: #12498f; --bad: #b3261e; --note: #7a5200;
  --note-tint: #fffaf0; --badge: #fff3cd; --focus: #1d6fd1; }
@media (prefers-color-scheme: dark) { :root { --page: #0d131f; --card: #161e2e; --tint: #1d273a; --ink: #e9eef8;
  --soft: #a9b5cc; --line: #2c384f; --field: #7585a3; --brand: #93c0f7; --fill: #1d5eb3; --bad: #ffa198;
  --note: #f0c768; --note-tint: #272010; --badge: #3a2f10; --focus: #8bb8f0; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.card { width: 100%; max-width: 440px; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  padding: 24px; box-shadow: 0 10px 30px rgb(20 33 61 / 8%); }
header { display: flex; justify-content: space-between; align-items: center; padding-bottom: 16px;
  border-bottom: 1px solid var(--line); }
.bank { display: flex; align-items: center; gap: 10px; font-weight: 700; color: var(--brand); }
.logo { width: 28px; height: 28px; border-radius: 8px; background: linear-gradient(135deg, #12498f 50%, #3f8ae0 50%); }
nav { display: flex; gap: 4px; }
nav a { padding: 4px 10px; border-radius: 999px; font-size: 13px; font-weight: 600; color: var(--soft);
  text-decoration: none; }
nav a[aria-current] { background: var(--fill); color: #fff; }
.badge { display: inline-block; margin: 16px 0 0; padding: 2px 10px; border-radius: 999px; background: var(--badge);
  color: var(--note); font-size: 13px; font-weight: 600; }
h1 { margin: 8px 0 4px; font-size: 22px; line-height: 1.25; }
p { margin: 0 0 16px; color: var(--soft); }
dl { display: grid; grid-template-columns: auto 1fr; gap: 8px 16px; margin: 0 0 20px; padding: 16px;
  background: var(--tint); border-radius: 10px; }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.amount { font-weight: 700; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input#code { width: 100%; padding: 12px; border: 1px solid var(--field); border-radius: 10px; background: var(--card);
  color: inherit; font: inherit; font-size: 20px; letter-spacing: 8px; text-align: center; }
input#code[aria-invalid] { border-color: var(--bad); }
.error { margin: 8px 0 0; color: var(--bad); }
.buttons { display: flex; gap: 12px; margin: 16px 0 0; }
button { flex: 1; padding: 12px; border: 1px solid var(--field); border-radius: 10px; background: var(--card);
  color: var(--ink); font: inherit; font-weight: 600; cursor: pointer; }
button.primary { background: var(--fill); border-color: var(--fill); color: #fff; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.hint { margin: 20px 0 0; padding: 10px 14px; border: 1px dashed #b98f22; border-radius: 10px;
  background: var(--note-tint); color: var(--note); font-size: 14px; }
.hint code { font-size: 15px; font-weight: 700; }
@media (max-width: 420px) { .card { padding: 18px; } dl { padding: 12px; gap: 6px 12px; font-size: 14px; } }
.message { margin: 0; color: var(--ink); font-size: 17px; font-weight: 400; line-height: 1.5; text-align: center; }
`);
