import { IsAmount, IsCurrencyCode, IsWholeNumber } from '../../../lib/dto/rules/number.rules.js';
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
