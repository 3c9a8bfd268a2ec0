import fc from 'fast-check';
import { holdsCard, holdsPartOfCard, isPartOfCard, maskCardNumber } from '../../lib/payment/card-mask.js';

const CARD = '5246776356903508';
/** The lengths of card numbers. */
const CARDS = [
  '4222222222222',
  '30569309025904',
  '378282246310005',
  CARD,
  '62123456789012345',
  '621234567890123456',
  '6212345678901234567',
];
const WITHOUT_LUHN = '4508034508034581';

const ENCODINGS: [string, (cardNo: string) => string][] = [
  ['plain', (cardNo) => cardNo],
  ['between others', (cardNo) => `ORD-${cardNo}-1`],
  ['inside a longer number', (cardNo) => `1${cardNo}1`],
  ['spaced', (cardNo) => cardNo.replace(/(.{4})/g, '$1 ')],
  ['dotted digit by digit', (cardNo) => [...cardNo].join('.')],
  ['parted by words', (cardNo) => `${cardNo.slice(0, 8)} and ${cardNo.slice(8)}`],
  ['backwards', (cardNo) => [...cardNo].reverse().join('')],
  ['backwards and spaced', (cardNo) => [...cardNo].reverse().join('-')],
  ['in full width', (cardNo) => cardNo.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))],
  ['in percent escapes', (cardNo) => cardNo.replace(/\d/g, '%3$&')],
  ['in percent escapes, twice', (cardNo) => cardNo.replace(/\d/g, '%253$&')],
  ['in JSON escapes', (cardNo) => cardNo.replace(/\d/g, '\\u003$&')],
  ['in HTML escapes', (cardNo) => cardNo.replace(/\d/g, '&#x3$&;')],
  ['in decimal HTML escapes', (cardNo) => cardNo.replace(/\d/g, (digit) => `&#${48 + Number(digit)};`)],
  ['in Base64', (cardNo) => Buffer.from(cardNo).toString('base64')],
  ['in Base64, within a text', (cardNo) => Buffer.from(`{"no":"${cardNo}"}`).toString('base64url')],
  ['in Base64, after a letter', (cardNo) => `x${Buffer.from(cardNo).toString('base64')}`],
  [
    'in Base64, spaced',
    (cardNo) =>
      Buffer.from(cardNo)
        .toString('base64')
        .replace(/(.{4})/g, '$1 '),
  ],
  ['in Base64 of Base64', (cardNo) => Buffer.from(Buffer.from(cardNo).toString('base64')).toString('base64')],
  ['in hex', (cardNo) => Buffer.from(cardNo).toString('hex')],
  ['in spaced hex', (cardNo) => (Buffer.from(cardNo).toString('hex').match(/../g) ?? []).join(':')],
];

describe('maskCardNumber', () => {
  it.each([
    [CARD, '524677******3508'],
    ['5246 7763 5690 3508', '524677******3508'],
    ['1234567890123456789', '123456*********6789'],
    ['1234567890123', '123456***0123'],
    ['123456789012', '************'],
    ['1234', '****'],
    ['', ''],
    ['５２４６７７６３５６９０３５０８', ''],
  ])('%p is shown as %p', (cardNo, masked) => expect(maskCardNumber(cardNo)).toBe(masked));

  it('never shows more than ten digits', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(maskCardNumber(text).replace(/\D/g, '').length).toBeLessThanOrEqual(10);
      }),
    );
  });
});

describe('a card is found in a text', () => {
  describe.each([...CARDS, WITHOUT_LUHN])('%s', (cardNo) => {
    it.each(ENCODINGS)('%s, by its number and by its mask', (_how, encode) => {
      expect(holdsCard(encode(cardNo), { cardNo })).toBe(true);
      expect(holdsCard(encode(cardNo), { maskedCardNumber: maskCardNumber(cardNo) })).toBe(true);
    });
  });

  it('of twelve digits, by its number alone', () => {
    expect(holdsCard('601100000000', { cardNo: '601100000000' })).toBe(true);
    expect(holdsCard('60110000000', { cardNo: '60110000000' })).toBe(false);
    expect(holdsCard('x-601100000000-1', { cardNo: '601100000000' })).toBe(true);
    expect(holdsCard('x-601100000000-1', { maskedCardNumber: maskCardNumber('601100000000') })).toBe(false);
  });

  it('in signs that each stand for two digits', () => {
    const signs = '4㊿80㉞㊿80㉞㊿9';
    expect(holdsCard(signs, { cardNo: '4508034508034509' })).toBe(true);
    expect(holdsCard(signs, { maskedCardNumber: '450803******4509' })).toBe(true);
  });

  it('anywhere in any text', () => {
    const around = fc.string({ unit: fc.constantFrom(...'abcxyzXYZ /-_+.:%ğş') });
    fc.assert(
      fc.property(fc.constantFrom(...CARDS), around, around, (cardNo, before, after) => {
        expect(holdsCard(before + cardNo + after, { maskedCardNumber: maskCardNumber(cardNo) })).toBe(true);
      }),
    );
  });
});

describe('a card is not found', () => {
  const known = { maskedCardNumber: maskCardNumber(CARD) };

  it.each([
    '1000000000000008',
    '5246771234567890',
    '9999999999993508',
    '524677******3508',
    '503615446559',
    '99000000000000000000000000000000000001',
    'Yetersiz hesap',
    '550e8400-e29b-41d4-a716-446655440000',
    '',
  ])('in %p', (text) => {
    expect(holdsCard(text, { cardNo: CARD })).toBe(false);
    expect(holdsCard(text, known)).toBe(false);
  });

  it.each([
    {},
    { maskedCardNumber: null },
    { maskedCardNumber: '' },
    { maskedCardNumber: '************3508' },
    { maskedCardNumber: '5246776356******' },
    { cardNo: '' },
    { cardNo: '3508' },
    { cardNo: '5...............' },
    { cardNo: '...............8' },
    { maskedCardNumber: '524677**3508' },
    { maskedCardNumber: '1524677*****3508' },
    { maskedCardNumber: '524677*****35081' },
  ])('where it is not known: %p', (unknown) => expect(holdsCard(CARD, unknown)).toBe(false));

  it('in texts of others, by chance', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.uuid(), fc.bigInt({ min: 0n, max: 10n ** 40n }), (...texts) => {
        for (const text of texts) expect(holdsCard(String(text), known)).toBe(false);
      }),
    );
  });
});

describe('a part of a card', () => {
  it.each(['67763', '5246776', '52467763', '56903508', '6903508', '63569'])('is %s', (digits) => {
    expect(isPartOfCard(digits, { cardNo: CARD })).toBe(true);
  });

  it.each(['5246776', '52467763', '56903508', '13508999'])('is, by the mask, %s', (digits) => {
    expect(isPartOfCard(digits, { maskedCardNumber: maskCardNumber(CARD) })).toBe(true);
  });

  it.each(['524677', '3508', '6776', '24677', '12345678', '14990'])('is not %s, which may be shown', (digits) => {
    const known = { cardNo: CARD, maskedCardNumber: maskCardNumber(CARD) };
    expect(isPartOfCard(digits, known)).toBe(false);
  });
});

describe('enough of a card to work out the rest', () => {
  it.each(['52467763', '24677635', '56903508', '5246-7763', 'ORD52467763X', '1524677639'])('is in %s', (text) => {
    expect(holdsPartOfCard(text, CARD)).toBe(true);
  });

  it.each(['5246776', '6903508', '52467764', '524677******3508', '80530965', 'ORD-2026-0017', ''])(
    'is not in %p',
    (text) => {
      expect(holdsPartOfCard(text, CARD)).toBe(false);
    },
  );

  it('is not a row of one digit, nor all of a number that is no card', () => {
    expect(holdsPartOfCard('2000000000', '4000000000000002')).toBe(false);
    expect(holdsPartOfCard('1400000001', '4000000000000002')).toBe(true);
    expect(holdsPartOfCard('00000002', '4000000000000002')).toBe(true);
    expect(holdsPartOfCard('1234567', '1234567')).toBe(false);
  });
});
