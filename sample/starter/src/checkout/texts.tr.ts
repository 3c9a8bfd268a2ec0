/** Alıcının okudukları; ödeme modülünün sayfa ve mesajlarının dili. */
export const LANGUAGE = 'tr';

export const TEXTS = {
  shop: 'Mağaza',
  payment: 'Ödeme',
  order: 'Siparişiniz',
  amount: (total: string) => `${total.replace('.', ',')} TL`,
  placeOrder: (amount: string) => `Sipariş ver: ${amount}`,
  fields: {
    'cardDetails.cardNo': 'Kart numarası',
    'cardDetails.expDate': 'Son kullanma tarihi (AA/YY)',
    'cardDetails.cvv': 'Güvenlik kodu',
    'cardHolderInfo.cardHolderName': 'Kart üzerindeki ad',
    'cardHolderInfo.buyerGsm': 'Telefon',
  },
  pay: 'Öde',
  states: {
    'not paid': 'Ödenmedi.',
    'please wait': 'Bankanızdan yanıt bekleniyor. Lütfen yeniden ödemeyin.',
    paid: 'Ödendi. Teşekkürler!',
  },
};
