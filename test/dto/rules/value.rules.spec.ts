import {
  IsAmount,
  IsCurrencyCode,
  IsDateTimeText,
  IsPhoneNumber,
  IsReceivedText,
  IsText,
  IsWebUrl,
  IsWholeNumber,
} from '../../../lib/dto/rules/value.rules.js';
import { brokenRules } from './broken-rules.js';

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
  expect(brokenRules(value, [IsWholeNumber(1, 999)])).toEqual(broken);
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
