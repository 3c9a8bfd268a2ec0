import type { Translations } from '../payment/text-language.js';

/** What a buyer may read of an error: no reason of a bank, nothing of the set-up. */
export const BUYER_TEXTS = {
  input: {
    en: 'Please check what you entered. Nothing was charged.',
    tr: 'Lütfen girdiğiniz bilgileri kontrol edin. Kartınızdan para çekilmedi.',
  },
  declined: {
    en: 'Your bank declined the payment. Please try another card or call your bank.',
    tr: 'Bankanız ödemeyi reddetti. Lütfen başka bir kart deneyin veya bankanızı arayın.',
  },
  underWay: {
    en: 'This order has been paid or is being paid. Please do not pay again before you have seen its outcome.',
    tr: 'Bu sipariş ödenmiş ya da ödenmekte. Sonucunu görmeden lütfen yeniden ödeme yapmayın.',
  },
  later: {
    en: 'This did not work, and nothing was charged by it. Please try again in a few minutes.',
    tr: 'Bu işlem olmadı ve bu yüzden bir para çekilmedi. Lütfen birkaç dakika sonra yeniden deneyin.',
  },
  busy: {
    en: 'Too many are paying right now. Nothing was charged. Please try again in a few seconds.',
    tr: 'Şu anda çok fazla ödeme var. Kartınızdan para çekilmedi. Lütfen birkaç saniye sonra yeniden deneyin.',
  },
  notFound: { en: 'There is no such payment.', tr: 'Böyle bir ödeme yok.' },
  impossible: { en: 'This cannot be done with this payment.', tr: 'Bu ödemeyle bu işlem yapılamaz.' },
  refused: {
    en: 'The request was not understood. Please return to the shop.',
    tr: 'İstek anlaşılamadı. Lütfen mağazaya dönün.',
  },
  trouble: {
    en: 'Something is wrong in the shop. Please contact the shop before you pay again.',
    tr: 'Mağazada bir sorun var. Yeniden ödemeden önce lütfen mağazayla iletişime geçin.',
  },
} as const satisfies Record<string, Translations>;
