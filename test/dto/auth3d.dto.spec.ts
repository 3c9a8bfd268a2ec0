import { Auth3dDto, Auth3dRequestDto, PaymentCallbackDto } from '../../lib/dto/auth3d.dto.js';
import { noticed, problemsOf } from './message-problems.js';

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
