import { variableOf, variablePrefix } from '../../lib/payment/account.js';

describe('the variables of an account', () => {
  it.each([
    ['default', 'PAYMENT_'],
    ['eu', 'PAYMENT_EU_'],
    ['eu-shop_2', 'PAYMENT_EU_SHOP_2_'],
    ['second', 'PAYMENT_SECOND_'],
  ])('of %s begin with %s', (account, prefix) => {
    expect(variablePrefix(account)).toBe(prefix);
  });
  it.each([
    ['default', 'luhn', 'PAYMENT_LUHN'],
    ['default', 'connectTimeoutMs', 'PAYMENT_CONNECT_TIMEOUT_MS'],
    ['eu-shop', 'storeUrl', 'PAYMENT_EU_SHOP_STORE_URL'],
  ])('of %s have one for %s: %s', (account, option, variable) => {
    expect(variableOf(account, option)).toBe(variable);
  });
});
