import {
  hasExpired,
  IsCardNumber,
  IsExpiry,
  IsNotExpired,
  IsSecurityCode,
  PassesLuhn,
} from '../../../lib/dto/rules/card.rules.js';
import { CARD, NON_LUHN } from '../sample-input.js';
import { brokenRules } from './broken-rules.js';

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
