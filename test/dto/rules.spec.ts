import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import {
  Field,
  hasExpired,
  IsAmount,
  IsCardNumber,
  IsCurrencyCode,
  IsDateTimeText,
  IsExpiry,
  IsInstallmentCount,
  IsNested,
  IsNotExpired,
  IsPhoneNumber,
  IsReceivedText,
  IsSecurityCode,
  IsText,
  IsWebUrl,
  OptionalField,
  PassesLuhn,
  readCardNumber,
  readExpiry,
  ReceivedField,
} from '../../lib/dto/rules.js';
import { CARD, NON_LUHN } from './sample-input.js';

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

describe('a card number', () => {
  const rules = [IsCardNumber(), PassesLuhn({})];

  it('is 12 to 19 digits that pass Luhn', () => {
    expect(brokenRules(CARD.cardNo, rules)).toEqual([]);
    expect(brokenRules(NON_LUHN, rules)).toEqual(['luhn']);
  });

  it.each(['0'.repeat(11), '0'.repeat(20), '5246 7763 5690 3508', 5246776356903508, null])(
    'is not %p, whatever Luhn would say',
    (value) => expect(brokenRules(value, rules)).toEqual(['cardNumber']),
  );
});

describe('an expiry', () => {
  it('is a month and two digits of the year', () => {
    expect(brokenRules('1230', [IsExpiry()])).toEqual([]);
    for (const value of ['1330', '0030', '12/30', '122030', 1230]) {
      expect(brokenRules(value, [IsExpiry()])).toEqual(['expiry']);
    }
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
  ['000', []],
  ['0000', []],
  ['00', ['securityCode']],
  ['00000', ['securityCode']],
  ['00a', ['securityCode']],
  [123, ['securityCode']],
])('as a security code, %p breaks %p', (value, broken) => {
  expect(brokenRules(value, [IsSecurityCode()])).toEqual(broken);
});

it.each([
  ['100.5', 949, []],
  ['100.5', 392, ['amountDecimals']],
  ['1.2345', 990, []],
  ['100', '392', []],
  ['-1', 949, ['amountFormat']],
  [0, 949, ['amountPositive']],
  ['1234567890123456', 949, ['amountDigits']],
])('an amount of %p in the currency %p breaks %p', (amount, currencyCode, broken) => {
  expect(brokenRules(amount, [IsAmount()], { currencyCode })).toEqual(broken);
});

it.each([
  [1, []],
  [999, []],
  [0, ['wholeNumber']],
  [1000, ['wholeNumber']],
  [1.5, ['wholeNumber']],
  ['1', ['wholeNumber']],
  [NaN, ['wholeNumber']],
])('as a whole number from 1 to 999, %p breaks %p', (value, broken) => {
  expect(brokenRules(value, [IsInstallmentCount()])).toEqual(broken);
});

it.each([
  [949, []],
  [8, []],
  [990, []],
  ['949', ['currencyCode']],
  ['TRY', ['currencyCode']],
  [1, ['currencyCode']],
  [963, ['currencyCode']],
  [999, ['currencyCode']],
  [792, ['currencyCode']],
])('as a currency, %p breaks %p', (value, broken) => {
  expect(brokenRules(value, [IsCurrencyCode()])).toEqual(broken);
});

describe.each([
  ['text', IsText(), ['a', 'ş 👩‍💻', 'x'.repeat(255)], ['', ' ', 'a\nb', '\u2028', '\ud800', 'x'.repeat(256), 7]],
  ['isString', IsReceivedText(), ['', ' ', 'x'.repeat(256)], [7, null, ['x'], {}]],
  ['phoneNumber', IsPhoneNumber(), ['905551112233', '+90 (555) 111-22-33'], ['123456', '1'.repeat(16), '++9055511', 7]],
  [
    'webUrl',
    IsWebUrl(),
    ['https://shop.example', 'HTTP://localhost:3000/a?b=c#d'],
    ['shop.example', '/a', 'ftp://shop.example', 'https://', 'https://shop.example/a b', `https://${'x'.repeat(2048)}`],
  ],
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
