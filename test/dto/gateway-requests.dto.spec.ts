import { DoPaymentRequestDto, Init3dRequestDto } from '../../lib/dto/gateway-requests.dto.js';
import { noticed, problemsOf } from './message-problems.js';
import { CARD } from './sample-input.js';

const REQUEST = {
  merchantId: 'M1',
  returnUrl: 'https://shop.example/return',
  failUrl: 'https://shop.example/fail',
  paymentMethod: 'CARDPAYMENT',
  language: 'tr',
  conversationId: 'ABC12345678901234567',
  sign: 'c2lnbg==',
  paymentInstrumentType: 'CARD',
  cardDetails: CARD,
  transactionDetails: { transactionType: 'SALE', installmentCount: 1, amount: 60, currencyCode: 949, vftFlag: true },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
  extraParameter: { pfSubMerchantId: 'S1' },
};

describe.each([DoPaymentRequestDto, Init3dRequestDto])('%p', (type) => {
  it('takes a whole request', () => expect(problemsOf(type, REQUEST)).toEqual([]));

  it('requires what the contract requires', () => {
    expect(problemsOf(type, {})).toEqual(expect.arrayContaining(Object.keys(REQUEST).slice(0, -1)));
    expect(problemsOf(type, { ...REQUEST, transactionDetails: {}, extraParameter: undefined })).toEqual(
      ['transactionType', 'installmentCount', 'amount', 'currencyCode'].map((name) => `transactionDetails.${name}`),
    );
  });

  it('checks each field', () => {
    const bad = {
      merchantId: 1,
      returnUrl: 'x',
      failUrl: 'x',
      paymentMethod: '',
      language: 1,
      conversationId: ' ',
      sign: 1,
      paymentInstrumentType: 1,
      'cardDetails.cardNo': 'x',
      'cardDetails.expDate': '1300',
      'cardDetails.cvv': '1',
      'transactionDetails.transactionType': 1,
      'transactionDetails.installmentCount': 0,
      'transactionDetails.amount': '60.00',
      'transactionDetails.currencyCode': '949',
      'transactionDetails.vftFlag': 'True',
      'cardHolderInfo.cardHolderName': 1,
      'cardHolderInfo.buyerGsm': 'x',
      'extraParameter.pfSubMerchantId': 1,
      unheardOf: 1,
    };
    expect(noticed(type, REQUEST, bad)).toEqual(Object.keys(bad));
  });
});
