import fc from 'fast-check';
import {
  AMOUNT_TEXTS,
  type AmountFormat,
  type AmountProblem,
  amountProblem,
  canonicalAmount,
  compareAmounts,
  currencyDecimals,
  fromMinorUnits,
  toMinorUnits,
} from '../../lib/payment/amount.js';

const LIRA = 949;
const YEN = 392;
const DINAR = 48;
const UF = 990;

function written(amount: string | number, currency: number, format: AmountFormat): string {
  const canonical = canonicalAmount(amount, currency, format);
  if ('text' in canonical) return canonical.text;
  throw new Error(canonical.problem);
}

describe('canonicalAmount', () => {
  it.each([
    ['149.90', LIRA, '149.90', '149.9'],
    [149.9, LIRA, '149.90', '149.9'],
    ['60', LIRA, '60.00', '60'],
    ['60.00', LIRA, '60.00', '60'],
    [60, LIRA, '60.00', '60'],
    ['0.01', LIRA, '0.01', '0.01'],
    ['00012.5', LIRA, '12.50', '12.5'],
    ['000.5', LIRA, '0.50', '0.5'],
    ['100', YEN, '100', '100'],
    ['1.234', DINAR, '1.234', '1.234'],
    ['1.2', UF, '1.2000', '1.2'],
    ['123456789012345', LIRA, '123456789012345.00', '123456789012345'],
    ['0000000000000000000001', LIRA, '1.00', '1'],
  ])('writes %p in currency %d as %s, shortest %s', (amount, currency, fixed, shortest) => {
    expect(canonicalAmount(amount, currency, 'fixed')).toEqual({ text: fixed });
    expect(canonicalAmount(amount, currency, 'shortest')).toEqual({ text: shortest });
  });

  const NO_DECIMALS = ['', ' 1', '1\n', '+1', '-1', '.5', '5.', '1,50', '1.000,00', '1e3', '0x10', '١٢'];
  const NO_TEXTS = [-1, 1e21, 1e-7, NaN, Infinity, null, undefined, 10n, ['1'], { toString: () => '1' }];
  const REFUSED: Readonly<Record<AmountProblem, readonly unknown[]>> = {
    amountFormat: [...NO_DECIMALS, ...NO_TEXTS],
    amountPositive: ['0', '0.00', 0, -0],
    amountDecimals: ['1.001', '1.000', 0.1 + 0.2],
    amountDigits: ['1234567890123456', '12345678901234.56', 1234567890123456],
  };
  const ROWS = Object.entries(REFUSED).flatMap(([problem, all]) => all.map((amount) => [problem, amount] as const));

  it.each(ROWS)('refuses, by %s, %p', (problem, amount) => {
    expect(amountProblem(amount, LIRA)).toBe(problem);
    expect(canonicalAmount(amount as string, LIRA, 'fixed')).toEqual({ problem });
  });

  it('says what to do about each problem', () => {
    for (const problem of ['', '0', '1.001', '1234567890123456'].map((amount) => amountProblem(amount, LIRA))) {
      expect(AMOUNT_TEXTS[problem!].en).toMatch(/^amount must (be|have) \w/);
      expect(AMOUNT_TEXTS[problem!].tr).toMatch(/^amount.* (olmalı|içermeli|içermemeli)/);
    }
    expect(AMOUNT_TEXTS.amountDigits).toMatchObject({
      en: expect.stringContaining(' 15 '),
      tr: expect.stringContaining(' 15 '),
    });
  });

  it('refuses a fraction in a currency that has none', () => {
    expect(amountProblem('1.5', YEN)).toBe('amountDecimals');
    expect(amountProblem('1.0', YEN)).toBe('amountDecimals');
  });

  it('never throws on a surprise, and takes long texts in its stride', () => {
    fc.assert(fc.property(fc.anything(), (amount) => void amountProblem(amount, LIRA)));
    expect(amountProblem(`${'0'.repeat(1_000_000)}x`, LIRA)).toBe('amountFormat');
    expect(amountProblem('9'.repeat(1_000_000), LIRA)).toBe('amountDigits');
  });

  it('keeps the value, whatever the zeros, the form or the currency', () => {
    const amounts = fc.tuple(fc.bigInt(1n, 10n ** 15n - 1n), fc.constantFrom(LIRA, YEN, DINAR, UF), fc.nat(5));
    fc.assert(
      fc.property(amounts, ([minor, currency, zeros]) => {
        const decimals = currencyDecimals(currency);
        const digits = minor.toString().padStart(decimals + 1, '0');
        const text = decimals ? `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}` : digits;
        const given = '0'.repeat(zeros) + text;
        const fixed = written(given, currency, 'fixed');
        expect(fixed).toBe(text);
        const shortest = written(given, currency, 'shortest');
        expect(compareAmounts(fixed, shortest)).toBe(0);
        expect(written(shortest, currency, 'fixed')).toBe(fixed);
        expect(written(Number(fixed), currency, 'fixed')).toBe(fixed);
        expect(JSON.parse(fixed)).toBe(Number(given));
      }),
    );
  });
});

describe('compareAmounts', () => {
  it.each([
    ['60', '60.00', 0],
    ['060.0', '60', 0],
    ['0', '0.000', 0],
    ['60.01', '60', 1],
    ['9.99', '10', -1],
    ['0.5', '0.49999', 1],
    ['9007199254740993', '9007199254740992', 1],
    ['0.30', '0.30000000000000004', -1],
  ])('%s against %s', (a, b, sign) => {
    expect(Math.sign(compareAmounts(a, b) ?? NaN)).toBe(sign);
    expect(Math.sign(compareAmounts(b, a) ?? NaN) + sign).toBe(0);
  });

  it.each(['', '-60', '+60', '6e1', '60,00', ' 60', '60 TRY', 'NaN', '.5', '60.'])('cannot read %p', (text) => {
    expect(compareAmounts(text, '60')).toBeNull();
    expect(compareAmounts('60', text)).toBeNull();
  });

  it('orders as the numbers do', () => {
    const minor = fc.bigInt(0n, 10n ** 30n);
    fc.assert(
      fc.property(minor, minor, fc.nat(3), fc.nat(3), (a, b, zerosBefore, zerosAfter) => {
        const [left, right] = [a, b].map((value) => {
          const digits = value.toString().padStart(3, '0');
          return `${'0'.repeat(zerosBefore)}${digits.slice(0, -2)}.${digits.slice(-2)}`;
        }) as [string, string];
        const difference = compareAmounts(left + '0'.repeat(zerosAfter), right);
        expect(Math.sign(difference ?? NaN)).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });
});

describe('minor units', () => {
  it.each([
    ['60.00', LIRA, 6000n],
    ['0.05', LIRA, 5n],
    ['0.00', LIRA, 0n],
    ['150', YEN, 150n],
    ['0', YEN, 0n],
    ['1.250', DINAR, 1250n],
    ['0.001', DINAR, 1n],
  ])('of %s in %i are %p, and back', (amount, currency, minor) => {
    expect(toMinorUnits(amount, currency)).toBe(minor);
    expect(fromMinorUnits(minor, currency)).toBe(amount);
  });

  it.each([
    ['60', LIRA, 6000n],
    ['60.5', LIRA, 6050n],
    ['60.009', LIRA, 6000n],
    ['150.9', YEN, 150n],
    ['60,00', LIRA, null],
  ])('of %s in %i are %p, with what is beyond them cut off', (amount, currency, minor) => {
    expect(toMinorUnits(amount, currency)).toBe(minor);
  });
});
