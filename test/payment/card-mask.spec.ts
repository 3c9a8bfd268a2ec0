import fc from 'fast-check';
import { maskCardNumber, maskCards, maskCardsInIdentifier } from '../../lib/payment/card-mask.js';
import { passesLuhn } from '../../lib/payment/luhn.js';

const CARDS = ['5246776356903508', '4691810771946876', '4508034508034509', '5269737320050521', '5413330057004112'];
const CARD = CARDS[0]!;
const WITHOUT_LUHN = '4508034508034581';

const card = fc.constantFrom(...CARDS);
const separator = fc.constantFrom('', ' ', '-', '.');
/** A card with a separator, or none, between any two of its digits. */
const spacedCard = (numbers = card) =>
  fc.tuple(numbers, fc.array(separator, { minLength: 15, maxLength: 15 })).map(([cardNo, separators]) => ({
    cardNo,
    text: [...cardNo].map((digit, index) => digit + (separators[index] ?? '')).join(''),
  }));

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

describe('maskCards', () => {
  it.each([
    [`Card ${CARD} was declined`, 'Card 524677******3508 was declined'],
    ['Card 5246 7763 5690 3508.', 'Card 5246 77** **** 3508.'],
    ['Card 5246-7763-5690-3508', 'Card 5246-77**-****-3508'],
    [`card${CARD}x`, 'card524677******3508x'],
    [`149.90 ${CARD} 12/2030`, '149.90 524677******3508 12/2030'],
    [`{"cardNo":"${CARD}"}`, '{"cardNo":"524677******3508"}'],
    ['Order 17, 60.00 TRY, 05/02/2025 15:09:09', 'Order 17, 60.00 TRY, 05/02/2025 15:09:09'],
    [`Not a card: ${WITHOUT_LUHN}`, `Not a card: ${WITHOUT_LUHN}`],
    ['B0000 Onaylandı', 'B0000 Onaylandı'],
    ['', ''],
  ])('%p becomes %p', (text, masked) => expect(maskCards(text)).toBe(masked));

  it('hides the middle of any card in any text, however it is spaced', () => {
    const digitFree = fc.string().map((text) => text.replace(/\d/g, ''));
    const neighbours = fc.constantFrom('', 'x', ' 12 ', '149.90 ', ' 12/2030', ',1,', ' 000000 ');
    fc.assert(
      fc.property(spacedCard(), digitFree, neighbours, neighbours, ({ cardNo, text }, around, before, after) => {
        fc.pre(!/\d$/.test(before) && !/^\d/.test(after));
        const masked = maskCards(`${around}${before}${text}${after}${around}`);
        expect(masked.replace(/[ .-]/g, '')).not.toContain(cardNo.slice(0, 7));
        expect(masked.replace(/[ .-]/g, '')).not.toContain(cardNo.slice(5, 13));
        expect(masked.replace(/[ .-]/g, '')).not.toContain(cardNo.slice(-5));
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing but digits, and those to asterisks', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(card, fc.string(), separator, fc.nat().map(String))), (parts) => {
        const text = parts.join('');
        const masked = maskCards(text, { cardNo: CARD, secrets: ['792', '1230'] });
        expect(masked).toHaveLength(text.length);
        [...text].forEach((character, index) => {
          if (masked[index] !== [...text][index] && masked.length === [...text].length) {
            expect(character).toMatch(/\d/);
            expect(masked[index]).toBe('*');
          }
        });
      }),
    );
  });

  it('hides the known card whatever Luhn says, within longer numbers too', () => {
    const numbers = fc.constantFrom(...CARDS, WITHOUT_LUHN);
    const digits = fc.stringMatching(/^\d{0,12}$/);
    fc.assert(
      fc.property(spacedCard(numbers), digits, digits, ({ cardNo, text }, before, after) => {
        for (const known of [{ cardNo }, { maskedCardNumber: maskCardNumber(cardNo) }]) {
          const masked = maskCards(before + text + after, known).replace(/[ .-]/g, '');
          expect(masked).not.toContain(cardNo);
          expect(masked).toContain('*');
        }
      }),
    );
  });

  it.each(['524677******3508', '5246 77** **** 3508', '524677XXXXXX3508', '5246****3508', '524677…3508'])(
    'knows a card by %s',
    (maskedCardNumber) => {
      expect(maskCards(`a1${CARD}`, { maskedCardNumber })).not.toContain(CARD);
      expect(maskCardsInIdentifier(CARD, { maskedCardNumber })).toBe('524677******3508');
    },
  );

  it.each([
    ['cvv 792', 'cvv ***'],
    ['792', '***'],
    ['CVV792;', 'CVV***;'],
    ['1792 and 7921 stay', '1792 and 7921 stay'],
    ['exp 1230, 12/30, 12-30, 12/2030', 'exp ****, **/**, **-**, **/****'],
    ['order 112300', 'order 112300'],
  ])('hides security code and expiry: %p becomes %p', (text, masked) => {
    expect(maskCards(text, { secrets: ['792', '1230', '', 'x'] })).toBe(masked);
  });

  it('is quick on a long reply', () => {
    for (const part of ['1', '1 ', '12345678901234567890.', `${CARD} `, '52467']) {
      const text = part.repeat(500_000 / part.length);
      expect(maskCards(text, { cardNo: CARD, maskedCardNumber: maskCardNumber(CARD) })).toHaveLength(text.length);
    }
  });
});

describe('maskCardsInIdentifier', () => {
  const orderId = '1000000000000008';

  it('leaves an order id alone that passes Luhn', () => {
    expect(passesLuhn(orderId)).toBe(true);
    expect(maskCards(orderId)).not.toBe(orderId);
    expect(maskCardsInIdentifier(orderId, { cardNo: CARD, maskedCardNumber: maskCardNumber(CARD) })).toBe(orderId);
    expect(maskCardsInIdentifier(orderId, {})).toBe(orderId);
    expect(maskCardsInIdentifier(orderId, { maskedCardNumber: null })).toBe(orderId);
  });

  it('leaves what a mask of too few digits would match', () => {
    expect(maskCardsInIdentifier('9999999999993508', { maskedCardNumber: '************3508' })).toBe(
      '9999999999993508',
    );
    expect(maskCardsInIdentifier('9999999999993508', { maskedCardNumber: '' })).toBe('9999999999993508');
  });

  it('masks the known card', () => {
    expect(maskCardsInIdentifier(`ORD-${CARD}-1`, { cardNo: CARD })).toBe('ORD-524677******3508-1');
    expect(maskCardsInIdentifier(`1${WITHOUT_LUHN}1`, { cardNo: WITHOUT_LUHN })).toBe('1450803******45811');
  });
});
