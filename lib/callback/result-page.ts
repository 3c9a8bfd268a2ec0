import type { TextLanguage } from '../payment/text-language.js';

/** What a page of the callback says. */
export type ResultPageKind = 'success' | 'failure' | 'pending' | 'refused' | 'unavailable';

interface PageText {
  readonly title: string;
  readonly text: string;
}

const TEXTS: Readonly<Record<TextLanguage, Readonly<Record<ResultPageKind, PageText>>>> = {
  en: {
    success: { title: 'Payment received', text: 'Your payment was successful. You can return to the shop.' },
    failure: { title: 'Payment not completed', text: 'No money was taken. You can return to the shop and try again.' },
    pending: {
      title: 'Payment in progress',
      text: 'The outcome is not known yet. Please do not pay again; the shop will tell you as soon as it is known.',
    },
    refused: { title: 'This page cannot be shown', text: 'The request was not understood. Please return to the shop.' },
    unavailable: {
      title: 'Just a moment',
      text: 'The outcome cannot be looked up right now. Please reload this page.',
    },
  },
  tr: {
    success: { title: 'Ödeme alındı', text: 'Ödemeniz başarıyla tamamlandı. Mağazaya dönebilirsiniz.' },
    failure: {
      title: 'Ödeme tamamlanmadı',
      text: 'Kartınızdan para çekilmedi. Mağazaya dönüp yeniden deneyebilirsiniz.',
    },
    pending: {
      title: 'Ödeme işleniyor',
      text: 'Sonuç henüz bilinmiyor. Lütfen yeniden ödeme yapmayın; sonuç belli olunca mağaza size bildirecektir.',
    },
    refused: { title: 'Bu sayfa gösterilemiyor', text: 'İstek anlaşılamadı. Lütfen mağazaya dönün.' },
    unavailable: { title: 'Bir dakika', text: 'Sonuca şu anda ulaşılamıyor. Lütfen bu sayfayı yenileyin.' },
  },
};

/** A plain page. Nothing of what was received stands in it. */
export function resultPage(kind: ResultPageKind, lang: TextLanguage): string {
  const { title, text } = TEXTS[lang][kind];
  return (
    `<!doctype html><html lang="${lang}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>` +
    '<style>:root{color-scheme:light dark}' +
    'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;color:#1c2733}' +
    'h1{font-size:1.6rem}' +
    '@media(prefers-color-scheme:dark){body{background:#12181f;color:#e6ebf0}}</style></head>' +
    `<body><main><h1>${title}</h1><p>${text}</p></main></body></html>`
  );
}
