import type { TextLanguage, Translations } from '../runtime/text-language.js';

/** The text of a page. The title is also its heading. */
export interface PageText {
  readonly title: string;
  readonly text: string;
}

type PageTexts = Readonly<Record<TextLanguage, PageText>>;

/**
 * What a buyer may read about an error: neither the bank's reason nor anything about the set-up. `text` is also
 * `tellBuyer`.
 */
export const BUYER_TEXTS = {
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
  unavailable: {
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
  trouble: {
    en: {
      title: 'Something went wrong',
      text: 'Something is wrong in the shop. Please contact the shop before you pay again.',
    },
    tr: {
      title: 'Bir sorun oluştu',
      text: 'Mağazada bir sorun var. Yeniden ödemeden önce lütfen mağazayla iletişime geçin.',
    },
  },
} as const satisfies Record<string, PageTexts>;

/** A key of {@link BUYER_TEXTS}. */
export type BuyerText = keyof typeof BUYER_TEXTS;

/** The texts of the callback's result pages. */
export const RESULT_TEXTS = {
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
  refused: BUYER_TEXTS.refused,
  unavailable: {
    en: { title: 'Just a moment', text: 'The outcome cannot be looked up right now. Please reload this page.' },
    tr: { title: 'Bir dakika', text: 'Sonuca şu anda ulaşılamıyor. Lütfen bu sayfayı yenileyin.' },
  },
} as const satisfies Record<string, PageTexts>;

export const BACK_TO_SHOP: Translations = { en: 'Back to the shop', tr: 'Mağazaya dön' };

/** The labels of the fields that buyers fill in, by the field's name. */
const FIELD_NAMES: Readonly<Record<string, Translations>> = {
  cardNo: { en: 'Card number', tr: 'Kart numarası' },
  expDate: { en: 'Expiry date', tr: 'Son kullanma tarihi' },
  cvv: { en: 'Security code', tr: 'Güvenlik kodu' },
  cardHolderName: { en: 'Name on the card', tr: 'Kart üzerindeki ad' },
  buyerGsm: { en: 'Phone number', tr: 'Telefon numarası' },
  installmentCount: { en: 'Number of instalments', tr: 'Taksit sayısı' },
  cardDetails: { en: 'Card', tr: 'Kart' },
  cardHolderInfo: { en: 'Cardholder', tr: 'Kart sahibi' },
};

/** The label of the field at a path; the field's own name if no buyer fills it in. */
export function fieldNameOf(path: string, language: TextLanguage): string {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return Object.hasOwn(FIELD_NAMES, name) ? (FIELD_NAMES[name]?.[language] ?? name) : name;
}

/** Whether a buyer fills in the field at a path. */
export function isBuyersField(path: string): boolean {
  return /^(?:cardDetails|cardHolderInfo|(?:transactionDetails\.)?installmentCount)(?:$|\.)/.test(path);
}
