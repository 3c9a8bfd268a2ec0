import { createHash } from 'node:crypto';
import { escapeHtml } from '../runtime/html.js';
import type { TextLanguage } from '../runtime/text-language.js';

/** The text of a page. The title is also its heading. */
interface PageText {
  readonly title: string;
  readonly text: string;
}

/**
 * Every page that a buyer may be shown, of errors and of results: neither the bank's reason nor anything about the
 * set-up. The text of an error's page is also `tellBuyer`.
 */
export const PAGE_TEXTS = {
  input: {
    en: { title: 'Please check the form', text: 'Please check what you entered. Nothing was charged.' },
    tr: {
      title: 'Lütfen formu kontrol edin',
      text: 'Lütfen girdiğiniz bilgileri kontrol edin. Kartınızdan para çekilmedi.',
    },
  },
  declined: {
    en: {
      title: 'Payment declined',
      text: 'Your bank declined the payment. Please try another card or call your bank.',
    },
    tr: {
      title: 'Ödeme reddedildi',
      text: 'Bankanız ödemeyi reddetti. Lütfen başka bir kart deneyin veya bankanızı arayın.',
    },
  },
  underWay: {
    en: {
      title: 'There is a payment already',
      text: 'This order has been paid or is being paid. Please do not pay again before you have seen its outcome.',
    },
    tr: {
      title: 'Bu sipariş için bir ödeme var',
      text: 'Bu sipariş ödenmiş ya da ödenmekte. Sonucunu görmeden lütfen yeniden ödeme yapmayın.',
    },
  },
  later: {
    en: {
      title: 'Please try again later',
      text: 'This did not work, and nothing was charged by it. Please try again in a few minutes.',
    },
    tr: {
      title: 'Lütfen daha sonra yeniden deneyin',
      text: 'Bu işlem olmadı ve bu yüzden bir para çekilmedi. Lütfen birkaç dakika sonra yeniden deneyin.',
    },
  },
  storeDown: {
    en: {
      title: 'Not available right now',
      text: 'Nothing was charged by this. If you have paid before, please do not pay again until you know its outcome; otherwise try again in a few minutes.',
    },
    tr: {
      title: 'Şu anda kullanılamıyor',
      text: 'Bu işlemle bir para çekilmedi. Daha önce ödediyseniz sonucunu öğrenmeden yeniden ödemeyin; ödemediyseniz birkaç dakika sonra yeniden deneyin.',
    },
  },
  busy: {
    en: {
      title: 'Just a moment',
      text: 'Too many are paying right now. Nothing was charged. Please try again in a few seconds.',
    },
    tr: {
      title: 'Bir dakika',
      text: 'Şu anda çok fazla ödeme var. Kartınızdan para çekilmedi. Lütfen birkaç saniye sonra yeniden deneyin.',
    },
  },
  notFound: {
    en: { title: 'Payment not found', text: 'There is no such payment.' },
    tr: { title: 'Ödeme bulunamadı', text: 'Böyle bir ödeme yok.' },
  },
  impossible: {
    en: { title: 'This is not possible', text: 'This cannot be done with this payment.' },
    tr: { title: 'Bu işlem yapılamaz', text: 'Bu ödemeyle bu işlem yapılamaz.' },
  },
  refused: {
    en: { title: 'This page cannot be shown', text: 'The request was not understood. Please return to the shop.' },
    tr: { title: 'Bu sayfa gösterilemiyor', text: 'İstek anlaşılamadı. Lütfen mağazaya dönün.' },
  },
  /** Refused before anything was sent, for a reason that the buyer can neither see nor correct. */
  notCharged: {
    en: {
      title: 'Something is wrong in the shop',
      text: 'The payment could not be started. Nothing was charged. Please contact the shop.',
    },
    tr: {
      title: 'Mağazada bir sorun var',
      text: 'Ödeme başlatılamadı. Kartınızdan para çekilmedi. Lütfen mağazayla iletişime geçin.',
    },
  },
  shopError: {
    en: {
      title: 'Something went wrong',
      text: 'Something is wrong in the shop. Please contact the shop before you pay again.',
    },
    tr: {
      title: 'Bir sorun oluştu',
      text: 'Mağazada bir sorun var. Yeniden ödemeden önce lütfen mağazayla iletişime geçin.',
    },
  },
  // How a payment stands after its callback.
  success: {
    en: { title: 'Payment received', text: 'Your payment was successful. You can return to the shop.' },
    tr: { title: 'Ödeme alındı', text: 'Ödemeniz başarıyla tamamlandı. Mağazaya dönebilirsiniz.' },
  },
  failure: {
    en: { title: 'Payment not completed', text: 'No money was taken. You can return to the shop and try again.' },
    tr: {
      title: 'Ödeme tamamlanmadı',
      text: 'Kartınızdan para çekilmedi. Mağazaya dönüp yeniden deneyebilirsiniz.',
    },
  },
  pending: {
    en: {
      title: 'Payment in progress',
      text: 'The outcome is not known yet. Please do not pay again; the shop will tell you as soon as it is known.',
    },
    tr: {
      title: 'Ödeme işleniyor',
      text: 'Sonuç henüz bilinmiyor. Lütfen yeniden ödeme yapmayın; sonuç belli olunca mağaza size bildirecektir.',
    },
  },
  reload: {
    en: { title: 'Just a moment', text: 'The outcome cannot be looked up right now. Please reload this page.' },
    tr: { title: 'Bir dakika', text: 'Sonuca şu anda ulaşılamıyor. Lütfen bu sayfayı yenileyin.' },
  },
} as const satisfies Record<string, Readonly<Record<TextLanguage, PageText>>>;

/** A key of {@link PAGE_TEXTS}. */
export type PageName = keyof typeof PAGE_TEXTS;

const BACK_TO_SHOP: Readonly<Record<TextLanguage, string>> = { en: 'Back to the shop', tr: 'Mağazaya dön' };

const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;color:#1c2733}' +
  'h1{font-size:1.6rem}a{color:#0b5cad}' +
  '@media(prefers-color-scheme:dark){body{background:#12181f;color:#e6ebf0}a{color:#8cc2ff}}';

/** Follows the page's link in the whole window. */
const LEAVE_FRAME = 'top.location.replace(document.links[0].href)';

/**
 * The headers of {@link buyerPage}: the browser loads nothing, runs nothing but what leaves a frame, and keeps no copy.
 *
 * @param ancestors who may show the page in a frame
 * @param leavesFrame as of {@link buyerPage}
 */
export function buyerPageHeaders(ancestors: "'none'" | "'self'", leavesFrame = false): Headers {
  const style = hashOf(STYLE);
  const script = leavesFrame ? ` script-src ${hashOf(LEAVE_FRAME)};` : '';
  return Object.freeze({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src ${style};${script} form-action 'none'; base-uri 'none'; frame-ancestors ${ancestors}`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
}

function hashOf(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}

/**
 * The plain page that shows a result or an error. It repeats nothing from the request.
 *
 * @param shopUrl where its link leads. The link opens in the whole window, since the bank may have been shown in a
 *   frame
 * @param leavesFrame whether the page follows its link by itself; a browser that runs no script shows the link
 */
export function buyerPage(name: PageName, language: TextLanguage, shopUrl: string, leavesFrame = false): string {
  const { title, text } = PAGE_TEXTS[name][language];
  const script = leavesFrame ? `<script>${LEAVE_FRAME}</script>` : '';
  return (
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>` +
    `<style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>` +
    `<p><a href="${escapeHtml(shopUrl)}" target="_top">${BACK_TO_SHOP[language]}</a></p></main>${script}</body></html>`
  );
}

/** Headers of an answer, by name. */
export type Headers = Readonly<Record<string, string>>;

/** What Express's response and Fastify's reply have in common. */
export interface HttpResponse {
  header(name: string, value: string): unknown;
  status(code: number): { send(body: string): unknown };
}

/** Answers on Express and on Fastify. */
export function send(response: HttpResponse, status: number, headers: Headers, body: string): void {
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  response.status(status).send(body);
}
