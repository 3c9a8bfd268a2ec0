import { PaymentCallbackError } from '../../../lib/errors/payment-callback.error.js';
import type { CallbackFields } from '../../../lib/gateway/gateway-dialect.js';
import { withInstrumentDetail } from '../../../lib/gateway/dialects/instrument-detail.js';

function refusal(fields: CallbackFields): string {
  try {
    withInstrumentDetail(fields);
  } catch (error) {
    if (error instanceof PaymentCallbackError) return error.refusal;
    throw error;
  }
  return 'none';
}

describe('the instrument detail', () => {
  const DETAIL = { CardType: 'CARD', MaskedCardNumber: '450803******4509' };

  it.each([
    ['an object', { InstrumentDetail: DETAIL }],
    ['dotted', { 'InstrumentDetail.CardType': 'CARD', 'InstrumentDetail.MaskedCardNumber': '450803******4509' }],
    ['bracketed', { 'InstrumentDetail[CardType]': 'CARD', 'InstrumentDetail[MaskedCardNumber]': '450803******4509' }],
    ['both', { 'InstrumentDetail.CardType': 'CARD', 'InstrumentDetail[MaskedCardNumber]': '450803******4509' }],
    ['a JSON text', { InstrumentDetail: ` ${JSON.stringify(DETAIL)}` }],
    [
      'a JSON text and more',
      { InstrumentDetail: '{"CardType":"CARD"}', 'InstrumentDetail.MaskedCardNumber': '450803******4509' },
    ],
    [
      'empty and dotted',
      {
        InstrumentDetail: '',
        'InstrumentDetail.CardType': 'CARD',
        'InstrumentDetail.MaskedCardNumber': '450803******4509',
      },
    ],
  ] as [string, CallbackFields][])('written as %s becomes an object', (_how, fields) => {
    expect(withInstrumentDetail({ Code: 'B0000', ...fields, n: 1 })).toEqual({
      Code: 'B0000',
      InstrumentDetail: DETAIL,
      n: 1,
    });
  });

  it('keeps its name as it came', () => {
    expect(withInstrumentDetail({ 'instrumentDetail.x': '1' })).toEqual({ instrumentDetail: { x: '1' } });
    expect(withInstrumentDetail({ INSTRUMENTDETAIL: '{"x":1}' })).toEqual({ INSTRUMENTDETAIL: { x: 1 } });
  });

  it.each(['', 'text', '{', '{x', '[1]', '"x"', null, 7, false])(
    'written as %j stays what it is',
    (InstrumentDetail) => {
      expect(withInstrumentDetail({ InstrumentDetail })).toEqual({ InstrumentDetail });
    },
  );

  it.each([
    'InstrumentDetail.a.b',
    'InstrumentDetail[a][b]',
    'InstrumentDetail[]',
    'InstrumentDetail.',
    'XInstrumentDetail.a',
  ])('is not what %s is', (name) => {
    expect(withInstrumentDetail({ [name]: '1' })).toEqual({ [name]: '1' });
  });

  it.each([
    [{ 'InstrumentDetail.a': '1', 'InstrumentDetail[a]': '1' }, 'repeated_field'],
    [{ 'InstrumentDetail.a': '1', 'instrumentDetail.A': '2' }, 'repeated_field'],
    [{ 'InstrumentDetail.A': '1', 'instrumentDetail.a': '2' }, 'repeated_field'],
    [{ InstrumentDetail: { a: '1' }, 'InstrumentDetail.A': '2' }, 'repeated_field'],
    [{ InstrumentDetail: '{"a":1}', 'InstrumentDetail.A': '2' }, 'repeated_field'],
    [{ InstrumentDetail: '{"a":1,"A":2}' }, 'repeated_field'],
    [{ InstrumentDetail: 'text', 'InstrumentDetail.a': '1' }, 'repeated_field'],
    [{ 'InstrumentDetail.a': '1', instrumentdetail: 'text' }, 'repeated_field'],
    [{ InstrumentDetail: '{"a":{"b":1}}' }, 'nested_field'],
    [{ InstrumentDetail: '{"a":[1]}' }, 'nested_field'],
    [{ InstrumentDetail: '{"__proto__":1}' }, 'nested_field'],
    [{ InstrumentDetail: `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}` }, 'nested_field'],
    [{ 'InstrumentDetail[__proto__]': '1' }, 'nested_field'],
  ] as [CallbackFields, string][])('is refused in %j', (fields, expected) => {
    expect(refusal(fields)).toBe(expected);
  });

  it('has 64 members at most, in a JSON text too', () => {
    const json = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"a${index}":1`).join()}}`;
    expect(refusal({ InstrumentDetail: json(64) })).toBe('none');
    expect(refusal({ InstrumentDetail: json(65) })).toBe('too_large');
    expect(refusal({ InstrumentDetail: json(7_000) })).toBe('too_large');
  });
});
