import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-errors.js';
import { MAX_TIMER_MS } from '../runtime/clock.js';
import type { LedgerEvent, LedgerEventType } from '../payment/payment-event.js';
import { EVENT_STATES, REFUND_EVENT_STATES } from '../payment/states.js';
import { type HandlerMetadata, handlerMetadata } from './on-payment.decorator.js';

/** An awaited handler that this application has. */
export interface PaymentHandler {
  readonly id: string;
  /** The account whose events it takes. */
  readonly account: string;
  readonly types: readonly LedgerEventType[];
  /** How many calls may run at once in this instance. */
  readonly concurrency: number;
  /** After how many milliseconds a call counts as failed; null for never. */
  readonly timeoutMs: number | null;
  handle(event: LedgerEvent): unknown;
}

const DECORATORS = {
  payment: { name: '@OnPayment', states: EVENT_STATES as readonly string[] },
  refund: { name: '@OnRefund', states: REFUND_EVENT_STATES as readonly string[] },
} as const;

/** Finds the methods marked with `@OnPayment` and `@OnRefund`. */
@Injectable()
export class HandlerFinder {
  /** #private, since `inspect` would otherwise print the whole application. */
  readonly #discovery: DiscoveryService;

  constructor(
    discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {
    this.#discovery = discovery;
  }

  /**
   * All handlers of the application, for every account.
   *
   * @throws PaymentConfigurationError for a handler on a request-scoped or transient provider, an id that is used
   *   twice, or an unknown state
   */
  find(): PaymentHandler[] {
    const handlers: PaymentHandler[] = [];
    const problems: ConfigurationProblem[] = [];

    // A factory or a value may provide one instance under several tokens.
    const seen = new Set<unknown>();
    const ids = new Set<string>();
    for (const wrapper of [...this.#discovery.getProviders(), ...this.#discovery.getControllers()]) {
      const instance: unknown = wrapper.instance;
      if (wrapper.isAlias || typeof instance !== 'object' || instance === null || seen.has(instance)) continue;
      seen.add(instance);
      const prototype = Object.getPrototypeOf(instance) as object | null;
      if (!prototype) continue;
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const method = (prototype as Record<string, unknown>)[name];
        if (typeof method !== 'function') continue;
        for (const metadata of handlerMetadata(method)) {
          const id = metadata.id ?? `${prototype.constructor.name}.${name}`;
          const { concurrency, timeoutMs } = metadata;
          const { name: decorator, states } = DECORATORS[metadata.of];
          const note = (message: string): void => {
            problems.push({ option: `${decorator} ${id}`, variable: null, message });
          };
          if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
            note('is on a request-scoped or transient provider; make the provider, and what it injects, a singleton');
          }
          if (!Number.isInteger(concurrency) || concurrency < 1)
            note('has a concurrency that is no whole number above 0');
          if (timeoutMs !== null && !(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
            note(`has a timeoutMs that is no whole number from 1 to ${MAX_TIMER_MS}`);
          }
          const wrong = metadata.states.filter((state) => !states.includes(state));
          if (wrong.length > 0) note(`names a state that has no event; choose of ${states.join(', ')}`);
          // A handler of payments and one of refunds may have the same id, as they take different events.
          const uniqueId = JSON.stringify([metadata.account, metadata.of, id]);
          if (ids.has(uniqueId)) note('stands twice; give each its own { id }');
          ids.add(uniqueId);
          handlers.push(handlerOf(id, metadata, instance, method));
        }
      }
    }
    if (problems.length > 0) throw new PaymentConfigurationError(problems);
    return handlers;
  }
}

function handlerOf(id: string, metadata: HandlerMetadata, instance: object, method: object): PaymentHandler {
  const { of, account, states, concurrency, timeoutMs } = metadata;
  return {
    id,
    account,
    types: [...new Set(states)].map((state) => `${of}.${state}` as LedgerEventType),
    concurrency,
    timeoutMs,
    handle: (event) => (method as (event: LedgerEvent) => unknown).call(instance, event),
  };
}
