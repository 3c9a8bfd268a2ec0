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
  passesLuhn,
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

class Part {}
const DATES = ['05/02/2025 15:09:09', '05.02.2025T15:09:09', '05-02-2025 15:09:09'];
const NO_DATES = ['2025-02-05T15:09:09Z', '5/2/2025 15:09:09', '05/02/2025', 7];

test.each<[what: string, rules: PropertyDecorator[], broken: string[], values: unknown[], others?: object]>([
  ['a required field', [Field()], [], ['', 0, false]],
  ['a required field', [Field()], ['isDefined'], [undefined, null]],
  ['an optional field', [OptionalField(IsText())], [], [undefined]],
  ['an optional field', [OptionalField(IsText())], ['text'], [null]],
  ['a nested field', [Field(IsNested(() => Part))], ['isObject', 'nestedValidation'], ['x', 7]],
  ['a nested field', [Field(IsNested(() => Part))], ['isObject'], [[]]],
  ['a received field', [ReceivedField()], [], [undefined, null, '', 'x']],
  ['a received field', [ReceivedField()], ['isString'], [7]],
  ['a received currency', [ReceivedField(IsCurrencyCode())], ['currencyCode'], ['x']],
  ['a received text', [IsReceivedText()], [], ['', ' ', 'x'.repeat(256)]],
  ['a received text', [IsReceivedText()], ['isString'], [7, null, ['x'], {}]],
  ['a date and time', [IsDateTimeText()], [], DATES],
  ['a date and time', [IsDateTimeText()], ['dateTimeText'], NO_DATES],
  // Without a currency beside it, an amount is not judged by its decimals.
  ['an amount', [IsAmount()], [], ['1.2345678']],
  ['an amount', [IsAmount()], ['amountPositive'], ['0']],
  ['an amount', [IsAmount()], ['amountFormat'], ['1,5']],
  ['an amount', [IsAmount()], ['amountDecimals'], ['1.2345678'], { currencyCode: undefined }],
  ['an amount', [IsAmount()], [], ['100.5'], { currencyCode: 949 }],
  ['an amount', [IsAmount()], [], ['1.2345'], { currencyCode: 990 }],
  ['an amount', [IsAmount()], [], ['100'], { currencyCode: '392' }],
  // A month and two digits of the year, once it is read.
  ['an expiry', [IsExpiry()], [], ['1230']],
  ['an expiry', [IsExpiry()], ['expiry'], ['12/30', '122030']],
  // By the clock of the system.
  ['an expiry to come', [IsNotExpired({})], [], ['1299']],
  ['an expiry to come', [IsNotExpired({})], ['notExpired'], ['0120']],
])('%s breaks its rules or not (%#)', (_what, rules, broken, values, others = {}) => {
  for (const value of values) expect([value, brokenRules(value, rules, others)]).toEqual([value, broken]);
});

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

it.each([
  ['1226', '2027-01-01T11:59:59.999Z', false],
  ['1226', '2027-01-01T12:00:00Z', true],
  ['0128', '2028-02-01T11:59:59.999Z', false],
  ['0128', '2028-02-01T12:00:00Z', true],
  ['0228', '2028-02-29T23:59:59Z', false],
  ['1326', '2099-01-01T00:00:00Z', false],
])('an expiry of %s, at %s: has it passed everywhere? %p', (expDate, now, expected) => {
  expect(hasExpired(expDate, new Date(now))).toBe(expected);
});
