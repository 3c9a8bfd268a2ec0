import { PaymentCallbackError } from '../../../lib/errors/payment-errors.js';
import type { CallbackFields } from '../../../lib/gateway/gateway-dialect.js';
import { gatherObjects, isObjectField } from '../../../lib/gateway/callback/callback-fields.js';

const NAMES = ['InstrumentDetail'];

function gathered(fields: CallbackFields): CallbackFields {
  return gatherObjects(fields, NAMES);
}

function refusal(fields: CallbackFields): string {
  try {
    gathered(fields);
  } catch (error) {
    if (error instanceof PaymentCallbackError) return error.refusal;
    throw error;
  }
  return 'none';
}

describe('an object of a callback', () => {
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
    expect(gathered({ Code: 'B0000', ...fields, n: 1 })).toEqual({
      Code: 'B0000',
      InstrumentDetail: DETAIL,
      n: 1,
    });
  });

  it('keeps its name as it came', () => {
    expect(gathered({ 'instrumentDetail.x': '1' })).toEqual({ instrumentDetail: { x: '1' } });
    expect(gathered({ INSTRUMENTDETAIL: '{"x":1}' })).toEqual({ INSTRUMENTDETAIL: { x: 1 } });
  });

  it.each(['', 'text', '{', '{x', '[1]', '"x"', null, 7, false])(
    'written as %j stays what it is',
    (InstrumentDetail) => {
      expect(gathered({ InstrumentDetail })).toEqual({ InstrumentDetail });
    },
  );

  it.each([
    'InstrumentDetail.a.b',
    'InstrumentDetail[a][b]',
    'InstrumentDetail[]',
    'InstrumentDetail.',
    'XInstrumentDetail.a',
  ])('is not what %s is', (name) => {
    expect(gathered({ [name]: '1' })).toEqual({ [name]: '1' });
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

describe('the objects of a callback', () => {
  it('are those that are named, each by itself, whatever their case', () => {
    const fields = { 'A.x': '1', 'b[x]': '2', 'C.x': '3', B: '{"y":4}' };
    expect(gatherObjects(fields, ['A', 'B'])).toEqual({ A: { x: '1' }, b: { x: '2', y: 4 }, 'C.x': '3' });
    expect(gatherObjects(fields, [])).toEqual(fields);
    expect([isObjectField('instrumentDETAIL', NAMES), isObjectField('InstrumentDetail.x', NAMES)]).toEqual([
      true,
      false,
    ]);
  });
});
