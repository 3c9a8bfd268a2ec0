/** The account of `PaymentModule.forRoot` without a `name`. */
export const DEFAULT_ACCOUNT = 'default';

/** What the variables of an account begin with: `PAYMENT_`, or for a named account `PAYMENT_<NAME>_`. */
export function variablePrefix(account: string): string {
  return account === DEFAULT_ACCOUNT ? 'PAYMENT_' : `PAYMENT_${account.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}_`;
}

/** The variable of an option, which is its name in capitals after the prefix: `PAYMENT_STORE_URL` for `storeUrl`. */
export function variableOf(account: string, option: string): string {
  return variablePrefix(account) + option.replace(/[A-Z]/g, '_$&').toUpperCase();
}
