import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-errors.js';
import { MAX_TIMER_MS } from '../runtime/clock.js';
import type { LedgerEvent, LedgerEventType } from '../payment/payment-event.js';
import { isWritable } from '../payment/kept-text.js';
import { EVENT_STATES, REFUND_EVENT_STATES } from '../payment/states.js';
import { type HandlerMetadata, marksOf } from './on-payment.decorator.js';

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

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** What the stores keep of an id. */
const MAX_ID_LENGTH = 255;

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
    const found = [...this.marked()];
    const ids = new Set<string>();
    const problems = found.flatMap(({ wrapper, mark, handler }): ConfigurationProblem[] => {
      const option = `${DECORATORS[mark.of].name} ${handler.id}`;
      const messages = problemsOf(handler.id, mark, wrapper);
      // A handler of payments and one of refunds may have the same id, as they take different events.
      const uniqueId = JSON.stringify([mark.account, mark.of, handler.id]);
      if (ids.has(uniqueId)) messages.push('stands twice; give each its own { id }');
      ids.add(uniqueId);
      return messages.map((message) => ({ option, variable: null, message }));
    });
    if (problems.length > 0) throw new PaymentConfigurationError(problems);
    return found.map(({ handler }) => handler);
  }

  private *marked(): Generator<{ wrapper: InstanceWrapper; mark: HandlerMetadata; handler: PaymentHandler }> {
    // A factory or a value may provide one instance under several tokens.
    const seen = new Set<unknown>();
    for (const wrapper of [...this.#discovery.getProviders(), ...this.#discovery.getControllers()]) {
      const instance: unknown = wrapper.instance;
      if (wrapper.isAlias || typeof instance !== 'object' || instance === null || seen.has(instance)) continue;
      seen.add(instance);
      const prototype = Object.getPrototypeOf(instance) as object | null;
      for (const name of prototype ? this.scanner.getAllMethodNames(prototype) : []) {
        const method: unknown = Reflect.get(prototype!, name);
        if (typeof method !== 'function') continue;
        for (const mark of marksOf(method)) {
          const id = mark.id ?? `${prototype!.constructor.name}.${name}`;
          yield { wrapper, mark, handler: handlerOf(id, mark, instance, method) };
        }
      }
    }
  }
}

function problemsOf(
  id: string,
  { of, states, concurrency, timeoutMs }: HandlerMetadata,
  wrapper: InstanceWrapper,
): string[] {
  const known = DECORATORS[of].states;
  // To the store an empty id is nobody's, for events that are still to be fanned out.
  const isIdGood = isWritable(id) && id.trim() !== '' && id.length <= MAX_ID_LENGTH;
  const isTimeGood = timeoutMs === null || (Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS);
  const checks: readonly (readonly [isGood: boolean, problem: string])[] = [
    [
      wrapper.isDependencyTreeStatic() && !wrapper.isTransient,
      'is on a request-scoped or transient provider; make the provider, and what it injects, a singleton',
    ],
    [isIdGood, `has an id that is blank, longer than ${MAX_ID_LENGTH} characters, or cannot be stored`],
    [Number.isInteger(concurrency) && concurrency >= 1, 'has a concurrency that is no whole number above 0'],
    [isTimeGood, `has a timeoutMs that is no whole number from 1 to ${MAX_TIMER_MS}`],
    [states.every((state) => known.includes(state)), `names a state that has no event; choose of ${known.join(', ')}`],
  ];
  return checks.flatMap(([isGood, problem]) => (isGood ? [] : [problem]));
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
