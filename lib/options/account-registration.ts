import type { DiscoveryService } from '@nestjs/core';
import type { ConfigurationProblem } from '../errors/payment-configuration.error.js';
import { DEFAULT_ACCOUNT } from './payment-settings.js';
import { variablePrefix } from './resolve-settings.js';

/** One registration of the module. It stands in the container as a value, so that registrations find each other before any is made. */
export class AccountRegistration {
  constructor(
    readonly account: string,
    readonly path: string | null,
  ) {}

  private get prefix(): string {
    return variablePrefix(this.account === DEFAULT_ACCOUNT ? undefined : this.account);
  }

  /** What is wrong when this registration stands beside the others: a name or a path used twice. */
  problemsAmong(discovery: DiscoveryService): ConfigurationProblem[] {
    const rolls = registrationsIn(discovery);
    const problems: ConfigurationProblem[] = [];
    if (rolls.filter((roll) => roll.account === this.account).length > 1) {
      const message = `${describe(this.account)} is registered twice; call PaymentModule.forRoot once for each account`;
      problems.push({ option: 'name', variable: null, message });
    }
    const twin = rolls.find((roll) => roll.account !== this.account && roll.prefix === this.prefix);
    if (twin) {
      const message = `"${this.account}" and "${twin.account}" would read the same variables (${this.prefix}…); rename one`;
      problems.push({ option: 'name', variable: null, message });
    }
    if (this.path !== null && rolls.filter((roll) => roll.path === this.path).length > 1) {
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
  const known = new Set(registrationsIn(discovery).map((roll) => roll.account));
  return [...new Set(accounts)]
    .filter((account) => !known.has(account))
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
