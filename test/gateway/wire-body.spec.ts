import { jest } from '@jest/globals';
import fc from 'fast-check';
import { signedFields, WireDecimal, type WireObject, wireText } from '../../lib/gateway/wire-body.js';

const decimal = (text: string): WireDecimal => new WireDecimal(text);
const NAME = '","amount":1,"x":"';

test.each<[WireObject, string]>([
  ...['60.00', '60', '0.10', '1.5000', '999999999999999', '1234567890123.45'].map((text): [WireObject, string] => {
    const body = { a: { amount: decimal(text) }, b: [decimal(text), decimal('0.00')] };
    return [body, `{"a":{"amount":${text}},"b":[${text},0.00]}`];
  }),
  [{ a: undefined, b: null, c: { d: undefined }, e: false }, '{"b":null,"c":{},"e":false}'],
  // No text can add a field.
  [{ [NAME]: NAME, a: decimal('1.0') }, `{${JSON.stringify(NAME)}:${JSON.stringify(NAME)},"a":1.0}`],
  // A dialect in plain JavaScript may use a Date.
  [{ at: new Date('2026-03-01T12:00:00Z') as unknown as WireObject }, '{"at":"2026-03-01T12:00:00.000Z"}'],
])('%j is written as %s', (body, text) => {
  expect(wireText(body)).toBe(text);
});

test('nobody can guess how an amount is marked until its quotes are taken away', () => {
  const written = jest.spyOn(JSON, 'stringify');
  wireText({ amount: decimal('60.00') });
  expect(written.mock.results[0]?.value).toMatch(/^{"amount":"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}60\.00"}$/);
});

test('a body without an amount is the text that JSON writes, whatever it holds', () => {
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant(undefined));
  const body = fc.dictionary(fc.string(), value) as fc.Arbitrary<WireObject>;
  fc.assert(fc.property(body, (fields) => expect(wireText(fields)).toBe(JSON.stringify(fields))));
});

test('the fields that are signed are a copy of the body with its amounts as texts, without what is undefined', () => {
  const body = { a: 'x', n: 3, t: true, z: null, u: undefined, d: { amount: decimal('60.00'), v: undefined } };
  const fields = signedFields(body);
  expect(JSON.stringify(fields)).toBe('{"a":"x","n":3,"t":true,"z":null,"d":{"amount":"60.00"}}');
  (fields.d as { amount: string }).amount = '1.00';
  expect(wireText({ d: body.d })).toBe('{"d":{"amount":60.00}}');
});
