import fc from 'fast-check';
import { maskCardNumber } from '../../lib/payment/card-mask.js';
import { plainText } from '../../lib/payment/plain-text.js';
import { cpuMs } from '../rigs/cpu-time.js';

const CARD = '5246776356903508';
const MEBIBYTE = 1_048_576;
const shown = (text: string): string => plainText(text, 500);

describe('a text of others', () => {
  it('is kept on one line and free of what breaks terminals and stores', () => {
    expect(shown('a\r\nb\u0000c\u001b[31md\u0085e\u2028f\u2029g\u007fh')).toBe('a  b c [31md e f g h');
    expect(shown('%0d%0a card 5246%207763 5690 3508')).not.toMatch(/[\r\n]/);
  });

  it('says nothing that is not seen, and nothing backwards', () => {
    expect(shown('a\u202eb\u200bc\u00add\ue000e\u{e0041}f')).toBe('a b c d e f');
  });

  it('has no half of a surrogate pair', () => {
    expect(plainText('\ud800x', 10)).toBe('\ufffdx');
    expect(plainText('ab😀', 3)).toBe('ab\ufffd');
    expect(plainText('ab😀', 4)).toBe('ab😀');
  });

  it.each([
    'Yetersiz hesap',
    'Yetersiz bakiye, lütfen başka bir kart deneyin.',
    'Onaylandı ✓',
    'Order 17, 60.00 TRY, 05/02/2025 15:09:09',
    'Sipariş 20261234 için 149.90 TL iade edildi, %20 indirim',
    'Banka ile 21.11.2026 14:30 görüşüldü',
    '2026-11-21T14:30:00.000',
    'B0051 RVV0000 R0099',
    'ORD-2026-0017',
    'TypeError: PaymentNotSentError, HTTPClientException, E_NOT_CONFIGURED_PROPERLY',
    'refunded-ABCD1234-order, refunded-Abcde1234-order, refunded-abcd1234-order',
    'refunded-1234-5678-order',
    'connect ECONNREFUSED 127.0.0.1:5432 and 192.168.10.12',
    'at /srv/shop/node_modules/nodemailer/transport',
    'https://smtp.example.com/some/long/path-of-words',
    'uncharacteristically, INTERNATIONALISATION',
    '**** 4509',
    '450803XXXXXX is the BIN',
    '½ ｆｕｌｌ ﬁne',
    '',
  ])('stays readable: %p', (text) => expect(shown(text)).toBe(text));
});

const SPACES = [
  '',
  ' ',
  '  ',
  '.',
  '-',
  '/',
  ', ',
  '_',
  ':',
  '\t',
  '\n',
  '\u00a0',
  '\u200b',
  ' – ',
  '*',
  '|',
  'x',
  ' x ',
  'a',
];

describe('a long number', () => {
  it.each([
    [`Card ${CARD} was declined`, 'Card *** was declined'],
    ['Card 5246 7763 5690 3508.', 'Card **** **** **** ****.'],
    [`{"cardNo":"${CARD}"}`, '{"cardNo":"***"}'],
    ['tel 0532 123 45 67', 'tel **** *** ** **'],
    ['123456789', '*********'],
    ['12345678', '12345678'],
    ['4508034508******', '**********' + '******'],
    ['45080345****4509', '********' + '********'],
    ['450803XXXXXX4509', '***'],
    ['4508-****-4509', '****-****-****'],
    [`149.90 ${CARD}`, '***.** ***'],
    ['45.08.2034 50:80', '**.**.**** **:**'],
    ['4508.0345.0803.4509', '****.****.****.****'],
    ['256.255.255.255', '***.***.***.***'],
  ])('%p becomes %p', (text, hidden) => expect(shown(text)).toBe(hidden));

  it('is hidden however it is spaced', () => {
    const spaces = fc.array(fc.constantFrom(...SPACES), { minLength: 20, maxLength: 20 });
    const number = fc.stringMatching(/^[4-6]\d{12,18}$/);
    const words = fc.constantFrom('', 'kart ', 'No: ', ' refused', 'Onaylandı ');
    fc.assert(
      fc.property(number, spaces, words, words, (digits, between, before, after) => {
        const text = [...digits].map((digit, index) => digit + (between[index] ?? '')).join('');
        expect(shown(before + text + after)).not.toMatch(/\d/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never leaves nine digits together, whatever the text', () => {
    const part = fc.oneof(fc.stringMatching(/^\d{1,20}$/), fc.constantFrom(...SPACES), fc.string(), fc.constant('ab'));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        // Three asterisks replace a whole token, so digits on their two sides were not one number.
        const hidden = shown(parts.join('')).replace(/(?<!\*)\*{3}(?!\*)/g, 'ab');
        const rows = hidden.match(/\d(?:[^\p{L}\p{N}]*\d)*/gu) ?? [];
        const long = rows.filter((row) => row.replace(/\D/g, '').length >= 9);
        // Dates with a time and IP addresses may stay.
        expect(long.filter((row) => !/^(?:[\d./-]{10}[ ,T]+[\d:.,]+|[\d.:]{8,21})$/.test(row))).toEqual([]);
      }),
      { numRuns: 1_000, examples: [[['0000000', ' ', 'ab', 'ab', '0000000', '+-AA+ ', '00']]] },
    );
  });

  it.each([
    ['full width', '５２４６７７６３５６９０３５０８'],
    ['mathematical digits', '𝟓𝟐𝟒𝟔𝟕𝟕𝟔𝟑𝟓𝟔𝟗𝟎𝟑𝟓𝟎𝟖'],
    ['Arabic digits', '٥٢٤٦٧٧٦٣٥٦٩٠٣٥٠٨'],
    ['superscript', '⁵²⁴⁶⁷⁷⁶³⁵⁶⁹⁰³⁵⁰⁸'],
    ['circles', '⑤②④⑥⑦⑦⑥③⑤⑥⑨③⑤⑧'],
    ['black circles', '❺❷❹❻❼❼❻❸❺❻❾⓿❸❺⓿❽'],
    ['tags, which nobody sees', [...CARD].map((digit) => String.fromCodePoint(0xe0030 + Number(digit))).join('') + '*'],
    ['HTML escapes, twice', CARD.replace(/\d/g, '&amp;#x3$&;')],
    ['percent escapes between', '5246%207763%205690%203508'],
    ['percent escapes', CARD.replace(/\d/g, '%3$&')],
    ['double percent escapes', CARD.replace(/\d/g, '%253$&')],
    ['percent escapes of full width', encodeURIComponent('５２４６７７６３５６９０３５０８')],
    ['JSON escapes', CARD.replace(/\d/g, '\\u003$&')],
    ['HTML escapes', CARD.replace(/\d/g, '&#x3$&;')],
    ['plus signs', '5246+7763+5690+3508'],
  ])('is hidden in %s', (_how, text) => {
    const hidden = shown(`No ${text} refused`);
    expect(hidden).toMatch(/^No .*\*.* refused$/);
    expect(hidden.normalize('NFKC').replaceAll('%20', '')).not.toMatch(/\p{Nd}/u);
  });

  it.each(['12/30', '12.30', '1230', '3012', '30/12', '12/2030', '2030-12', '12 30'])(
    'hides an expiry (%s) and a code beside it',
    (expiry) => {
      expect(shown(`No ${CARD} exp ${expiry} cvv 792`)).not.toMatch(/\d/);
      expect(shown(`valid thru ${expiry} for 4508 **** **** 4509`)).not.toMatch(/\d/);
    },
  );

  it('leaves the shortest numbers beside it', () => {
    expect(shown(`${CARD} declined, 3 tries`)).toBe('*** declined, 3 tries');
    expect(shown(`${CARD} declined, 12 tries`)).toBe('*** declined, 12 tries');
    expect(shown(`${CARD} declined, 123 tries`)).toBe('*** declined, *** tries');
    expect(shown('123 tries declined, 12345678 left')).toBe('123 tries declined, 12345678 left');
  });

  it('is hidden for all that its digits take', () => {
    expect(shown('No 𝟓𝟐𝟒𝟔𝟕𝟕𝟔𝟑𝟓, order 17')).toBe('No ' + '*'.repeat(18) + ', order 17');
  });

  it('is what a number at the end may be only where the text was cut', () => {
    expect(plainText('no 17', 5)).toBe('no 17');
    expect(plainText('no 171', 5)).toBe('no **');
    expect(plainText('no 17 ab', 5)).toBe('no **');
    expect(plainText('17 is no', 5)).toBe('17 is');
  });

  it('is no longer than the text may be, once it is hidden', () => {
    expect(plainText(`${'\ufdfa'.repeat(40)} ５２４６７７６３５６９０３５０８`, 100)).toHaveLength(100);
  });

  it.each([480, 486, 490, 493, 496, 499])('is hidden though the text is cut at its digits: begun at %d', (at) => {
    const words = 'declined '.repeat(60).slice(0, at - 1);
    for (const card of [CARD, '5246 7763 5690 3508', '5 2 4 6 7 7 6 3 5 6 9 0 3 5 0 8']) {
      expect(shown(`${words} ${card}`)).not.toMatch(/\d/);
    }
  });
});

describe('the known card', () => {
  const known = { maskedCardNumber: maskCardNumber(CARD) };

  it.each(['bin 52467763', 'ends 56903508', '52467763 then 56903508', 'first 5246776 rest 356903508'])(
    'shows no more than its mask does: %p',
    (text) => expect(plainText(text, 500, known)).not.toMatch(/\d{5}/),
  );

  it.each([
    [
      'in spaced Base64',
      Buffer.from(CARD)
        .toString('base64')
        .replace(/(.{4})/g, '$1 '),
    ],
    ['parted by words', [...CARD].join(' and ')],
  ])('is not shown %s', (_how, text) => {
    expect(plainText(`No ${text}`, 500, known)).not.toMatch(/[02-9]/);
  });

  it('leaves three asterisks of a text that it stands in, nobody knows where', () => {
    const pieces = Buffer.from(CARD)
      .toString('base64')
      .replace(/(.{4})/g, '$1 ');
    expect(plainText(`No ${pieces}`, 500, known)).toBe('***');
  });
});

it('a known card parted by words is hidden, the words are not', () => {
  const text = `No ${CARD.replace(/(.{4})(?=.)/g, '$1 and ')}, sorry`;
  expect(plainText(text, 500, { maskedCardNumber: maskCardNumber(CARD) })).toBe(
    'No **** and **** and **** and ****, sorry',
  );
});

describe('a blob', () => {
  it.each([
    ['Base64 of a card', Buffer.from(CARD).toString('base64')],
    ['Base64 of a card with its code', Buffer.from(`${CARD}|792|1230`).toString('base64url')],
    ['hex of a card', Buffer.from(CARD).toString('hex')],
    ['hex of a secret', Buffer.from('an api key, this').toString('hex')],
    ['a hash', 'e3b0c44298fc1c149afbf4c8996fb924'],
    ['a random token', 'dGhpcyBpcyBhIHNlY3JldA'],
    ['a random token between words', 'refunded-aB3dE9xK7qLm-order'],
    ['a Base64 that has no digit', 'NjcwNjcwNjcwNjcwNjcwNg'.replace(/\d/g, 'w')],
    [
      'a Base64 cut into pieces',
      Buffer.from('405805405805405805')
        .toString('base64')
        .replace(/(.{4})/g, '$1-'),
    ],
  ])('is hidden: %s', (_what, blob) => {
    expect(shown(`refused: ${blob}, sorry`)).toBe('refused: ***, sorry');
    expect(shown(`"${blob}"`)).toBe('"***"');
  });

  it('is none where it is short, and has an end before the text is cut', () => {
    expect(plainText('ref aB3dE9x and more', 15)).toBe('ref aB3dE9x and');
    expect(plainText('the ref is aB3dE9x', 15)).toBe('the ref is ***');
    expect(plainText('the ref is aB3dE9x', 18)).toBe('the ref is aB3dE9x');
  });

  it('is hidden though the text is cut inside it', () => {
    const blob = Buffer.from(CARD).toString('base64');
    for (let cut = 1; cut < blob.length; cut += 1) {
      const hidden = plainText(`refused ${blob} sorry`, 'refused '.length + cut);
      expect(hidden.length).toBeLessThan('refused '.length + 6);
    }
  });
});

describe('a mebibyte of text', () => {
  const WORST = [
    '1',
    '1 ',
    'a',
    'Aa',
    'aA1',
    '%25',
    '%',
    '%3',
    '&#',
    '&#x3',
    '\\u00',
    '52467',
    `${CARD} `,
    'x*1',
    '-',
    '😀',
    '\ufdfa',
  ];

  it.each(WORST)('of %p costs no more than its beginning', (part) => {
    const text = part.repeat(MEBIBYTE / part.length);
    const known = { maskedCardNumber: maskCardNumber(CARD) };
    const times = [1, 2, 3].map(() => {
      const began = cpuMs();
      plainText(text, 1_000, known);
      return cpuMs() - began;
    });
    expect(Math.min(...times)).toBeLessThan(100);
  });

  it('is not looked at behind its beginning', () => {
    const beginning = 'refused '.repeat(70).slice(0, 500);
    expect(shown(beginning + CARD.repeat(10))).toBe(shown(`${beginning}${'z '.repeat(MEBIBYTE)}`));
  });
});
