/** Before every test card has expired. */
export const NOW = new Date('2026-06-15T10:00:00Z');

export const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
export const MASKED = '524677******3508';
export const NON_LUHN = '4508034508034581';

export interface SampleInput {
  cardDetails: Record<string, unknown>;
  transactionDetails: Record<string, unknown>;
  cardHolderInfo: Record<string, unknown>;
  [field: string]: unknown;
}

/** A fresh valid input, with only what is required. */
export function sampleInput(): SampleInput {
  return {
    cardDetails: { ...CARD },
    transactionDetails: { amount: '149.90', currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
  };
}

/** A valid input with every field. */
export function fullInput(): SampleInput {
  return {
    ...sampleInput(),
    transactionDetails: {
      transactionType: 'SALE',
      installmentCount: 3,
      amount: 149.9,
      currencyCode: 949,
      vftFlag: false,
    },
    extraParameter: { pfSubMerchantId: 'SUB-1' },
    paymentMethod: 'CARDPAYMENT',
    language: 'tr',
    paymentInstrumentType: 'CARD',
    conversationId: 'ABC12345678901234567',
    returnUrl: 'https://shop.example/return/{token}',
    failUrl: 'http://localhost:3000/fail',
    reference: 'order-1',
    allowRepeat: true,
    idempotencyKey: 'key-1',
  };
}
