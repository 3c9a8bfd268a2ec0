/** A currency that the simulator accepts, by its ISO 4217 number. */
interface Currency {
  readonly letters: string;
  readonly decimals: number;
}

const CURRENCIES: ReadonlyMap<number, Currency> = new Map([
  [48, { letters: 'BHD', decimals: 3 }],
  [124, { letters: 'CAD', decimals: 2 }],
  [152, { letters: 'CLP', decimals: 0 }],
  [392, { letters: 'JPY', decimals: 0 }],
  [400, { letters: 'JOD', decimals: 3 }],
  [410, { letters: 'KRW', decimals: 0 }],
  [414, { letters: 'KWD', decimals: 3 }],
  [512, { letters: 'OMR', decimals: 3 }],
  [643, { letters: 'RUB', decimals: 2 }],
  [682, { letters: 'SAR', decimals: 2 }],
  [756, { letters: 'CHF', decimals: 2 }],
  [784, { letters: 'AED', decimals: 2 }],
  [788, { letters: 'TND', decimals: 3 }],
  [826, { letters: 'GBP', decimals: 2 }],
  [840, { letters: 'USD', decimals: 2 }],
  [944, { letters: 'AZN', decimals: 2 }],
  [949, { letters: 'TRY', decimals: 2 }],
  [978, { letters: 'EUR', decimals: 2 }],
]);

export function currencyOf(code: number): Currency | undefined {
  return CURRENCIES.get(code);
}

/** The amount in the smallest unit of the currency; both `60` and `60.00` are 6000 kuruş. */
export function minorUnits(amount: string, currencyCode: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(currencyOf(currencyCode)?.decimals ?? 0, '0'));
}

export function majorUnits(minor: bigint, currencyCode: number): string {
  return withDecimals(minor, currencyOf(currencyCode)?.decimals ?? 0);
}

/** The facilitator's commission in percent, as the replies show it. */
export const COMMISSION_RATE = '1.99';

/** The commission with four decimals, rounded half up. */
export function commissionOf(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const unit = 10n ** BigInt(fraction.length);
  const exact = BigInt(whole + fraction) * BigInt(COMMISSION_RATE.replace('.', ''));
  return withDecimals((exact * 2n + unit) / (unit * 2n), 4);
}

/** The amount as people of that language write it, such as `₺1.149,90`. */
export function displayAmount(amount: string, currencyCode: number, language: 'tr' | 'en'): string {
  const format = new Intl.NumberFormat(language === 'tr' ? 'tr-TR' : 'en-GB', {
    style: 'currency',
    currency: currencyOf(currencyCode)?.letters ?? 'XXX',
    currencyDisplay: 'narrowSymbol',
  });
  return format.format(amount as `${number}`);
}

function withDecimals(value: bigint, decimals: number): string {
  if (decimals === 0) return value.toString();
  const digits = value.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
