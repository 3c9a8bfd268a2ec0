import type { DiscoveryService } from '@nestjs/core';
import type { ConfigurationProblem } from '../errors/payment-errors.js';
import { DEFAULT_ACCOUNT, variablePrefix } from '../payment/account.js';

/**
 * One registration of the module. A value in the container, so that registrations find each other before anything is
 * made.
 */
export class AccountRegistration {
  constructor(
    readonly account: string,
    readonly path: string | null,
  ) {}

  private get prefix(): string {
    return variablePrefix(this.account);
  }

  /** What is wrong with this registration beside the others: a name or a path used twice. */
  problemsAmong(discovery: DiscoveryService): ConfigurationProblem[] {
    const registrations = registrationsIn(discovery);
    const problems: ConfigurationProblem[] = [];
    if (registrations.filter(({ account }) => account === this.account).length > 1) {
      const message = `${describe(this.account)} is registered twice; call PaymentModule.forRoot once for each account`;
      problems.push({ option: 'name', variable: null, message });
    }
    const twin = registrations.find(({ account, prefix }) => account !== this.account && prefix === this.prefix);
    if (twin) {
      const both = `"${this.account}" and "${twin.account}"`;
      const message = `${both} would read the same variables (${this.prefix}…); rename one`;
      problems.push({ option: 'name', variable: null, message });
    }
    if (this.path !== null && registrations.filter(({ path }) => path === this.path).length > 1) {
      const message = `"${this.path}" is used by two accounts; give each its own`;
      problems.push({ option: 'callback.path', variable: null, message });
    }
    return problems;
  }
}

/** What is wrong with the accounts that `@OnPayment` handlers name: each must be registered. */
export function handlerAccountProblems(
  discovery: DiscoveryService,
  accounts: readonly string[],
): ConfigurationProblem[] {
  const registered = new Set(registrationsIn(discovery).map(({ account }) => account));
  return [...new Set(accounts)]
    .filter((account) => !registered.has(account))
    .map((account) => ({
      option: '@OnPayment name',
      variable: null,
      message: `${describe(account)} is not registered with PaymentModule`,
    }));
}

function registrationsIn(discovery: DiscoveryService): AccountRegistration[] {
  return discovery
    .getProviders()
    .filter((wrapper) => wrapper.token === AccountRegistration)
    .map((wrapper) => wrapper.instance as AccountRegistration);
}

function describe(account: string): string {
  return account === DEFAULT_ACCOUNT ? 'the unnamed account' : `the account "${account}"`;
}
