/** The one sale that every subject makes, with a published test card. */
export const CARD = { cardNo: '4508034508034509', expDate: '1236', cvv: '000' };
export const HOLDER = { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' };
export const AMOUNT = '149.95';
export const CURRENCY = 949;

export const MERCHANT = {
  merchantId: 'bench-merchant',
  clientId: 'bench-client',
  clientSecret: 'YmVuY2gtc2VjcmV0',
  apiKey: 'bench-key',
};

export const SHOP_URL = 'https://shop.example';
export const RETURN_URLS = {
  returnUrl: `${SHOP_URL}/payments/direct/return`,
  failUrl: `${SHOP_URL}/payments/direct/fail`,
};
export const PAID_URL = `${SHOP_URL}/paid`;
export const FAILED_URL = `${SHOP_URL}/failed`;

/** It has the length of an id that the package makes. */
export function conversationIdOf(number: number): string {
  return `BEN${String(number).padStart(17, '0')}`;
}

/** The input of this package. */
export function saleOf(number: number) {
  return {
    reference: `order-${number}`,
    cardDetails: CARD,
    transactionDetails: { amount: AMOUNT, currencyCode: CURRENCY, installmentCount: 1 },
    cardHolderInfo: HOLDER,
  };
}

/** The same as DoPayment's body (docs/interface.md), for the subjects that write it themselves. */
export function doPaymentBody(number: number) {
  return {
    merchantId: MERCHANT.merchantId,
    ...RETURN_URLS,
    paymentMethod: 'CARDPAYMENT',
    language: 'tr',
    conversationId: conversationIdOf(number),
    paymentInstrumentType: 'CARD',
    cardDetails: CARD,
    transactionDetails: {
      transactionType: 'SALE',
      installmentCount: 1,
      amount: Number(AMOUNT),
      currencyCode: CURRENCY,
      vftFlag: false,
    },
    cardHolderInfo: HOLDER,
  };
}

/** It has the length of a real sign: Base64 of a SHA-256. */
export const FIXED_SIGN = `${'A'.repeat(43)}=`;

/** The headers of docs/interface.md with values of their real lengths, for the subjects that do not sign. */
export const FIXED_HEADERS = {
  'content-type': 'application/json',
  'x-ClientID': MERCHANT.clientId,
  'x-ClientSecret': Buffer.from('0'.repeat(64)).toString('base64'),
  'x-GrantType': 'client_credentials',
  'x-Scope': 'pf_write pf_read',
  'x-Timestamp': '20260101000000',
};

/** What a bank sends through the buyer's browser: the dialect needs the id alone, and passes all on to Auth3d. */
export function bankFields(conversationId: string): Record<string, string> {
  return {
    conversationId,
    mdStatus: '1',
    eci: '05',
    cavv: 'AAABBEg0VhI0VniQEjRWAAAAAAA=',
    xid: 'MDAwMDAwMDAwMDAwMDAwMzIyNzY=',
    md: '435508:D7B1B0F0E8A7B0C6E2C8E5D2F9F1A3B4C5D6E7F8:4236:##190100000',
    'InstrumentDetail.CardType': 'CARD',
  };
}

/** Throws unless an answer in the format of docs/interface.md approves. */
export function expectApproved(answer: { readonly code?: unknown; readonly resultCode?: unknown }): void {
  if (answer.code !== 'B0000' || answer.resultCode !== 'B0000') throw new Error('the payment was not approved');
}
