import { checkCallback } from '../../lib/flows/callback-check.js';
import { PaymentCallbackError } from '../../lib/errors/payment-callback.error.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import type { CallbackFields } from '../../lib/gateway/gateway-dialect.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

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

  it('needs what the dialect requires, in any case, be it empty', () => {
    expect(refusal({ CODE: '', mdStatus: 'UGF5==' }, ['Code', 'MdStatus'])).toBe('none');
    expect(refusal({ Code: 'B0000' }, ['Code', 'MdStatus'])).toBe('missing_field');
    expect(refusal({ Code: 'B0000', xMdStatus: '' }, ['Code', 'MdStatus'])).toBe('missing_field');
    expect(refusal({ Code: 'B0000' }, ['toString'])).toBe('missing_field');
  });

  const WHOLE = Object.fromEntries(morposDialect().requiredCallbackFields.map((name) => [name, 'x']));

  it.each([
    ['an object', { InstrumentDetail: { CardType: 'CARD' } }],
    ['dotted', { InstrumentDetail: undefined, 'InstrumentDetail.CardType': 'CARD' }],
    ['bracketed', { InstrumentDetail: undefined, 'InstrumentDetail[CardType]': 'CARD' }],
    ['a JSON text', { InstrumentDetail: '{"CardType":"CARD"}' }],
  ])('of MorPOS is whole with a detail that is %s', (_how, over) => {
    const fields = Object.entries({ ...WHOLE, conversationId: ID, ...over }).filter(([, value]) => value !== undefined);
    expect(refusal(Object.fromEntries(fields) as CallbackFields, morposDialect().requiredCallbackFields)).toBe('none');
  });

  it.each(morposDialect().requiredCallbackFields)('of MorPOS is refused without %s', (name) => {
    const others: Record<string, string> = { ...WHOLE, conversationId: ID };
    delete others[name];
    expect(refusal(others, morposDialect().requiredCallbackFields)).toBe('missing_field');
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
