import fc from 'fast-check';
import { readCardNumber, readExpiry } from '../../../lib/dto/rules/reading.rules.js';

const MONTH = fc.integer({ min: 1, max: 12 });
const YEAR = fc.integer({ min: 0, max: 99 }).map((year) => String(year).padStart(2, '0'));
const SPACE = fc.constantFrom('', ' ', '\u00a0', '  ');
const PARTED = fc.oneof(
  fc.tuple(SPACE, fc.constantFrom('/', '-', '.', '\u2013'), SPACE).map((parts) => parts.join('')),
  fc.constantFrom(' ', '\u00a0', '  '),
);
const padded = (month: number): string => String(month).padStart(2, '0');

describe('readExpiry', () => {
  it('reads every month and year that something parts, however it is spaced', () => {
    fc.assert(
      fc.property(
        MONTH,
        fc.boolean(),
        PARTED,
        fc.boolean(),
        YEAR,
        SPACE,
        (month, isPadded, sign, isLong, year, end) => {
          const typed = `${end}${isPadded ? padded(month) : month}${sign}${isLong ? '20' : ''}${year}${end}`;
          expect(readExpiry(typed)).toBe(padded(month) + year);
        },
      ),
    );
  });

  it('reads digits alone only with two of the month', () => {
    fc.assert(
      fc.property(MONTH, fc.constantFrom('', '20'), YEAR, (month, century, year) => {
        expect(readExpiry(`${padded(month)}${century}${year}`)).toBe(padded(month) + year);
        if (month < 10) expect(readExpiry(`${month}${century}${year}`)).toBe(`${month}${century}${year}`);
      }),
    );
  });

  it('makes no expiry of anything else: what it gives is what was typed, or MMyy of the same digits', () => {
    const odd = fc.string({ unit: fc.constantFrom(...'0123456789/-. a\n'), maxLength: 9 });
    fc.assert(
      fc.property(odd, (typed) => {
        const read = readExpiry(typed);
        if (read === typed) return;
        expect(read).toMatch(/^(0[1-9]|1[0-2])\d\d$/);
        const digits = typed.replace(/\D/g, '');
        expect([read, `${String(read).slice(0, 2)}20${String(read).slice(2)}`]).toContain(
          digits.length % 2 ? `0${digits}` : digits,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([undefined, null, 1236, ['12/36'], {}, true])('leaves %p to the rules', (typed) => {
    expect(readExpiry(typed)).toBe(typed);
    expect(readCardNumber(typed)).toBe(typed);
  });
});
