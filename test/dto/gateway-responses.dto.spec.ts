import { Auth3dResponseDto, DoPaymentResponseDto, Init3dResponseDto } from '../../lib/dto/gateway-responses.dto.js';
import { noticed, problemsOf } from './message-problems.js';

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
