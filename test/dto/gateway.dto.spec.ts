import {
  Auth3dDto,
  Auth3dRequestDto,
  Auth3dResponseDto,
  DoPaymentRequestDto,
  DoPaymentResponseDto,
  Init3dRequestDto,
  Init3dResponseDto,
  PaymentCallbackDto,
} from '../../lib/dto/gateway.dto.js';
import { noticed, problemsOf } from './message-problems.js';
import { CARD } from './sample-input.js';

const CALLBACK = {
  Code: 'B0000',
  Message: 'Approved',
  EftCode: '00',
  MdStatus: 'UGF5ODRD',
  MdStatusMessage: '',
  conversationId: 'ABC12345678901234567',
  OrderId: 'O1',
  PaymentId: 'P1',
  TransactionDate: '05/02/2025 15:09:09',
  Currency: '949',
  PaymentInstrumentType: 'CARD',
  MerchantId: 'M1',
  InstrumentDetail: { CardType: 'CARD' },
};

describe('Auth3dDto', () => {
  it('needs the payment and what the bank sent', () => {
    expect(problemsOf(Auth3dDto, { conversationId: 'ABC', fields: CALLBACK })).toEqual([]);
    expect(problemsOf(Auth3dDto, {})).toEqual(['conversationId', 'fields']);
    expect(problemsOf(Auth3dDto, { conversationId: 1, fields: [] })).toEqual(['conversationId', 'fields']);
  });
});

describe.each([PaymentCallbackDto, Auth3dRequestDto])('%p', (type) => {
  it('takes a whole callback, an empty one, and the detail as text', () => {
    expect(problemsOf(type, CALLBACK)).toEqual([]);
    expect(problemsOf(type, {})).toEqual([]);
    expect(problemsOf(type, { ...CALLBACK, InstrumentDetail: '{"CardType":"CARD"}' })).toEqual([]);
  });

  it('checks each field', () => {
    const bad = Object.fromEntries(Object.keys(CALLBACK).map((name) => [name, ['twice', 'over']]));
    expect(noticed(type, CALLBACK, bad)).toEqual(Object.keys(CALLBACK));
  });
});

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

const RESPONSE = {
  code: 'B0000',
  message: 'Approved',
  resultCode: 'B0000',
  resultDescription: 'Approved',
  responseDate: '05/02/2025 15:09:09',
  conversationId: 'ABC12345678901234567',
  orderId: 'O1',
  paymentId: 'P1',
  bankUniqueReferenceNumber: '503615446559',
  transactionDate: '05/02/2025 15:09:09',
  currency: '949',
  authCode: '123456',
  paymentInstrumentType: 'CARDPAYMENT',
  sign: 'c2lnbg==',
  instrumentDetail: { maskedCardNumber: '524677******3508', cardType: 'CARD' },
  paymentInfo: { installmentCount: 1, payFacCommissionRate: 2.5, amount: 60, payFacCommissionAmount: 1.5 },
  okUrl: null,
  failUrl: null,
};

describe.each([DoPaymentResponseDto, Auth3dResponseDto])('%p', (type) => {
  it('takes an approved result, and a bare refusal', () => {
    expect(problemsOf(type, RESPONSE)).toEqual([]);
    const refusal = { code: 'B0005', message: 'Do not honor', resultCode: 'B0005', resultDescription: 'Do not honor' };
    expect(problemsOf(type, refusal)).toEqual([]);
    expect(problemsOf(type, {})).toEqual(Object.keys(refusal));
  });

  it('checks each field', () => {
    const bad = {
      code: 1,
      message: null,
      resultCode: 1,
      resultDescription: 1,
      responseDate: '2025-02-05T15:09:09Z',
      conversationId: 1,
      orderId: 1,
      paymentId: 1,
      bankUniqueReferenceNumber: 1,
      transactionDate: 'x',
      currency: 949,
      authCode: 1,
      paymentInstrumentType: 1,
      sign: 1,
      instrumentDetail: 'x',
      'instrumentDetail.maskedCardNumber': 1,
      'instrumentDetail.cardType': 1,
      paymentInfo: [],
      'paymentInfo.installmentCount': 1.5,
      'paymentInfo.payFacCommissionRate': '2.5',
      'paymentInfo.amount': '60.00',
      'paymentInfo.payFacCommissionAmount': '1.5000',
      okUrl: 'x',
      failUrl: 1,
    };
    expect(noticed(type, RESPONSE, bad)).toEqual(Object.keys(bad));
  });
});

describe('Init3dResponseDto', () => {
  it('checks each field', () => {
    const good = {
      code: 'B0000',
      message: 'ok',
      resultCode: 'B0000',
      resultDescription: 'ok',
      conversationId: 'x',
      htmlForm: 'PGh0bWw+',
    };
    expect(problemsOf(Init3dResponseDto, good)).toEqual([]);
    const bad = { code: 1, message: 1, resultCode: 1, resultDescription: 1, conversationId: 1, htmlForm: '<html>' };
    expect(noticed(Init3dResponseDto, good, bad)).toEqual(Object.keys(bad));
  });
});
