import { inspect } from 'node:util';
import { type Secret, searchFor } from './secret-search.js';

const SECRETS: Secret[] = [
  { name: 'card', text: '5246776356903508' },
  { name: 'key', text: 'k3y/with+signs=and;more' },
  { name: 'cvv', text: '792', isShort: true },
  { name: 'expiry', text: '1230', isShort: true },
];

function found(text: string): string[] {
  return [...new Set(searchFor(SECRETS, [{ source: 'planted', text }]).map(({ secret }) => secret))];
}

/** Every character escaped, and every other one. */
function escaped(text: string, escape: (code: number) => string, every: number): string {
  return [...text].map((char, index) => (index % every === 0 ? escape(char.charCodeAt(0)) : char)).join('');
}

const WAYS: [string, (text: string) => string][] = [
  ['plain', (text) => text],
  ['in a line', (text) => `Payment ABC: failed (${text}) at 12`],
  ...[0, 1, 2].flatMap((shift): [string, (text: string) => string][] => [
    [`Base64, shifted by ${shift}`, (text) => Buffer.from(`${'x'.repeat(shift)}${text}tail`).toString('base64')],
    [`Base64url, shifted by ${shift}`, (text) => Buffer.from(`${'?'.repeat(shift)}${text}>`).toString('base64url')],
  ]),
  ['hex', (text) => Buffer.from(text).toString('hex')],
  ['upper-case hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['printed buffer', (text) => inspect(Buffer.from(text))],
  ['JSON of a buffer', (text) => JSON.stringify(Buffer.from(text))],
  ['printed bytes', (text) => inspect(new Uint8Array(Buffer.from(text)))],
  ...[1, 2].flatMap((every): [string, (text: string) => string][] => [
    [`URL escapes, each ${every}.`, (text) => escaped(text, (code) => `%${code.toString(16)}`, every)],
    [
      `JSON escapes, each ${every}.`,
      (text) => escaped(text, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`, every),
    ],
    [`HTML escapes, each ${every}.`, (text) => escaped(text, (code) => `&#${code};`, every)],
    [`HTML hex escapes, each ${every}.`, (text) => escaped(text, (code) => `&#x${code.toString(16)};`, every)],
  ]),
  ['encodeURIComponent', (text) => encodeURIComponent(text)],
];

describe('the search for secrets', () => {
  describe.each(WAYS)('%s', (_way, write) => {
    it.each(['5246776356903508', 'k3y/with+signs=and;more'])('finds %s', (text) => {
      expect(found(write(text))).toHaveLength(1);
    });

    it.each([
      ['cvv', '{"cvv":"792"}'],
      ['expiry', '{"cardNo":"x","expDate":"1230","cvv":"y"}'],
    ])('finds the %s in its field', (name, text) => {
      expect(found(write(text))).toEqual([name]);
    });
  });

  it.each(['5246 7763 5690 3508', '5246-7763-5690-3508', 'No5246776356903508x', "{ cardNo: '5246776356903508' }"])(
    'finds a card in %s',
    (text) => expect(found(text)).toEqual(['card']),
  );

  it.each(['cvv 792', "cvv: '792'", 'cvv=792&', '(792)', '792', '12/30', '12/2030', 'exp 1230,'])(
    'finds a code or expiry in %s',
    (text) => expect(found(text)).toHaveLength(1),
  );

  it.each(['792000', 'B0792', '12:30:00', '2030-12-30T12:30:00.792Z', 'x-792-y', '524677******3508', 'AbC792'])(
    'finds nothing in %s',
    (text) => expect(found(text)).toEqual([]),
  );
});
