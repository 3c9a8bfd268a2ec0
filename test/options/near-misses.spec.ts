import { nearMisses } from '../../lib/options/near-misses.js';
import { OPTIONS } from '../../lib/options/option-table.js';
import { variableOf } from '../../lib/payment/account.js';

function meantBy(given: string, account = 'default'): string | null {
  return nearMisses({ [given]: 'secret' }, account)[0]?.meant ?? null;
}

describe('near misses', () => {
  it.each([
    ['PAYMENT_SUCESS_URL', 'PAYMENT_SUCCESS_URL'],
    ['PAYMENT_BASEURL', 'PAYMENT_BASE_URL'],
    ['PAYMENTS_BASE_URL', 'PAYMENT_BASE_URL'],
    ['payment_base_url', 'PAYMENT_BASE_URL'],
    ['PAYMENT_CLEINT_ID', 'PAYMENT_CLIENT_ID'],
    ['PAYMENT_MERCHANTID', 'PAYMENT_MERCHANT_ID'],
    ['PAYMENT_API-KEY', 'PAYMENT_API_KEY'],
    ['PAYMENT_LUNH', 'PAYMENT_LUHN'],
    ['PAYMENT_DIALCT', 'PAYMENT_DIALECT'],
  ])('%s is nearly %s', (given, meant) => {
    expect(meantBy(given)).toBe(meant);
  });

  it.each([
    'PAYMENT_PROVIDER',
    'PATH',
    'PAYMENT',
    'PAYMENT_LUNA',
    'PAYMENT_EU_BASE_URL',
    'PAYMENT_US_CLIENT_ID',
    'STORE_URL',
  ])('%s is something else', (given) => {
    expect(meantBy(given)).toBeNull();
    expect(meantBy(given, 'eu')).toBeNull();
  });

  it('knows the variables of a named account', () => {
    expect(meantBy('PAYMENT_EU_BASEURL', 'eu')).toBe('PAYMENT_EU_BASE_URL');
    expect(meantBy('PAYMENT_EU_SUCESS_URL', 'eu')).toBe('PAYMENT_EU_SUCCESS_URL');
    expect(meantBy('PAYMENT_SUCESS_URL', 'eu')).toBeNull();
  });

  it('says nothing of the right ones, of empty ones, and where the right one is set as well', () => {
    const right = Object.keys(OPTIONS).map((name) => [variableOf('default', name), 'x']);
    expect(nearMisses(Object.fromEntries(right) as Record<string, string>, 'default')).toEqual([]);
    expect(nearMisses({ PAYMENT_SUCESS_URL: '' }, 'default')).toEqual([]);
    expect(nearMisses({ PAYMENT_SUCESS_URL: 'x', PAYMENT_SUCCESS_URL: 'y' }, 'default')).toEqual([]);
  });

  it('shows no value', () => {
    expect(
      JSON.stringify(nearMisses({ PAYMENT_SUCESS_URL: 'secret', PAYMENT_LUNH: 'secret' }, 'default')),
    ).not.toContain('secret');
  });
});
