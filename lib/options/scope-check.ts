import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { PaymentConfigurationError } from '../errors/payment-errors.js';
import { PaymentSettings } from './payment-settings.js';

/**
 * Stops the start of an application whose options come from a request: each request would have a store and a gateway
 * connection of its own, and Nest would call no hook of the module. This class depends on nothing that is
 * request-scoped, so Nest does call its own.
 */
@Injectable()
export class ScopeCheck implements OnModuleInit {
  /** Private to the language, too: printed, it would show the whole application. */
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
