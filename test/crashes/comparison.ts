import type { PaymentHistoryEntry, PaymentRecord } from 'nestjs-card-payment';
import type { SimulatorLedger } from 'nestjs-card-payment/simulator';
import { eventIdOf, isEventState } from '../../lib/payment/payment-event.js';
import type { Attempt } from './attempt.js';

/** What is on either side when all is over. */
export interface Books {
  readonly attempts: readonly Attempt[];
  readonly ledger: SimulatorLedger;
  /** Of the orders that were attempted, with each payment's changes. */
  readonly payments: ReadonlyMap<string, PaymentRecord>;
  readonly histories: ReadonlyMap<string, readonly PaymentHistoryEntry[]>;
  /** Ids of the events that a handler has heard. */
  readonly heard: ReadonlySet<string>;
}

/** Where the merchant's books and the gateway's differ, as readers of a failed test need it. */
export interface Differences {
  /** Orders that were charged more than once, and calls that were repeated. */
  readonly chargedTwice: readonly string[];
  /** conversationIds that were charged, and are not known as succeeded. */
  readonly lost: readonly string[];
  /** conversationIds that were not charged, and are neither unpaid nor unknown. */
  readonly invented: readonly string[];
  /** Ids of events that no handler has heard. */
  readonly lostEvents: readonly string[];
}

export function compare({ attempts, ledger, payments, histories, heard }: Books): Differences {
  const references = new Map([
    ...attempts.map(({ sale }) => [sale.conversationId, sale.reference] as const),
    ...[...payments].map(([conversationId, { reference }]) => [conversationId, reference] as const),
  ]);
  const orders = ledger.charges.map(({ conversationId }) => references.get(conversationId) ?? conversationId);
  const charged = new Set(ledger.charges.map(({ conversationId }) => conversationId));
  const uncharged = [...payments.values()].filter(({ conversationId }) => !charged.has(conversationId));
  return {
    chargedTwice: [
      ...new Set(orders.filter((order, index) => orders.indexOf(order) !== index)),
      ...ledger.violations.map(({ kind, operation, conversationId }) => `${kind} ${operation} ${conversationId}`),
    ],
    lost: [...charged].filter((conversationId) => payments.get(conversationId)?.state !== 'succeeded'),
    // The gateway has no word on a request that never came.
    invented: uncharged
      .filter(({ state }) => !['failed', 'expired', 'unknown'].includes(state))
      .map(({ conversationId }) => conversationId),
    lostEvents: owedEvents({ payments, histories }).filter((eventId) => !heard.has(eventId)),
  };
}

/** Ids of the events of these payments: one for each change into a state that has one. */
export function owedEvents({ payments, histories }: Pick<Books, 'payments' | 'histories'>): string[] {
  return [...histories].flatMap(([conversationId, history]) =>
    history
      .filter(({ state }, index) => isEventState(state) && state !== history[index - 1]?.state)
      .map(({ version }) => eventIdOf({ ...payments.get(conversationId), conversationId, version })),
  );
}
