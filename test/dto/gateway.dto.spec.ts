import type { ClassConstructor } from 'class-transformer';
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
const TRANSACTION = { transactionType: 'SALE', installmentCount: 1, amount: 60, currencyCode: 949, vftFlag: true };
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
  transactionDetails: TRANSACTION,
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
};
const REFUSAL = { code: 'B0005', message: 'Do not honor', resultCode: 'B0005', resultDescription: 'Do not honor' };
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
const PAGE = { ...REFUSAL, conversationId: 'x', htmlForm: 'PGh0bWw+' };

/** The dotted paths of all fields, each with what none of them may be. */
function wrongFields(message: object, parent = ''): Record<string, unknown> {
  const paths = Object.entries(message).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const isPart = typeof value === 'object' && value !== null && name !== 'fields' && name !== 'InstrumentDetail';
    const parts = isPart ? Object.entries(wrongFields(value, `${parent}${name}.`)) : [];
    return [[parent + name, 9n], ...parts];
  });
  return Object.fromEntries(paths);
}

/** A message that has only what is required, one with everything, and what else is wrong in a field. */
test.each<[ClassConstructor<object>, required: object, whole: object, bad?: Record<string, unknown>]>([
  [Auth3dDto, { conversationId: 'ABC', fields: CALLBACK }, {}],
  [PaymentCallbackDto, {}, CALLBACK],
  [Auth3dRequestDto, {}, { InstrumentDetail: '{"CardType":"CARD"}' }],
  ...[DoPaymentRequestDto, Init3dRequestDto].map((type): [typeof type, object, object, Record<string, unknown>] => [
    type,
    REQUEST,
    { extraParameter: { pfSubMerchantId: 'S1' } },
    {
      unheardOf: 1,
      returnUrl: 'x',
      'transactionDetails.installmentCount': 0,
      'transactionDetails.amount': '60.00',
      'transactionDetails.currencyCode': '949',
    },
  ]),
  ...[DoPaymentResponseDto, Auth3dResponseDto].map((type): [typeof type, object, object, Record<string, unknown>] => [
    type,
    REFUSAL,
    RESPONSE,
    {
      message: null,
      responseDate: '2025-02-05T15:09:09Z',
      currency: 949,
      'paymentInfo.installmentCount': 1.5,
      'paymentInfo.amount': '60.00',
      okUrl: 'x',
    },
  ]),
  [Init3dResponseDto, {}, PAGE, { htmlForm: '<html>' }],
])('%p takes what is required, and everything, and notices each field (%#)', (type, required, more, bad = {}) => {
  const whole = { ...required, ...more };
  expect([problemsOf(type, required), problemsOf(type, whole)]).toEqual([[], []]);
  expect(problemsOf(type, {}).sort()).toEqual(Object.keys(required).sort());
  for (const wrong of [wrongFields(whole), bad]) expect(noticed(type, whole, wrong)).toEqual(Object.keys(wrong));
});

test.each([DoPaymentRequestDto, Init3dRequestDto])('%p requires all of a transaction but the flag', (type) => {
  const { vftFlag: _vftFlag, ...required } = TRANSACTION;
  const paths = Object.keys(required).map((name) => `transactionDetails.${name}`);
  expect(problemsOf(type, { ...REQUEST, transactionDetails: {} })).toEqual(paths);
});
