import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-errors.js';
import { DEFAULT_ACCOUNT, variablePrefix } from '../payment/account.js';
import { PaymentSettings } from '../options/payment-settings.js';

/**
 * One registration of the module. It is a value in the container, so that registrations find each other before any
 * provider is made.
 */
export class AccountRegistration {
  constructor(
    readonly account: string,
    readonly path: string | null,
  ) {}

  private get prefix(): string {
    return variablePrefix(this.account);
  }

  /** The conflicts of this registration with the others: a name, a path or variables that two of them use. */
  problemsAmong(discovery: DiscoveryService, modules: ModulesContainer): ConfigurationProblem[] {
    const registrations = registrationsIn(discovery);
    const problems: ConfigurationProblem[] = [];
    if (registrations.filter(({ account }) => account === this.account).length > 1) {
      const message =
        `${describe(this.account)} is registered twice${registrarsOf(this.account, modules)}: call PaymentModule.forRoot ` +
        'once for each account, in the module of the application; it is global, so the others need not import it';
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

/** One problem for each account that an `@OnPayment` handler names and that is not registered. */
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

/** The names of the accounts of an application. */
export function accountsIn(discovery: DiscoveryService): string[] {
  return registrationsIn(discovery).map(({ account }) => account);
}

function registrationsIn(discovery: DiscoveryService): AccountRegistration[] {
  return discovery
    .getProviders()
    .filter((wrapper) => wrapper.token === AccountRegistration)
    .map((wrapper) => wrapper.instance as AccountRegistration);
}

/**
 * ` (by AppModule, OrdersModule)`: the modules that register the account. Their decorators are read, since Nest binds a
 * global module to each module.
 */
function registrarsOf(account: string, modules: ModulesContainer): string {
  const registers = (one: unknown): boolean => {
    const { providers = [] } = Object(one) as { readonly providers?: readonly unknown[] };
    return providers.some((provider) => {
      const { useValue } = Object(provider) as { readonly useValue?: unknown };
      return useValue instanceof AccountRegistration && useValue.account === account;
    });
  };
  const importsOf = (metatype: object): unknown[] =>
    (Reflect.getMetadata('imports', metatype) as unknown[] | undefined) ?? [];
  const found = [...modules.values()].filter(({ metatype }) => importsOf(metatype).some(registers));
  return found.length === 0 ? '' : ` (by ${found.map(({ metatype }) => metatype.name).join(', ')})`;
}

function describe(account: string): string {
  return account === DEFAULT_ACCOUNT ? 'the unnamed account' : `the account "${account}"`;
}

/**
 * Refuses to start an application whose options depend on the request: each request would open a store and a gateway
 * connection of its own, and Nest would not call the module's hooks. It does call the hook of this class, which depends
 * on nothing that is request-scoped.
 */
@Injectable()
export class ScopeCheck implements OnModuleInit {
  /** A `#` field: printed, it would show the whole application. */
  readonly #discovery: DiscoveryService;

  constructor(discovery: DiscoveryService) {
    this.#discovery = discovery;
  }

  onModuleInit(): void {
    const settings = this.#discovery.getProviders().filter(({ token }) => token === PaymentSettings);
    if (settings.every((wrapper) => wrapper.isDependencyTreeStatic())) return;
    const message =
      'depends on a request-scoped provider; inject singletons alone (for a merchant per request, register an account ' +
      'for each with { name } and choose by @InjectPayment)';
    throw new PaymentConfigurationError([{ option: 'forRootAsync', variable: null, message }]);
  }
}
