import fc from 'fast-check';
import { signedFields, WireDecimal, type WireObject, wireText } from '../../lib/gateway/wire-body.js';

describe('the text of a body', () => {
  it.each(['60.00', '60', '0.10', '1.5000', '999999999999999', '1234567890123.45'])(
    'carries the amount %s digit for digit',
    (amount) => {
      expect(wireText({ a: { amount: new WireDecimal(amount) }, b: [new WireDecimal(amount)] })).toBe(
        `{"a":{"amount":${amount}},"b":[${amount}]}`,
      );
    },
  );

  it('carries several amounts, each in its place', () => {
    const amounts = Array.from({ length: 12 }, (_, index) => new WireDecimal(`${index}.00`));
    expect(wireText({ amounts })).toBe('{"amounts":[0.00,1.00,2.00,3.00,4.00,5.00,6.00,7.00,8.00,9.00,10.00,11.00]}');
  });

  it('leaves out what is undefined and keeps null', () => {
    expect(wireText({ a: undefined, b: null, c: { d: undefined }, e: false })).toBe('{"b":null,"c":{},"e":false}');
  });

  it('escapes texts: none can add a field', () => {
    const name = '","amount":1,"x":"';
    const text = wireText({ name, [name]: 'key', amount: new WireDecimal('60.00') });
    expect(text.endsWith(',"amount":60.00}')).toBe(true);
    expect(JSON.parse(text)).toEqual({ name, [name]: 'key', amount: 60 });
  });

  it('is the text that JSON writes, where there is no amount', () => {
    const body = fc.dictionary(
      fc.string(),
      fc.oneof(fc.jsonValue(), fc.constant(undefined)),
    ) as fc.Arbitrary<WireObject>;
    fc.assert(fc.property(body, (fields) => expect(wireText(fields)).toBe(JSON.stringify(fields))));
  });

  it('leaves to JSON what writes itself', () => {
    const at = new Date('2026-03-01T12:00:00Z') as unknown as WireObject;
    expect(wireText({ at })).toBe('{"at":"2026-03-01T12:00:00.000Z"}');
  });

  it('is JSON where a dialect in plain JavaScript gives a list with holes', () => {
    const list: (string | undefined)[] = ['a'];
    list[2] = 'b';
    expect(wireText({ list } as unknown as WireObject)).toBe('{"list":["a",null,"b"]}');
  });

  it('carries the amount of what writes itself digit for digit, as it is signed', () => {
    const part = { toJSON: () => ({ amount: new WireDecimal('60.00') }) } as unknown as WireObject;
    expect(wireText({ part })).toBe('{"part":{"amount":60.00}}');
    expect(signedFields({ part })).toEqual({ part: { amount: '60.00' } });
  });

  it('carries any texts as they are, and the amount as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), (texts) => {
        const { amount: _amount, ...others } = texts;
        const text = wireText({ ...others, amount: new WireDecimal('60.00') });
        expect(text).toContain('"amount":60.00');
        expect(JSON.parse(text)).toEqual({ ...others, amount: 60 });
      }),
    );
  });
});

describe('the fields that are signed', () => {
  it('are the body with its amounts as texts, without what is undefined', () => {
    const body = {
      a: 'x',
      n: 3,
      t: true,
      z: null,
      u: undefined,
      d: { amount: new WireDecimal('60.00'), v: undefined },
    };
    const fields = signedFields(body);
    expect(fields).toEqual({ a: 'x', n: 3, t: true, z: null, d: { amount: '60.00' } });
    expect(Object.keys(fields)).toEqual(['a', 'n', 't', 'z', 'd']);
  });

  it('are a copy: a signer that changes them changes nothing on the wire', () => {
    const body = { d: { amount: new WireDecimal('60.00') } };
    (signedFields(body).d as { amount: string }).amount = '1.00';
    expect(wireText(body)).toBe('{"d":{"amount":60.00}}');
  });
});
