import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-errors.js';
import { MAX_TIMER_MS } from '../payment/clock.js';
import type { PaymentEvent, PaymentEventType } from '../payment/payment-event.js';
import { EVENT_STATES } from '../payment/payment-state.js';
import { type OnPaymentMetadata, onPaymentMetadata } from './on-payment.decorator.js';

/** An awaited handler that this application has. */
export interface PaymentHandler {
  readonly id: string;
  readonly account: string;
  readonly types: readonly PaymentEventType[];
  /** How many calls may run at once in this instance. */
  readonly concurrency: number;
  /** After how many milliseconds a call counts as failed; null for never. */
  readonly timeoutMs: number | null;
  handle(event: PaymentEvent): unknown;
}

/** Finds the methods marked with `@OnPayment`. */
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
    const note = (id: string, message: string): void => {
      problems.push({ option: `@OnPayment ${id}`, variable: null, message });
    };

    // A factory or a value may provide one instance under several tokens.
    const seen = new Set<unknown>();
    for (const wrapper of [...this.#discovery.getProviders(), ...this.#discovery.getControllers()]) {
      const instance: unknown = wrapper.instance;
      if (wrapper.isAlias || typeof instance !== 'object' || instance === null || seen.has(instance)) continue;
      seen.add(instance);
      const prototype = Object.getPrototypeOf(instance) as object | null;
      if (!prototype) continue;
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const method = (prototype as Record<string, unknown>)[name];
        if (typeof method !== 'function') continue;
        for (const metadata of onPaymentMetadata(method)) {
          const id = metadata.id ?? `${prototype.constructor.name}.${name}`;
          if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
            note(
              id,
              'is on a request-scoped or transient provider; make the provider, and what it injects, a singleton',
            );
          }
          const { concurrency, timeoutMs } = metadata;
          if (!Number.isInteger(concurrency) || concurrency < 1)
            note(id, 'has a concurrency that is no whole number above 0');
          if (timeoutMs !== null && !(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
            note(id, `has a timeoutMs that is no whole number from 1 to ${MAX_TIMER_MS}`);
          }
          const wrong = metadata.states.filter((state) => !EVENT_STATES.includes(state));
          if (wrong.length > 0) note(id, `names a state that has no event; choose of ${EVENT_STATES.join(', ')}`);
          const isTwice = handlers.some((other) => other.id === id && other.account === metadata.account);
          if (isTwice) note(id, 'stands twice; give each its own { id }');
          handlers.push(handlerOf(id, metadata, instance, method));
        }
      }
    }
    if (problems.length > 0) throw new PaymentConfigurationError(problems);
    return handlers;
  }
}

function handlerOf(id: string, metadata: OnPaymentMetadata, instance: object, method: object): PaymentHandler {
  return {
    id,
    account: metadata.account,
    types: [...new Set(metadata.states)].map((state) => `payment.${state}` as const),
    concurrency: metadata.concurrency,
    timeoutMs: metadata.timeoutMs,
    handle: (event) => (method as (event: PaymentEvent) => unknown).call(instance, event),
  };
}
