import fc from 'fast-check';
import { passesLuhn } from '../../lib/dto/rules.js';

describe('passesLuhn', () => {
  it.each(['79927398713', '5246776356903508', '4508034508034509', '5413330057004112', '0'])('%s passes', (digits) => {
    expect(passesLuhn(digits)).toBe(true);
  });

  it('one digit of ten fits, and any mistyped digit is noticed', () => {
    const digit = fc.nat(9).map(String);
    fc.assert(
      fc.property(fc.array(digit, { maxLength: 18 }), fc.nat(17), digit, (digits, place, other) => {
        const fitting = [...'0123456789'].filter((last) => passesLuhn([...digits, last].join('')));
        expect(fitting).toHaveLength(1);
        const number = [...digits, fitting[0]];
        fc.pre(place < number.length && number[place] !== other);
        expect(passesLuhn(number.with(place, other).join(''))).toBe(false);
      }),
    );
  });
});
