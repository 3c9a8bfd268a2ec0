import fc from 'fast-check';
import {
  callbackField,
  hasCallbackValue,
  readCallbackFields,
  gatherObjects,
} from '../../../lib/gateway/callback/callback-fields.js';
import { PaymentCallbackError } from '../../../lib/errors/payment-errors.js';

const RUNS = process.env.RELEASE === '1' ? 100_000 : 2_000;

function refusal(received: unknown): string {
  try {
    readCallbackFields(received, ['InstrumentDetail']);
  } catch (error) {
    if (error instanceof PaymentCallbackError) return error.refusal;
    throw error;
  }
  return 'none';
}

describe('what the bank sent', () => {
  it('stays as received, names and values', () => {
    const received = {
      Code: 'B0000',
      message: ' Onaylandı \u0000\r\nSet-Cookie: a=b ',
      MdStatusMessage: '',
      n: 1.5,
      yes: true,
      nothing: null,
      'odd name[]=&': 'x',
      InstrumentDetail: { CardType: 'CARD', n: 1 },
      'InstrumentDetail2.X': 'y',
    };
    expect(readCallbackFields(received, ['InstrumentDetail'])).toEqual(received);
    expect(Object.keys(readCallbackFields(received, ['InstrumentDetail']))).toEqual(Object.keys(received));
  });

  it.each([
    { 'InstrumentDetail.CardType': 'CARD', 'InstrumentDetail.Bank': 'X' },
    { 'InstrumentDetail[CardType]': 'CARD', 'instrumentdetail[Bank]': 'X' },
    { InstrumentDetail: '{"CardType":"CARD"}' },
  ])('stays as received, in whatever way the detail is written: %j', (received) => {
    expect(readCallbackFields(received, ['InstrumentDetail'])).toEqual(received);
  });

  it('is read from an object without a prototype, as a query is', () => {
    const received = Object.assign(Object.create(null) as object, { Code: 'B0000' });
    expect(readCallbackFields(received, ['InstrumentDetail'])).toEqual({ Code: 'B0000' });
  });

  it.each([null, undefined, '', 'Code=B0000', 7, true, [], [{ Code: 'B0000' }], Symbol('x'), () => ({})])(
    'is no callback when it is %p',
    (received) => {
      expect(refusal(received)).toBe('not_a_callback');
    },
  );

  it.each([
    ['a list', { Code: ['B0000', 'B0000'] }, 'repeated_field'],
    ['an empty list', { Code: [] }, 'repeated_field'],
    ['two cases', { Code: 'B0000', code: 'B0000' }, 'repeated_field'],
    ['two cases of the detail', { InstrumentDetail: { a: '1' }, instrumentDetail: { b: '1' } }, 'repeated_field'],
    ['two cases in the detail', { InstrumentDetail: { a: '1', A: '1' } }, 'repeated_field'],
    ['a detail in two ways', { InstrumentDetail: { a: '1' }, 'InstrumentDetail.A': '1' }, 'repeated_field'],
    ['a list in the detail', { InstrumentDetail: { a: ['1'] } }, 'repeated_field'],
    ['a list for a detail', { InstrumentDetail: ['1'] }, 'repeated_field'],
    ['an object', { Code: { a: '1' } }, 'nested_field'],
    ['an object in the detail', { InstrumentDetail: { a: { b: '1' } } }, 'nested_field'],
    ['a date', { Code: new Date() }, 'nested_field'],
    ['a bigint', { Code: 1n }, 'nested_field'],
    ['a function', { Code: () => 1 }, 'nested_field'],
    ['undefined', { Code: undefined }, 'nested_field'],
    ['constructor', { constructor: 'x' }, 'nested_field'],
    ['prototype', { prototype: 'x' }, 'nested_field'],
    ['constructor in the detail', { InstrumentDetail: { constructor: 'x' } }, 'nested_field'],
  ])('is refused with %s', (_what, received, expected) => {
    expect(refusal(received)).toBe(expected);
  });

  it.each(['{"__proto__":"x"}', '{"__proto__":{"Code":"B0000"}}', '{"InstrumentDetail":{"__proto__":"x"}}'])(
    'is refused with %s, and nothing is polluted',
    (text) => {
      expect(refusal(JSON.parse(text))).toBe('nested_field');
      expect(({} as { Code?: string }).Code).toBeUndefined();
    },
  );

  it('may be 64 fields, those of the detail counted, and no more', () => {
    const many = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 'x']));
    expect(refusal(many(64))).toBe('none');
    expect(refusal(many(65))).toBe('too_large');
    expect(refusal(many(10_000))).toBe('too_large');
    expect(refusal({ ...many(60), InstrumentDetail: many(4) })).toBe('none');
    expect(refusal({ ...many(60), InstrumentDetail: many(5) })).toBe('too_large');
  });

  it('may be 64 KiB in names and values, and no more', () => {
    expect(refusal({ a: 'x'.repeat(65_535) })).toBe('none');
    expect(refusal({ a: 'x'.repeat(65_536) })).toBe('too_large');
    expect(refusal({ ['n'.repeat(65_536)]: '' })).toBe('none');
    expect(refusal({ ['n'.repeat(65_537)]: '' })).toBe('too_large');
    expect(refusal({ a: 'x'.repeat(40_000), InstrumentDetail: { b: 'x'.repeat(40_000) } })).toBe('too_large');
  });

  it('may nest 10,000 deep and is refused', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`) as object;
    expect(refusal(deep)).toBe('nested_field');
    expect(refusal({ InstrumentDetail: deep })).toBe('nested_field');
    expect(refusal({ InstrumentDetail: JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`) as object })).toBe(
      'repeated_field',
    );
  });

  it('is read or refused, whatever it is, and what is read is flat and not more than came', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'Code',
        'code',
        'InstrumentDetail',
        'instrumentdetail',
        'InstrumentDetail.X',
        'InstrumentDetail[X]',
      ),
      fc.constantFrom('__proto__', 'constructor', 'toString', 'InstrumentDetail[__proto__]', 'InstrumentDetail.a.b'),
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('{"X":1}', '{"__proto__":{"a":1}}', '{', '{"a":[1]}', '{"X":1,"x":2}'),
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
    );
    const received = fc.oneof(
      { weight: 4, arbitrary: fc.dictionary(name, value, { noNullPrototype: false }) },
      { weight: 1, arbitrary: fc.anything() },
    );
    fc.assert(
      fc.property(received, (received) => {
        let fields;
        try {
          fields = readCallbackFields(received, ['InstrumentDetail']);
          gatherObjects(fields, ['InstrumentDetail']);
        } catch (error) {
          expect(error).toBeInstanceOf(PaymentCallbackError);
        }
        for (const [name, value] of Object.entries(fields ?? {})) {
          const came = (received as Record<string, unknown>)[name];
          if (typeof value === 'object' && value !== null) {
            expect(name.toLowerCase()).toBe('instrumentdetail');
            expect(Object.values(value).every((inner) => inner === null || typeof inner !== 'object')).toBe(true);
          } else expect(value).toBe(came);
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 300_000);
});

describe('a field', () => {
  const fields = { conversationID: 'A', empty: '', nothing: null, n: 7, no: false, InstrumentDetail: { a: '1' } };

  it('is found in any case, as text', () => {
    expect(callbackField(fields, 'ConversationId')).toBe('A');
    expect(callbackField(fields, 'N')).toBe('7');
    expect(callbackField(fields, 'no')).toBe('false');
  });

  it('is null where it is absent, empty or an object', () => {
    for (const name of ['empty', 'nothing', 'missing', 'toString', '__proto__', 'instrumentDetail']) {
      expect(callbackField(fields, name)).toBeNull();
    }
  });

  it('counts as missing where it is empty', () => {
    for (const name of ['conversationid', 'instrumentdetail']) expect(hasCallbackValue(fields, name)).toBe(true);
    for (const name of ['EMPTY', 'nothing', 'missing', 'toString', '__proto__', 'a']) {
      expect(hasCallbackValue(fields, name)).toBe(false);
    }
    expect(hasCallbackValue({ zero: 0, no: false }, 'ZERO')).toBe(true);
    expect(hasCallbackValue({ zero: 0, no: false }, 'no')).toBe(true);
    expect(hasCallbackValue({ detail: {} }, 'detail')).toBe(false);
  });
});
