import { replyDate } from './dates.js';
import { SMS_CODE } from './magic.js';
import { displayAmount } from './money.js';
import {
  html,
  Html,
  languageNav,
  languageOf,
  noticePage,
  page,
  postingPage,
  type PageLanguage,
} from './page-layout.js';

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
    gone: 'There is no such verification, or it has expired.',
    done: 'Verification is complete. You can close this page.',
  },
} as const;

/** The parts of a payment that the bank shows. */
export interface BankPageView {
  /** The address of the page, to which its forms are posted. */
  readonly action: string;
  readonly language: PageLanguage;
  readonly merchantName: string;
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
  readonly maskedCardNumber: string;
  readonly at: Date;
  readonly triesLeft: number;
  readonly wrongCode: boolean;
}

/** The page of Init3d's reply: it posts itself to the bank. */
export function bankPageForm(action: string, saleLanguage: string): string {
  const language = languageOf(saleLanguage);
  return postingPage(language, action, { lang: language }, BANK_TEXTS[language].goingToBank);
}

/** The page that brings the bank's result to the merchant: it posts itself to the merchant's URL. */
export function callbackPage(language: PageLanguage, url: string, fields: Readonly<Record<string, string>>): string {
  return postingPage(language, url, fields, BANK_TEXTS[language].goingBack);
}

export function messagePage(language: PageLanguage, message: 'gone' | 'done'): string {
  return noticePage(language, BANK_TEXTS[language][message]);
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
        ${languageNav(view.action, language)}
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
