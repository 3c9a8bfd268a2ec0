import {
  EVENT_STATES,
  type PaymentEventState,
  type PaymentHistoryEntry,
  type PaymentRecord,
} from 'nestjs-card-payment';
import type { SimulatorLedger } from 'nestjs-card-payment/simulator';
import { eventIdOf } from '../../lib/payment/payment-event.js';
import type { RepeatedSale, ShownState } from './buyers.js';
import { DECLARED, HANDLER_IDS, type HandledEvent } from './order-handlers.js';

/** A payment as the store has it in the end. */
export interface StoredPayment {
  readonly record: PaymentRecord;
  readonly history: readonly PaymentHistoryEntry[];
}

/** What all sides say in the end. */
export interface Evidence {
  readonly ledger: Pick<SimulatorLedger, 'charges' | 'violations' | 'decision'>;
  readonly payments: readonly StoredPayment[];
  /** What buyers were shown. */
  readonly shown: readonly ShownState[];
  readonly repeats: readonly RepeatedSale[];
  /** What the handlers did, in that order. */
  readonly handled: readonly HandledEvent[];
}

/** Where the sides differ: nothing, or one line for each difference with the payment's conversationId. */
export function differences(evidence: Evidence): string[] {
  return [
    ...ledgerDifferences(evidence),
    ...shownDifferences(evidence),
    ...repeatDifferences(evidence),
    ...eventDifferences(evidence),
  ];
}

/** The events that a payment's history owes to handlers. */
export function owedEvents({ record, history }: StoredPayment): { eventId: string; state: PaymentEventState }[] {
  return history.flatMap(({ state, version }, i) =>
    isPublished(state) && state !== history[i - 1]?.state
      ? [{ eventId: eventIdOf({ ...record, version }), state }]
      : [],
  );
}

function ledgerDifferences({ ledger, payments }: Evidence): string[] {
  const found = ledger.violations.map(
    ({ conversationId, kind, operation }) => `${conversationId}: ${kind} ${operation}`,
  );
  const records = new Map(payments.map(({ record }) => [record.conversationId, record]));
  const charged = new Map<string, string>();
  const paidBy = new Map<string, string>();
  for (const { conversationId, amount } of ledger.charges) {
    const record = records.get(conversationId);
    if (charged.has(conversationId)) found.push(`${conversationId}: charged twice`);
    charged.set(conversationId, amount);
    if (!record) {
      found.push(`${conversationId}: charged, and not in the store`);
      continue;
    }
    if (record.state !== 'succeeded') found.push(`${conversationId}: charged, and ${record.state}`);
    if (record.amount !== amount) found.push(`${conversationId}: charged ${amount} instead of ${record.amount}`);
    const other = paidBy.get(record.reference ?? '');
    if (other) found.push(`${conversationId}: charged for ${record.reference}, as was ${other}`);
    paidBy.set(record.reference ?? '', conversationId);
  }
  for (const { conversationId, state } of records.values()) {
    if (charged.has(conversationId)) continue;
    const isUnknowable = !ledger.decision(conversationId)?.inquiry;
    const isRight = state === 'failed' || state === 'expired' || (state === 'unknown' && isUnknowable);
    if (!isRight) found.push(`${conversationId}: not charged, and ${state}`);
  }
  return found;
}

function shownDifferences({ shown, payments }: Evidence): string[] {
  const states = new Map(payments.map(({ record }) => [record.conversationId, record.state]));
  return shown.flatMap(({ conversationId, state }) => {
    const stored = states.get(conversationId);
    const isRight = {
      succeeded: stored === 'succeeded',
      failed: stored === 'failed' || stored === 'expired',
      expired: stored === 'failed' || stored === 'expired',
    }[state];
    return isRight === false || !stored ? [`${conversationId}: shown as ${state}, and ${stored ?? 'not stored'}`] : [];
  });
}

/** Only a payment of which nothing was sent gives its idempotencyKey free. */
function repeatDifferences({ repeats, payments }: Evidence): string[] {
  const unsent = payments.filter(({ record: { reason } }) => reason === 'not_sent' || reason === 'reference_taken');
  const free = new Set(unsent.map(({ record }) => record.conversationId));
  return repeats.flatMap(({ first, again }) =>
    again === first || free.has(first) ? [] : [`${first}: its idempotencyKey gave ${again} afterwards`],
  );
}

function eventDifferences({ payments, handled }: Evidence): string[] {
  const found: string[] = [];
  const owed = new Set<string>();
  const calls = new Set(handled.map(({ handlerId, eventId }) => `${handlerId} ${eventId}`));
  for (const payment of payments) {
    for (const { eventId } of owedEvents(payment)) {
      owed.add(eventId);
      for (const handlerId of HANDLER_IDS) {
        if (!calls.has(`${handlerId} ${eventId}`)) found.push(`${eventId}: lost for the handler ${handlerId}`);
      }
    }
  }
  const latest = new Map<string, number>();
  const seen = new Set<string>();
  for (const { handlerId, version, type, eventId } of handled) {
    if (!owed.has(eventId)) found.push(`${eventId}: handled by ${handlerId}, and not in the store`);
    const declared: readonly string[] = DECLARED[version][handlerId];
    if (!declared.includes(type.replace('payment.', ''))) {
      found.push(`${eventId}: ${type} handled by ${handlerId} of version ${version}, which did not declare it`);
    }
    const [conversationId = '', change = ''] = eventId.split(':');
    const earlier = latest.get(`${handlerId} ${conversationId}`) ?? 0;
    if (!seen.has(`${handlerId} ${eventId}`) && Number(change) < earlier) {
      found.push(`${eventId}: handled by ${handlerId} after ${conversationId}:${earlier}`);
    }
    seen.add(`${handlerId} ${eventId}`);
    latest.set(`${handlerId} ${conversationId}`, Math.max(earlier, Number(change)));
  }
  return found;
}

function isPublished(state: string): state is PaymentEventState {
  return (EVENT_STATES as readonly string[]).includes(state);
}
