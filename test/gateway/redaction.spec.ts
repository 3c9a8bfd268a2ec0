import { redactResult } from '../../lib/gateway/redaction.js';
import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import { cpuMs } from '../rigs/cpu-time.js';

const card = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
const KEY = 'an-api-key/with+signs;and more';
const secrets = [KEY, 'SIGN=', ''];
const result = (told: Partial<GatewayResult>): GatewayResult => told as GatewayResult;
const message = (text: string): string | null => redactResult(result({ message: text }), { secrets, card }).message;

const ENCODINGS: [string, (text: string) => string][] = [
  ['plain', (text) => text],
  ['in Base64', (text) => Buffer.from(text).toString('base64')],
  ['in Base64 within a text', (text) => Buffer.from(`x:${text}.`).toString('base64url')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in URL escapes', (text) => encodeURIComponent(text)],
  ['in nothing but URL escapes', (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&')],
  ['in JSON with escaped slashes', (text) => text.replaceAll('/', '\\/')],
  ['in JSON escapes', (text) => Buffer.from(text).toString('hex').replace(/../g, '\\u00$&')],
];

describe('what a gateway echoes', () => {
  describe.each(ENCODINGS)('%s', (_how, encode) => {
    it.each([
      ['the card', card.cardNo],
      ['a key', KEY],
    ])('is in no message: %s', (_what, text) => {
      const shown = message(`No ${encode(text)}, sorry`);
      expect(shown ?? '').not.toContain(encode(text));
      expect(shown ?? '').not.toMatch(/[02-8]{4}|api|key|signs/);
    });

    it.each(['code', 'orderId', 'authCode', 'transactionDate', 'amount', 'conversationId'] as const)(
      'drops %s that is or holds it',
      (name) => {
        for (const text of [card.cardNo, KEY]) {
          for (const told of [encode(text), `1-${encode(text)}-2`]) {
            expect(redactResult(result({ [name]: told }), { secrets, card })).toEqual({ [name]: null });
          }
        }
      },
    );
  });

  it('is hidden in a message that stays readable', () => {
    expect(message(`No 5246776356903508/792/1230 by ${KEY}, ${KEY}`)).toBe('No ******/**** by ***, ***');
    expect(message('Yetersiz hesap, order 7921')).toBe('Yetersiz hesap, order 7921');
  });

  it.each([4, 6, 12])('is in no message in Base64 that is cut into pieces of %d', (size) => {
    for (const text of [KEY, card.cardNo]) {
      const pieces =
        Buffer.from(text)
          .toString('base64')
          .match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      expect(message(`No ${pieces.join(' ')}, sorry`)).toBe(text === KEY ? null : '***');
    }
  });

  it('leaves identifiers alone that merely hold such digits, and secrets too short to be told from others', () => {
    const told = result({ orderId: 'ORD-792-1230', authCode: '001230', paymentId: '5246776906903508 SIGN=' });
    expect(redactResult(told, { secrets, card })).toEqual(told);
  });

  it.each([
    ['all but its last digit', '524677635690350'],
    ['its middle', 'ORD-76356903'],
    ['its middle, in pieces', '7635.6903'],
  ])('drops what shows more of the card than its mask: %s', (_what, orderId) => {
    expect(redactResult(result({ orderId }), { secrets, card })).toEqual({ orderId: null });
  });

  it('keeps a number that has a row of zeros in common with the card', () => {
    const told = result({ orderId: 'ORD000000001' });
    expect(redactResult(told, { secrets, card: { ...card, cardNo: '4000000000000002' } })).toEqual(told);
  });

  it('drops an id that is the code or the expiry, and a secret in another case', () => {
    const told = result({ authCode: '792', orderId: '1230', paymentId: KEY.toUpperCase() });
    expect(redactResult(told, { secrets, card })).toEqual({ authCode: null, orderId: null, paymentId: null });
  });

  it.each([
    '1230',
    '12/30',
    '12-30',
    '12.30',
    '12 30',
    '12 / 30',
    '12/2030',
    '122030',
    '3012',
    '30/12',
    '2030-12',
    '203012',
  ])('hides the expiry in a message without the card number, too: %s', (expiry) => {
    expect(message(`cvv 792 and ${expiry} are wrong, order 7921`)).toMatch(
      /^cvv \*{3} and [*/. -]+ are wrong, order 7921$/,
    );
  });

  it('hides code and expiry wherever they stand', () => {
    expect(message('cvv 792, again 792, exp 12/30 or 30-12 or 12/30')).toBe(
      'cvv ***, again ***, exp **/** or **-** or **/**',
    );
  });

  it('hides code and expiry in other digits and in escapes', () => {
    expect(message('cvv%20792 １２/３０')).not.toMatch(/\p{Nd}{3}|\/３/u);
  });

  it.each(['90', '1231', '11/30', '0792', '7920', '13:30'])('leaves numbers that are neither: %s', (other) => {
    expect(message(`not ${other} here`)).toBe(`not ${other} here`);
  });

  it('hides an expiry of one digit before the year', () => {
    const early = { ...card, expDate: '0330' };
    const told = result({ message: 'exp 3/30, 03/30, 30-3' });
    expect(redactResult(told, { secrets, card: early }).message).toBe('exp */**, **/**, **-*');
  });

  it('hides each of several secrets', () => {
    const both = { secrets: [KEY, 'another secret'], card };
    for (const secret of both.secrets) {
      const encoded = Buffer.from(secret).toString('base64');
      expect(redactResult(result({ orderId: secret, authCode: encoded }), both)).toEqual({
        orderId: null,
        authCode: null,
      });
    }
  });

  it('hides a short secret beside a long one, encoded, too', () => {
    const authCode = Buffer.from('abcdefgh').toString('base64');
    expect(redactResult(result({ authCode }), { secrets: [KEY, 'abcdefgh'] })).toEqual({ authCode: null });
  });

  it('hides secrets where no card was sent', () => {
    const told = result({ message: `5246776356903508 ${KEY}`, orderId: null });
    expect(redactResult(told, { secrets })).toEqual({ message: '*** ***', orderId: null });
  });

  it('takes what is no text for nothing told', () => {
    expect(redactResult(result({ code: 5 as never }), { secrets })).toEqual({ code: null });
  });

  it('drops what is too long to be an id', () => {
    expect(redactResult(result({ orderId: 'x'.repeat(256) }), { secrets })).toEqual({ orderId: null });
    expect(redactResult(result({ orderId: 'x'.repeat(255) }), { secrets })).toEqual({ orderId: 'x'.repeat(255) });
  });

  it('takes eight characters for a secret, and fewer for none', () => {
    const told = result({ orderId: 'abcdefgh-1', paymentId: 'zyxwvut-1', message: 'abcdefgh and zyxwvut' });
    expect(redactResult(told, { secrets: ['abcdefgh', 'zyxwvut'] })).toEqual({
      orderId: null,
      paymentId: 'zyxwvut-1',
      message: '*** and zyxwvut',
    });
  });

  it('does not pass on what a dialect could not read', () => {
    expect(redactResult(result({ orderId: 'o-1', unreadable: ['amount'] }), { secrets })).toEqual({ orderId: 'o-1' });
  });
});

describe('a long message', () => {
  const words = 'refused '.repeat(200);

  it('keeps its first 1,000 characters', () => {
    for (const length of [1_000, 1_001, 1_000 + 6 * KEY.length]) {
      expect(message(words.slice(0, length))).toBe(words.slice(0, 1_000));
    }
  });

  it('keeps no beginning of a number, wherever it is cut', () => {
    const escaped = Buffer.from('refused ').toString('hex').replace(/../g, '%$&');
    for (let at = 980; at <= 1_000; at += 1) {
      const cut = `${words.slice(0, at - 1)} 7654321`.slice(0, 1_000);
      expect(message(`${cut}${'9'.repeat(2_000)}`)).not.toMatch(/\d/);
      expect(message(`%20${escaped}${cut.slice(27)}${'9'.repeat(2_000)}`)).not.toMatch(/\d/);
    }
  });

  it('keeps no beginning of a secret, wherever it is cut', () => {
    for (let at = 990; at <= 1_200; at += 1) {
      const shown = message(`${'refused '.repeat(200).slice(0, at)}${KEY} and ${'more words '.repeat(100_000)}`);
      expect(shown).not.toMatch(/an-|api|key/);
    }
  });

  it('keeps no beginning of a secret though what stood before it became shorter', () => {
    const escapes = Buffer.from('refused ').toString('hex').replace(/../g, '%$&');
    for (let count = 0; count < 60; count += 1) {
      const shown = message(`cvv ${card.cvv} ${escapes.repeat(count)}${KEY}${'z '.repeat(2_000)}`);
      expect(shown ?? '').not.toMatch(/an-|api|key/);
    }
  });

  it.each(['4', '4 ', '12', '%34', 'aA1', '12/30 ', 'an-api-key/with+signs;and mor'])(
    'costs no more than a short one: a mebibyte of %p',
    (part) => {
      const text = part.repeat(1_048_576 / part.length);
      const times = [1, 2, 3].map(() => {
        const began = cpuMs();
        redactResult(result({ message: text, orderId: text }), { secrets, card });
        return cpuMs() - began;
      });
      expect(Math.min(...times)).toBeLessThan(100);
    },
  );
});
