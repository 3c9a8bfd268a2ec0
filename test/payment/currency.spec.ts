import { currencyDecimals } from '../../lib/payment/currency.js';

describe('currencyDecimals', () => {
  it.each([
    [949, 2],
    [840, 2],
    [978, 2],
    [392, 0],
    [410, 0],
    [704, 0],
    [952, 0],
    [368, 3],
    [414, 3],
    [788, 3],
    [927, 4],
    [990, 4],
  ])('%d has %d', (currency, decimals) => expect(currencyDecimals(currency)).toBe(decimals));
});
