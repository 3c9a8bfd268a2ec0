/** The name of the account if `PaymentModule.forRoot` is given no `name`. */
export const DEFAULT_ACCOUNT = 'default';

/** The prefix of an account's environment variables: `PAYMENT_`, or `PAYMENT_<NAME>_` for a named account. */
export function variablePrefix(account: string): string {
  return account === DEFAULT_ACCOUNT ? 'PAYMENT_' : `PAYMENT_${account.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}_`;
}

/** The environment variable that sets an option: `PAYMENT_STORE_URL` for `storeUrl`. */
export function variableOf(account: string, option: string): string {
  return variablePrefix(account) + option.replace(/[A-Z]/g, '_$&').toUpperCase();
}
