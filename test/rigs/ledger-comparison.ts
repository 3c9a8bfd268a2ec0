import type { PaymentEventState, PaymentHistoryEntry } from 'nestjs-card-payment';
import type { SimulatorLedger } from 'nestjs-card-payment/simulator';
import { toMinorUnits } from '../../lib/payment/amount.js';
import { eventIdOf, isEventState } from '../../lib/payment/payment-event.js';
import { isRefund, type PaymentRecord } from '../../lib/payment/payment.js';
import { isOpenRefund, refundTotals } from '../../lib/payment/refund.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A payment or refund as the store has it in the end, with its changes. */
export interface StoredPayment {
  readonly record: PaymentRecord;
  readonly history: readonly PaymentHistoryEntry[];
}

/** What the store has in the end. */
export interface StoredLedger {
  readonly payments: readonly StoredPayment[];
  /** Of those payments. */
  readonly refunds: readonly StoredPayment[];
}

/** What the gateway, whose inquiries know refunds, and the store say in the end. */
export interface BothLedgers extends StoredLedger {
  readonly ledger: Pick<SimulatorLedger, 'charges' | 'refunds' | 'violations' | 'decision'>;
  /** The orders of payments that the store may have lost, by conversationId. */
  readonly references?: ReadonlyMap<string, string>;
}

/** Where they differ: lines that begin with the id of the payment or refund. */
export interface LedgerDifferences {
  /**
   * Orders that were charged more than once, refunds that were given back more than once, payments of which more was
   * given back than taken, and calls that were repeated.
   */
  readonly movedTwice: readonly string[];
  /** What was charged or given back, and is not known as that. */
  readonly lost: readonly string[];
  /** What was not charged or given back, and is not known as that. */
  readonly invented: readonly string[];
}

/** What the store has of these orders. */
export async function storedLedger(store: PaymentStore, references: Iterable<string>): Promise<StoredLedger> {
  const withHistory = async (record: PaymentRecord): Promise<StoredPayment> => {
    return { record, history: await store.history(record.account, record.conversationId) };
  };
  const payments: StoredPayment[] = [];
  const refunds: StoredPayment[] = [];
  for (const reference of references) {
    for (const payment of await store.findByReference('default', reference)) {
      payments.push(await withHistory(payment));
      const ofPayment = await store.findRefunds('default', payment.conversationId);
      for (const refund of ofPayment) refunds.push(await withHistory(refund));
    }
  }
  return { payments, refunds };
}

export function compareLedgers(both: BothLedgers): LedgerDifferences {
  const repeated = both.ledger.violations.map(
    ({ conversationId, kind, operation }) => `${conversationId}: ${kind} ${operation}`,
  );
  const parts = [compareCharges(both), compareRefunds(both), compareTotals(both)];
  return {
    movedTwice: [...repeated, ...parts.flatMap(({ movedTwice }) => movedTwice)],
    lost: parts.flatMap(({ lost }) => lost),
    invented: parts.flatMap(({ invented }) => invented),
  };
}

function compareCharges({ ledger, payments, references = new Map() }: BothLedgers): LedgerDifferences {
  const movedTwice: string[] = [];
  const lost: string[] = [];
  const records = new Map(payments.map(({ record }) => [record.conversationId, record]));
  const charged = new Set<string>();
  /** The payments that paid an order. */
  const paidBy = new Map<string, string>();
  for (const { conversationId, amount } of ledger.charges) {
    const record = records.get(conversationId);
    const reference = record?.reference ?? references.get(conversationId);
    const other = reference && paidBy.get(reference);
    if (charged.has(conversationId)) movedTwice.push(`${conversationId}: charged twice`);
    else if (other) movedTwice.push(`${conversationId}: charged for ${reference}, as was ${other}`);
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
  return { movedTwice, lost, invented };
}

/** A payment that the gateway has never heard of stays unknown: nobody can say what became of its request. */
function isUnpaid(state: string, ledger: BothLedgers['ledger'], conversationId: string): boolean {
  if (state === 'unknown') return !ledger.decision(conversationId)?.inquiry;
  return state === 'failed' || state === 'expired';
}

function compareRefunds({ ledger, refunds }: BothLedgers): LedgerDifferences {
  const movedTwice: string[] = [];
  const lost: string[] = [];
  const records = new Map(refunds.map(({ record }) => [record.conversationId, record]));
  const given = new Set<string>();
  for (const { conversationId, kind, amount, charge } of ledger.refunds) {
    if (given.has(conversationId)) movedTwice.push(`${conversationId}: given back twice`);
    given.add(conversationId);
    const record = records.get(conversationId);
    if (!record) lost.push(`${conversationId}: given back, and not in the store`);
    else if (record.state !== 'succeeded') lost.push(`${conversationId}: given back, and ${record.state}`);
    else if (record.amount !== amount || record.kind !== kind || record.parentId !== charge.conversationId) {
      const { kind: asked, amount: part, parentId } = record;
      const is = `${kind} of ${amount} of ${charge.conversationId}`;
      lost.push(`${conversationId}: ${is}, known as ${asked} of ${part} of ${parentId}`);
    }
  }
  // Of one that the gateway has not carried out, only a person can say that it never will.
  const invented = [...records.values()]
    .filter(({ conversationId, state, reason }) => {
      const isKnownAsNone = state === 'failed' || state === 'unknown' || reason === 'recorded';
      return !given.has(conversationId) && !isKnownAsNone;
    })
    .map(({ conversationId, state }) => `${conversationId}: not given back, and ${state}`);
  return { movedTwice, lost, invented };
}

/** Of each payment: what was given back against what was taken, and against what the shop would say. */
function compareTotals({ ledger, payments, refunds }: BothLedgers): LedgerDifferences {
  const movedTwice: string[] = [];
  const lost: string[] = [];
  for (const charge of ledger.charges) {
    const { conversationId, currencyCode } = charge;
    const units = (amount: string): bigint => toMinorUnits(amount, currencyCode) ?? 0n;
    const sum = (amounts: readonly { amount: string }[]): bigint =>
      amounts.reduce((total, { amount }) => total + units(amount), 0n);
    const own = refunds.map(({ record }) => record).filter(({ parentId }) => parentId === conversationId);
    const recorded = sum(own.filter(({ reason }) => reason === 'recorded'));
    const givenBack = sum(ledger.refunds.filter((refund) => refund.charge.conversationId === conversationId));
    if (givenBack > units(charge.amount)) movedTwice.push(`${conversationId}: more given back than was taken`);
    const payment = payments.find(({ record }) => record.conversationId === conversationId)?.record;
    if (!payment || own.some(isOpenRefund)) continue;
    const { refunded, open } = refundTotals(payment, own, 'fixed');
    if (units(refunded) !== givenBack + recorded || units(open) !== 0n) {
      lost.push(`${conversationId}: ${refunded} known as given back, and ${givenBack + recorded} minor units were`);
    }
  }
  return { movedTwice, lost, invented: [] };
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
