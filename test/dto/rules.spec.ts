import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import {
  Field,
  hasExpired,
  IsAmount,
  IsCurrencyCode,
  IsDateTimeText,
  IsExpiry,
  IsNested,
  IsNotExpired,
  IsReceivedText,
  IsText,
  OptionalField,
  readCardNumber,
  readExpiry,
  ReceivedField,
} from '../../lib/dto/rules.js';

// What each rule refuses in a payment is a row of validate-input.spec.ts.

/** The rules that a value breaks as a field of its own message, beside the other fields of that message. */
function brokenRules(value: unknown, rules: readonly PropertyDecorator[], others: object = {}): string[] {
  class Message {
    field: unknown;
  }
  for (const rule of rules) rule(Message.prototype, 'field');
  const errors = validateSync(plainToInstance(Message, { ...others, field: value }));
  return errors.flatMap(({ constraints = {} }) => Object.keys(constraints));
}

it('a required field is neither absent nor null', () => {
  for (const value of [undefined, null]) expect(brokenRules(value, [Field()])).toEqual(['isDefined']);
  for (const value of ['', 0, false]) expect(brokenRules(value, [Field()])).toEqual([]);
});

it('an optional field may be absent, but not null', () => {
  expect(brokenRules(undefined, [OptionalField(IsText())])).toEqual([]);
  expect(brokenRules(null, [OptionalField(IsText())])).toEqual(['text']);
});

it('a nested field is an object, never an array', () => {
  class Part {}
  const rules = [Field(IsNested(() => Part))];
  for (const value of ['x', 7, []]) expect(brokenRules(value, rules)).toContain('isObject');
});

it('a received field may be absent or null, and is otherwise text', () => {
  for (const value of [undefined, null, '', 'x']) expect(brokenRules(value, [ReceivedField()])).toEqual([]);
  expect(brokenRules(7, [ReceivedField()])).toEqual(['isString']);
  expect(brokenRules('x', [ReceivedField(IsCurrencyCode())])).toEqual(['currencyCode']);
});

it('an amount without a currency beside it is not judged by its decimals', () => {
  expect(brokenRules('1.2345678', [IsAmount()])).toEqual([]);
  expect(brokenRules('1.2345678', [IsAmount()], { currencyCode: undefined })).toEqual(['amountDecimals']);
  for (const [amount, rule] of [
    ['0', 'amountPositive'],
    ['1,5', 'amountFormat'],
  ] as const) {
    expect(brokenRules(amount, [IsAmount()])).toEqual([rule]);
  }
});

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

describe('an expiry', () => {
  it('is a month and two digits of the year once it is read', () => {
    expect(brokenRules('1230', [IsExpiry()])).toEqual([]);
    for (const value of ['12/30', '122030']) expect(brokenRules(value, [IsExpiry()])).toEqual(['expiry']);
  });

  it.each([
    ['1226', '2027-01-01T11:59:59.999Z', false],
    ['1226', '2027-01-01T12:00:00Z', true],
    ['0128', '2028-02-01T11:59:59.999Z', false],
    ['0128', '2028-02-01T12:00:00Z', true],
    ['0228', '2028-02-29T23:59:59Z', false],
    ['1326', '2099-01-01T00:00:00Z', false],
  ])('%s at %s: has it passed everywhere? %p', (expDate, now, expected) => {
    expect(hasExpired(expDate, new Date(now))).toBe(expected);
  });

  it('that is past by the clock of the system breaks a rule of its own', () => {
    expect(brokenRules('0120', [IsNotExpired({})])).toEqual(['notExpired']);
    expect(brokenRules('1299', [IsNotExpired({})])).toEqual([]);
  });
});

it.each([
  ['100.5', 949, []],
  ['1.2345', 990, []],
  ['100', '392', []],
])('an amount of %p in the currency %p breaks %p', (amount, currencyCode, broken) => {
  expect(brokenRules(amount, [IsAmount()], { currencyCode })).toEqual(broken);
});

describe.each([
  ['isString', IsReceivedText(), ['', ' ', 'x'.repeat(256)], [7, null, ['x'], {}]],
  [
    'dateTimeText',
    IsDateTimeText(),
    ['05/02/2025 15:09:09', '05.02.2025T15:09:09', '05-02-2025 15:09:09'],
    ['2025-02-05T15:09:09Z', '5/2/2025 15:09:09', '05/02/2025', 7],
  ],
])('%s', (name, rule, good, bad) => {
  it('takes what is good', () => {
    for (const value of good) expect(brokenRules(value, [rule])).toEqual([]);
  });

  it('refuses what is not', () => {
    for (const value of bad) expect(brokenRules(value, [rule])).toEqual([name]);
  });
});
