import type { DiscoveryService } from '@nestjs/core';
import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-configuration.error.js';
import { DEFAULT_ACCOUNT } from './payment-settings.js';

/** One registration of the module: lets the registrations of an application find each other. */
export class AccountRoll {
  constructor(
    readonly account: string,
    readonly path: string | null,
    private readonly discovery: DiscoveryService,
  ) {}

  /**
   * @param handlerAccounts the accounts that `@OnPayment` handlers name
   * @throws PaymentConfigurationError for a name or path used twice, or a handler of an account that is not there
   */
  check(handlerAccounts: readonly string[]): void {
    const rolls = this.discovery
      .getProviders()
      .filter((wrapper) => wrapper.token === AccountRoll)
      .map((wrapper) => wrapper.instance as AccountRoll);
    const problems: ConfigurationProblem[] = [];
    const note = (option: string, message: string): void => {
      problems.push({ option, variable: null, message });
    };

    if (rolls.filter((roll) => roll.account === this.account).length > 1) {
      note('name', `${describe(this.account)} is registered twice; call PaymentModule.forRoot once for each account`);
    }
    if (this.path !== null && rolls.filter((roll) => roll.path === this.path).length > 1) {
      note('callback.path', `"${this.path}" is used by two accounts; give each its own`);
    }
    for (const account of new Set(handlerAccounts)) {
      const isThere = rolls.some((roll) => roll.account === account);
      if (!isThere) note('@OnPayment name', `${describe(account)} is not registered with PaymentModule`);
    }
    if (problems.length > 0) throw new PaymentConfigurationError(problems);
  }
}

function describe(account: string): string {
  return account === DEFAULT_ACCOUNT ? 'the unnamed account' : `the account "${account}"`;
}
