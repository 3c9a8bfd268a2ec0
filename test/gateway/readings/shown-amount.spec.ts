import { readShownAmount } from '../../../lib/gateway/readings/shown-amount.js';

const LIRA = 949;
const DINAR = 414;

it.each([
  ['1250.50', ['1250.50', '1250,50', '1.250,50', '1,250.50', '₺1.250,50', '1250.50 TL']],
  ['1250', ['1250']],
  ['1250.5', ['1250.5']],
  ['1234567', ['1.234.567']],
  ['1234567.8', ['1,234,567.8']],
  ['12', ['TRY 12']],
  ['7.10', ['007.10']],
  ...['0', '0.00', '0.125', '416.8333'].map((text) => [text, [text]] as [string, string[]]),
  // More digits than a binary float keeps.
  ['9007199254740.93', ['9007199254740.93']],
])('%s is read from %j', (amount, texts) => {
  for (const text of texts) expect(readShownAmount(text, LIRA)).toBe(amount);
});

it.each([
  // One thousand two hundred and fifty, or a little more than one?
  ...['1.250', '1,250'],
  ...['', '-5', '+5', '1e3', '12.', '.5', ',5', '1..2', '1.25.0', '1,2,3', '1.250,50,1', '12.34.56', '%2.5', '12 50'],
  ...['１２', 'NaN'],
  // As long as a card number.
  '5246776356903508',
])('%j is no amount', (text) => {
  expect(readShownAmount(text, LIRA)).toBeNull();
});

it('three decimals are read where the currency has them', () => {
  expect(readShownAmount('1.250', DINAR)).toBe('1.250');
  expect(readShownAmount('1.250', null)).toBeNull();
});
