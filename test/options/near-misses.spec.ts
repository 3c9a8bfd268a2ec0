import { nearest, nearMisses } from '../../lib/options/setting-hints.js';
import { OPTIONS } from '../../lib/options/option-table.js';
import { variableOf } from '../../lib/payment/account.js';

const NAMES = Object.entries(OPTIONS)
  .filter(([, { isCodeOnly }]) => !isCodeOnly)
  .map(([option]) => variableOf('default', option));

const meantBy = (variable: string, accounts?: readonly string[]) =>
  nearMisses({ [variable]: 'a value' }, accounts).map(({ meant }) => meant);

describe('a variable that is nearly one of the module', () => {
  it.each([
    ['PAYMENT_SUCESS_URL', 'PAYMENT_SUCCESS_URL'],
    ['PAYMENT_BASEURL', 'PAYMENT_BASE_URL'],
    ['PAYMENT_BASE_URI', 'PAYMENT_BASE_URL'],
    ['PAYMENT_MERCHENT_ID', 'PAYMENT_MERCHANT_ID'],
    ['PAYMENT_CLEINT_SECRET', 'PAYMENT_CLIENT_SECRET'],
    ['PAYMENT_APIKEY', 'PAYMENT_API_KEY'],
    ['PAYMENT_STORE', 'PAYMENT_STORE_URL'],
    ['PAYMENT_TIMEOUT', 'PAYMENT_TIMEOUT_MS'],
    ['PAYMENT__LANGUAGE', 'PAYMENT_LANGUAGE'],
    ['PAYMENTS_BASE_URL', 'PAYMENT_BASE_URL'],
    ['PAYMNET_STORE_URL', 'PAYMENT_STORE_URL'],
    ['payment_dialect', 'PAYMENT_DIALECT'],
  ])('%s is named with what was meant', (variable, meant) => {
    expect(meantBy(variable)).toEqual([meant]);
  });

  it('is found for every variable with a character left out of its name', () => {
    for (const name of NAMES) {
      const middle = 'PAYMENT_'.length + 1 + Math.floor((name.length - 'PAYMENT_'.length - 1) / 2);
      expect([name, meantBy(name.slice(0, middle) + name.slice(middle + 1))]).toEqual([name, [name]]);
    }
  });

  it('is found among those of a named account', () => {
    expect(meantBy('PAYMENT_SHOP_2_SUCESS_URL', ['default', 'shop-2'])).toEqual(['PAYMENT_SHOP_2_SUCCESS_URL']);
  });

  it('is described without its value', () => {
    const [miss] = nearMisses({ PAYMENT_CLIENT_SECERT: 'geheim' });
    expect(miss!.text).toBe(
      'PAYMENT_CLIENT_SECERT is not a variable of nestjs-card-payment and has no effect: did you mean ' +
        'PAYMENT_CLIENT_SECRET?',
    );
    expect(JSON.stringify(miss)).not.toContain('geheim');
  });
});

describe('a variable that is somebody else’s', () => {
  it.each([
    ...NAMES,
    // Of an account that is not looked at.
    'PAYMENT_SHOP_BASE_URL',
    'PAYMENT_SHOP_2_CLIENT_SECRET',
    // Kubernetes sets these for a service named payment.
    'PAYMENT_SERVICE_HOST',
    'PAYMENT_SERVICE_PORT',
    'PAYMENT_PORT',
    'PAYMENT_PORT_80_TCP_ADDR',
    // What a shop may call its own.
    'PAYMENT_PAGE_URL',
    'PAYMENT_CODE',
    'PAYMENT_ENABLED',
    'PAYMENT_PROVIDER',
    'DATABASE_URL',
    'LANGUAGE',
    'BASE_URL',
  ])('%s is left alone', (variable) => {
    expect(meantBy(variable)).toEqual([]);
  });

  it('is one that is the same in another case, where case does not count', () => {
    expect(nearMisses({ Payment_Dialect: 'morpos', PAYMENT_DIALECT: 'morpos' })).toEqual([]);
  });
});

describe('the nearest word', () => {
  it.each([
    ['shwo', 'show'],
    ['statss', 'stats'],
    ['lst', 'list'],
    ['show', 'show'],
    ['xyz', null],
    ['', null],
  ])('to %j is %j', (typed, word) => {
    expect(nearest(typed, ['list', 'show', 'stats'])).toBe(word);
  });
});
