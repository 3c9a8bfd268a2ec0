import { IsDateTimeText, IsPhoneNumber, IsReceivedText, IsText, IsWebUrl } from '../../../lib/dto/rules/text.rules.js';
import { brokenRules } from './broken-rules.js';

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
