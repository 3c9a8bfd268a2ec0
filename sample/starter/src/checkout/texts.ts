/** What buyers read; the payment module's messages are in this language, too. */
export const LANGUAGE = 'en';

export const TEXTS = {
  shop: 'Shop',
  payment: 'Payment',
  order: 'Your order',
  amount: (total: string) => `${total} TRY`,
  placeOrder: (amount: string) => `Order for ${amount}`,
  fields: {
    'cardDetails.cardNo': 'Card number',
    'cardDetails.expDate': 'Expiry (MM/YY)',
    'cardDetails.cvv': 'Security code',
    'cardHolderInfo.cardHolderName': 'Name on the card',
    'cardHolderInfo.buyerGsm': 'Phone',
  },
  pay: 'Pay',
  states: {
    'not paid': 'Not paid.',
    'please wait': 'We are waiting for your bank. Please do not pay again.',
    paid: 'Paid. Thank you!',
  },
};
