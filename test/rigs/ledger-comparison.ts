import type { PaymentEventState, PaymentHistoryEntry } from 'nestjs-card-payment';
import type { SimulatorLedger, SimulatorOperation } from 'nestjs-card-payment/simulator';
import { eventIdOf, isEventState } from '../../lib/payment/payment-event.js';
import { isRefund, type PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A payment as the store has it in the end, with its changes. */
export interface StoredPayment {
  readonly record: PaymentRecord;
  readonly history: readonly PaymentHistoryEntry[];
}

/** What the gateway and the store say in the end. */
export interface BothLedgers {
  readonly ledger: Pick<SimulatorLedger, 'charges' | 'violations' | 'decision'>;
  readonly payments: readonly StoredPayment[];
  /** The orders of payments that the store may have lost, by conversationId. */
  readonly references?: ReadonlyMap<string, string>;
}

/** Where they differ: lines that begin with the payment's conversationId. */
export interface LedgerDifferences {
  /** Orders that were charged more than once, and calls that were repeated. */
  readonly chargedTwice: readonly string[];
  /** Payments that were charged, and are not known as succeeded with this amount. */
  readonly lost: readonly string[];
  /** Payments that were not charged, and are not known as unpaid. */
  readonly invented: readonly string[];
}

/** The operations that `compareRefunds` looks at. */
export const GIVES_BACK: readonly SimulatorOperation[] = ['refund', 'void'];

/** What the store has of these orders. */
export async function storedPayments(store: PaymentStore, references: Iterable<string>): Promise<StoredPayment[]> {
  const payments: StoredPayment[] = [];
  for (const reference of references) {
    for (const record of await store.findByReference('default', reference)) {
      payments.push({ record, history: await store.history(record.account, record.conversationId) });
    }
  }
  return payments;
}

export function compareLedgers({ ledger, payments, references = new Map() }: BothLedgers): LedgerDifferences {
  const chargedTwice = ledger.violations
    .filter(({ operation }) => !GIVES_BACK.includes(operation))
    .map(({ conversationId, kind, operation }) => `${conversationId}: ${kind} ${operation}`);
  const lost: string[] = [];
  const records = new Map(payments.map(({ record }) => [record.conversationId, record]));
  const charged = new Set<string>();
  /** The payments that paid an order. */
  const paidBy = new Map<string, string>();
  for (const { conversationId, amount } of ledger.charges) {
    const record = records.get(conversationId);
    const reference = record?.reference ?? references.get(conversationId);
    const other = reference && paidBy.get(reference);
    if (charged.has(conversationId)) chargedTwice.push(`${conversationId}: charged twice`);
    else if (other) chargedTwice.push(`${conversationId}: charged for ${reference}, as was ${other}`);
    charged.add(conversationId);
    if (reference) paidBy.set(reference, conversationId);
    if (!record) lost.push(`${conversationId}: charged, and not in the store`);
    else if (record.state !== 'succeeded') lost.push(`${conversationId}: charged, and ${record.state}`);
    if (record && record.amount !== amount) {
      lost.push(`${conversationId}: charged ${amount} instead of ${record.amount}`);
    }
  }
  const invented = [...records.values()]
    .filter(({ conversationId, state }) => !charged.has(conversationId) && !isUnpaid(state, ledger, conversationId))
    .map(({ conversationId, state }) => `${conversationId}: not charged, and ${state}`);
  return { chargedTwice, lost, invented };
}

/** A payment that the gateway has never heard of stays unknown: nobody can say what became of its request. */
function isUnpaid(state: string, ledger: BothLedgers['ledger'], conversationId: string): boolean {
  if (state === 'unknown') return !ledger.decision(conversationId)?.inquiry;
  return state === 'failed' || state === 'expired';
}

/** An event that handlers should hear. */
interface OwedEvent {
  readonly eventId: string;
  readonly state: PaymentEventState;
  readonly reason: PaymentHistoryEntry['reason'];
}

/** The events that a payment's history owes to handlers: one for each change into a state that has one. */
export function owedEvents({ record, history }: StoredPayment): OwedEvent[] {
  return history.flatMap(({ state, reason, version }, i) =>
    isEventState(state) && state !== history[i - 1]?.state
      ? [{ eventId: eventIdOf({ ...record, version }), state, reason }]
      : [],
  );
}

/**
 * Ids of the events that a handler should have heard and has not. That a payment ended without money is not told while
 * its order is held, which another payment of it may have done at that moment; nor may that of a refund which was not
 * sent be, since its caller has the answer.
 */
export function lostEvents(payments: readonly StoredPayment[], heard: ReadonlySet<string>): string[] {
  return payments.flatMap((payment) => {
    const { reference, account } = payment.record;
    const isAlone = payments.every(
      (other) => other === payment || other.record.reference !== reference || other.record.account !== account,
    );
    const isEnd = ({ state }: OwedEvent) => state === 'failed' || state === 'expired';
    const isToldIf = ({ reason }: OwedEvent) => (isRefund(payment.record) ? reason === 'not_sent' : !isAlone);
    const owed = owedEvents(payment).filter((event) => !isEnd(event) || !isToldIf(event));
    return owed.flatMap(({ eventId }) => (heard.has(eventId) ? [] : [eventId]));
  });
}
