import { checkCallback } from '../../../lib/gateway/callback/callback-fields.js';
import { PaymentCallbackError } from '../../../lib/errors/payment-errors.js';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { CallbackFields } from '../../../lib/gateway/gateway-dialect.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

const PAYMENT = aPaymentRecord({ state: 'awaiting' });
const ID = PAYMENT.conversationId;

function refusal(fields: CallbackFields, required: readonly string[] = []): string {
  try {
    checkCallback(fields, PAYMENT, { ...morposDialect(), requiredCallbackFields: required });
  } catch (error) {
    if (error instanceof PaymentCallbackError) return error.refusal;
    throw error;
  }
  return 'none';
}

describe('a callback', () => {
  it('needs a field at least', () => {
    expect(refusal({})).toBe('missing_field');
    expect(refusal({ anything: '' })).toBe('none');
  });

  it('needs what the dialect requires, in any case, and not empty', () => {
    expect(refusal({ CODE: 'B0000', mdStatus: 'UGF5==' }, ['Code', 'MdStatus'])).toBe('none');
    expect(refusal({ CODE: '', mdStatus: 'UGF5==' }, ['Code', 'MdStatus'])).toBe('missing_field');
    expect(refusal({ CODE: null, mdStatus: 'UGF5==' }, ['Code', 'MdStatus'])).toBe('missing_field');
    expect(refusal({ Code: 'B0000' }, ['Code', 'MdStatus'])).toBe('missing_field');
    expect(refusal({ Code: 'B0000', xMdStatus: '' }, ['Code', 'MdStatus'])).toBe('missing_field');
    expect(refusal({ Code: 'B0000' }, ['toString'])).toBe('missing_field');
  });

  const WHOLE = { Code: 'B0000', MdStatus: 'UGF5==', MdStatusMessage: '', conversationId: ID };

  it.each([
    ['an object', { InstrumentDetail: { CardType: 'CARD' } }],
    ['dotted', { InstrumentDetail: undefined, 'InstrumentDetail.CardType': 'CARD' }],
    ['bracketed', { InstrumentDetail: undefined, 'InstrumentDetail[CardType]': 'CARD' }],
    ['a JSON text', { InstrumentDetail: '{"CardType":"CARD"}' }],
    ['what a form makes of an object that nobody wrote out', { InstrumentDetail: '[object Object]' }],
    ['empty', { InstrumentDetail: '' }],
    ['left out', { InstrumentDetail: undefined }],
  ])('of MorPOS is whole with a detail that is %s', (_how, over) => {
    const fields = Object.entries({ ...WHOLE, ...over }).filter(([, value]) => value !== undefined);
    expect(refusal(Object.fromEntries(fields) as CallbackFields, morposDialect().requiredCallbackFields)).toBe('none');
  });

  it('of MorPOS needs the conversationId, and nothing else', () => {
    const required = morposDialect().requiredCallbackFields;
    expect(refusal({ ...WHOLE, conversationId: '' }, required)).toBe('missing_field');
    expect(refusal({ ...WHOLE, conversationId: null }, required)).toBe('missing_field');
    expect(refusal({ Code: 'R0099', Message: 'failed' }, required)).toBe('missing_field');
    expect(refusal({ conversationId: ID }, required)).toBe('none');
  });

  it("of MorPOS may have the hosted page's names", () => {
    const hosted = { ResultCode: 'B0000', ConversationId: ID, BankUniqueReferenceNumber: '', Amount: '149.90' };
    expect(refusal(hosted, morposDialect().requiredCallbackFields)).toBe('none');
    const foreign = { ...hosted, ConversationId: 'ANOTHER' };
    expect(refusal(foreign, morposDialect().requiredCallbackFields)).toBe('foreign_payment');
  });

  it.each([
    [ID, 'none'],
    ['', 'none'],
    [null, 'none'],
    [`${ID} `, 'foreign_payment'],
    [ID.toLowerCase(), 'foreign_payment'],
    ['ABC00000000000000002', 'foreign_payment'],
    [7, 'foreign_payment'],
    [true, 'foreign_payment'],
  ])('with the conversationId %j', (conversationId, expected) => {
    expect(refusal({ conversationId })).toBe(expected);
    expect(refusal({ ConversationID: conversationId })).toBe(expected);
  });

  it('with a detail that cannot be gathered is refused here, before any claim', () => {
    expect(refusal({ InstrumentDetail: '{"a":[1]}' })).toBe('nested_field');
    expect(refusal({ 'InstrumentDetail.a': '1', 'InstrumentDetail[A]': '1' })).toBe('repeated_field');
  });

  it('tells nothing of what came', () => {
    const error = new PaymentCallbackError('foreign_payment');
    expect(error.message).toBe('The callback was refused: foreign payment.');
  });
});
