import fc from 'fast-check';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';

function parse(text: string): ReplyFields {
  const fields = ReplyFields.parse(text);
  if (!fields) throw new Error('not read');
  return fields;
}

describe('the fields of a reply', () => {
  it('are none in what is no JSON object, nor where a number is none', () => {
    const others = ['', 'null', '[{"code":"B0000"}]', '"B0000"', '<html>', '{"code":"B0000"', '{1:2}', '{"a":"b",1:2}'];
    const numbers = ['01', '1.', '.5', '+1', '1e', '0x10', 'NaN', '-', '1 2', '1,2:3'];
    for (const text of [...others, ...numbers.map((number) => `{"amount":${number}}`)]) {
      expect([text, ReplyFields.parse(text)]).toEqual([text, null]);
    }
  });

  it.each(['-0', '60.00', '1E+2', '-12.50e-3', '12345678901234567890.123456789'])(
    'keep the number %s as it was written',
    (number) => {
      expect(parse(`{"a":${number}}`).text('a')).toBe(number);
      expect(parse(`{"b":[1,{"a": ${number} }],"a":\n${number}\t}`).text('a')).toBe(number);
      expect([...parse(`{"x":[${number}]}`).texts()]).toEqual([number]);
    },
  );

  it('keep digits in texts and names as they are', () => {
    const fields = parse('{"a1":"1.50 \\"2.50\\" \\\\","3":"4","\\u0041b\\"5":"\\u0031"}');
    expect([fields.text('a1'), fields.text('3'), fields.text('ab"5')]).toEqual(['1.50 "2.50" \\', '4', '1']);
  });

  it.each<[string, has: boolean, text: string | null, object: boolean, flag?: boolean]>([
    ['true', true, null, false, true],
    ['null', false, null, false],
    ['""', false, null, false],
    ['["x"]', true, null, false],
    ['{"x":1}', true, null, true],
    ['1', true, '1', false],
  ])('that are %s: whether they are there, their text, object and boolean', (...row) => {
    const [value, has, text, object, flag = null] = row;
    const fields = parse(`{"A":${value}}`);
    expect([fields.has('a'), fields.text('a'), fields.object('a') !== null, fields.flag('a')]).toEqual([
      has,
      text,
      object,
      flag,
    ]);
    expect([fields.isNotText('a'), fields.isAmbiguous('a'), fields.has('b')]).toEqual([
      has && text === null,
      false,
      false,
    ]);
  });

  it('have the texts at any depth, and none that stands below a prototype', () => {
    const fields = parse('{"a":null,"b":true,"c":["x",null,{"d":"y","n":1.50}],"__proto__":{"a":"z"},"e":"","E":"w"}');
    expect([...fields.texts()].sort()).toEqual(['', '1.50', 'w', 'x', 'y']);
    expect(fields.list('c', 9)?.map((item) => item?.text('d'))).toEqual([undefined, undefined, 'y']);
    expect(fields.list('c', 2)).toHaveLength(2);
  });

  it.each([
    '{"code":"B0000","Code":"B0051"}',
    '{"code":null,"CODE":"","Code":"B0000"}',
    '{"code":{"a":1},"Code":{"a":1}}',
    // With one name, JSON keeps the last value alone.
    '{"code":"B0000","code":"B0051"}',
    '{"x":null,"code":"B0000","code":"B0051"}',
    '{"code":"B0000","c\\u006fde" : "B0000"}',
    '{"x":{"code":"B0000","code":1},"code":"B0051"}',
    '{"code":"B0000","x":[{"code":1}],"code":"B0000"}',
  ])('that stand twice with different values, or with one name, are not believed: %s', (text) => {
    const fields = parse(text);
    expect([fields.isAmbiguous('code'), fields.has('code'), fields.isNotText('code')]).toEqual([true, true, true]);
    expect([fields.text('code'), fields.object('code')]).toEqual([null, null]);
  });

  it('that stand twice are not believed in an object either, and others are', () => {
    const fields = parse('{"a":{"n":1,"n":2,"x":"n\\":"},"b":{"x":"y"},"x":{}}');
    expect([fields.object('a')?.text('n'), fields.object('a')?.text('x')]).toEqual([null, 'n":']);
    expect([fields.object('b')?.text('x'), fields.isAmbiguous('x')]).toEqual(['y', false]);
    expect(parse('{"code":"B0000","Code":"B0000"}').text('CODE')).toBe('B0000');
    // Of two objects with one name, neither counts, and what the first of them held may have been the answer's.
    expect(parse('{"x":{"code":"B0051"},"x":{},"code":"B0000"}').isAmbiguous('code')).toBe(true);
  });

  it('named like what every object has are fields like others', () => {
    const fields = parse('{"__proto__":{"code":"B0000"},"constructor":"x","toString":"y"}');
    expect([fields.text('code'), fields.object('__proto__')?.text('code')]).toEqual([null, 'B0000']);
    expect([fields.text('constructor'), parse('{}').has('constructor')]).toEqual(['x', false]);
    expect(({} as { code?: string }).code).toBeUndefined();
  });

  it('may hold long texts, and nest 10,000 deep', () => {
    const text = '[,{\\"[,{\\\\'.repeat(50_000);
    expect(parse(`{"page":"${text}","code":"B0000"}`).text('code')).toBe('B0000');
    const fields = parse(`{"code":"B0000","x":${'[{"y":'.repeat(10_000)}1${'}]'.repeat(10_000)}}`);
    expect([fields.text('code'), ...fields.texts()]).toEqual(['B0000', '1', 'B0000']);
  });

  it('may be 30,000 values with what holds them, and no more', () => {
    const list = (value: string, count: number): string => `[${Array(count).fill(value).join()}]`;
    for (const [value, most] of [
      ['1', 29_999],
      ['"[,{"', 29_999],
      ['"\\""', 29_999],
      ['[]', 14_999],
      ['{}', 14_999],
    ] as const) {
      expect(ReplyFields.parse(`{"code":${list(value, most)}}`)).not.toBeNull();
      expect(ReplyFields.parse(`{"code":${list(value, most + 1)}}`)).toBeNull();
    }
    for (const text of ['\\\\', '\\\\\\"']) {
      expect(ReplyFields.parse(`{"a":"${text}","b":${list('1', 40_000)}}`)).toBeNull();
    }
  });

  it('of any JSON object have the texts that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const names = Object.keys(object);
        fc.pre(new Set(names.map((name) => name.toLowerCase())).size === names.length);
        const fields = parse(JSON.stringify(object));
        for (const [name, value] of Object.entries(object)) {
          const text = typeof value === 'number' ? JSON.stringify(value) : value;
          expect(fields.text(name)).toBe(typeof text === 'string' && text !== '' ? text : null);
        }
      }),
      { numRuns: 300 },
    );
  });
});
