import { currencyDecimals } from '../../lib/payment/currency.js';

/** ISO 4217, list one of 2024: currencies whose minor unit is not 2, and some whose is. */
const ISO_4217: Readonly<Record<number, readonly [string, number][]>> = {
  0: [
    ['BIF', 108],
    ['CLP', 152],
    ['DJF', 262],
    ['GNF', 324],
    ['ISK', 352],
    ['JPY', 392],
    ['KMF', 174],
    ['KRW', 410],
    ['PYG', 600],
    ['RWF', 646],
    ['UGX', 800],
    ['UYI', 940],
    ['VND', 704],
    ['VUV', 548],
    ['XAF', 950],
    ['XOF', 952],
    ['XPF', 953],
  ],
  2: [
    ['TRY', 949],
    ['USD', 840],
    ['EUR', 978],
    ['GBP', 826],
    ['CHF', 756],
    ['AZN', 944],
    ['RUB', 643],
    ['UAH', 980],
    ['SAR', 682],
    ['AED', 784],
    ['QAR', 634],
    ['HUF', 348],
  ],
  3: [
    ['BHD', 48],
    ['IQD', 368],
    ['JOD', 400],
    ['KWD', 414],
    ['LYD', 434],
    ['OMR', 512],
    ['TND', 788],
  ],
  4: [
    ['CLF', 990],
    ['UYW', 927],
  ],
};

describe.each(Object.entries(ISO_4217))('an amount has %s decimals', (decimals, currencies) => {
  it.each(currencies)('in %s (%i)', (_name, code) => {
    expect(currencyDecimals(code)).toBe(Number(decimals));
  });
});

it('an amount has two decimals in every other currency', () => {
  const unusual = Object.entries(ISO_4217).flatMap(([decimals, all]) =>
    decimals === '2' ? [] : all.map(([, code]) => code),
  );
  for (let code = 1; code < 1_000; code += 1) {
    if (!unusual.includes(code)) expect(currencyDecimals(code)).toBe(2);
  }
});
