import fc from 'fast-check';
import { decodings, withoutEscapes } from '../../lib/payment/decodings.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const holds = (text: string, wanted: string): boolean => decodings(text).some((reading) => reading.includes(wanted));

describe('a text without its escapes', () => {
  it.each([
    ['%41', 'A'],
    ['%c3%b6 %C3%96', 'ö Ö'],
    ['100% of 5%', '100% of 5%'],
    ['\\u0041\\u00f6', 'Aö'],
    ['\\U0041', 'A'],
    ['\\x41\\X4a', 'AJ'],
    ['\\"a\\" \\\'b\\\' c\\/d \\\\', '"a" \'b\' c/d \\'],
    ['\\n', '\\n'],
    ['&#x41;&#X4A;', 'AJ'],
    ['&#x00041;', 'A'],
    ['&#x1f600;', '😀'],
    ['&#x41 &#65 ', 'A A '],
    ['&#65;&#0065;', 'AA'],
    ['a &amp; b', 'a & b'],
    ['&amp;#52;&AMP;amp;#x34;', '44'],
    ['&#128512;', '😀'],
    ['&#xfffff;', '\u{fffff}'],
    ['&#999999;', '\u{f423f}'],
    ['ＡＢ１²', 'AB12'],
    ['%EF%BC%91', '1'],
    ['&#65297;', '1'],
  ])('%p is %p', (text, plain) => expect(withoutEscapes(text)).toBe(plain));

  it('is undone as often as eight times', () => {
    const escaped = (times: number): string => `%${'25'.repeat(times - 1)}41`;
    expect(withoutEscapes(escaped(8))).toBe('A');
    expect(withoutEscapes(escaped(9))).toBe('%41');
  });

  it('is undone one kind of escape in another', () => {
    expect(withoutEscapes('%5cu0034')).toBe('4');
    expect(withoutEscapes('&#37;34')).toBe('4');
    expect(withoutEscapes('\\u0026#52;')).toBe('4');
  });
});

describe('what a text may say', () => {
  const SECRET = 'a secret: 4508';

  it('is itself, first', () => {
    expect(decodings('abc')[0]).toBe('abc');
  });

  it('is each thing once', () => {
    const all = decodings(base64(SECRET));
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    ['Base64', base64],
    ['hex', hex],
    ['hex in capitals', (text: string) => hex(text).toUpperCase()],
    ['percent escapes', (text: string) => hex(text).replace(/../g, '%$&')],
  ])('is what it says in %s', (_how, encode) => {
    expect(holds(encode(SECRET), SECRET)).toBe(true);
  });

  it('is Base64 and hex however they are spaced, and wherever they begin', () => {
    for (const before of ['', 'a', 'ab', 'abc']) expect(holds(before + base64(SECRET), SECRET)).toBe(true);
    for (const before of ['', 'a']) expect(holds(before + hex(SECRET), SECRET)).toBe(true);
    expect(holds([...base64(SECRET)].join(' '), SECRET)).toBe(true);
    expect(holds([...hex(SECRET)].join(':'), SECRET)).toBe(true);
  });

  it('is Base64 in the signs of URLs, too', () => {
    const text = '???>>>~~~ 4508';
    expect(base64(text)).toMatch(/[+/]/);
    expect(holds(base64(text), text)).toBe(true);
    expect(holds(Buffer.from(text).toString('base64url'), text)).toBe(true);
    const other = '>>>>>>~~~ 4508';
    expect(Buffer.from(other).toString('base64url')).toContain('-');
    expect(holds(Buffer.from(other).toString('base64url'), other)).toBe(true);
  });

  it('is one encoding in another, and no more than that', () => {
    expect(holds(base64(base64(SECRET)), SECRET)).toBe(true);
    expect(holds(hex(base64(SECRET)), SECRET)).toBe(true);
    expect(holds(base64(hex(SECRET)), SECRET)).toBe(true);
    expect(holds(base64(encodeURIComponent(SECRET)), SECRET)).toBe(true);
    expect(holds(base64(base64(base64(SECRET))), SECRET)).toBe(false);
  });
});

describe('what is searched for in what a text may say', () => {
  const encode = fc.constantFrom<((text: string) => string)[]>(
    (text) => text,
    base64,
    hex,
    (text) => base64(base64(text)),
    (text) => hex(base64(text)),
    (text) => [...base64(text)].join(' '),
    (text) => encodeURIComponent(text),
    (text) => hex(text).replace(/../g, '%$&'),
  );
  const sought = fc.oneof(fc.stringMatching(/^[0-9]{12,19}$/), fc.stringMatching(/^[a-zA-Z0-9+/=]{8,24}$/));
  const noise = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: 'binary', maxLength: 30 }));

  it('is found by its length where it is found without', () => {
    let found = 0;
    fc.assert(
      fc.property(noise, sought, encode, noise, (before, secret, as, after) => {
        const text = before + as(secret) + after;
        const isIn = (reading: string): boolean => reading.includes(secret);
        const isFound = decodings(text).some(isIn);
        found += Number(isFound);
        expect(decodings(text, secret.length).some(isIn)).toBe(isFound);
        expect(decodings(before, secret.length).some(isIn)).toBe(decodings(before).some(isIn));
      }),
      { numRuns: 2_000 },
    );
    expect(found).toBeGreaterThan(500);
  });

  it('is found where its encoding is the whole text', () => {
    for (let length = 8; length <= 24; length += 1) {
      const secret = 'a secret of many letters'.slice(0, length);
      for (const encoded of [base64(secret), Buffer.from(secret).toString('base64url'), hex(secret)]) {
        expect(decodings(encoded, length)).toContain(secret);
      }
    }
  });

  it('is not searched for where nothing of its length can be', () => {
    expect(decodings('B0000', 12)).toEqual(['B0000']);
    expect(decodings('ORD000000001', 16)).toEqual(['ORD000000001']);
  });
});
