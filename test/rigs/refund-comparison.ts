import type { SimulatorLedger } from 'nestjs-card-payment/simulator';
import { toMinorUnits } from '../../lib/payment/amount.js';
import { isOpenRefund, refundTotals } from '../../lib/payment/refund.js';
import { GIVES_BACK, type StoredPayment } from './ledger-comparison.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A refund as the store has it in the end, with its changes. */
export type StoredRefund = StoredPayment;

/** What the gateway, whose inquiries know refunds, and the store say in the end. */
export interface RefundLedgers {
  readonly ledger: Pick<SimulatorLedger, 'refunds' | 'violations' | 'charges'>;
  readonly payments: readonly StoredPayment[];
  readonly refunds: readonly StoredRefund[];
}

/** Where they differ about refunds: lines that begin with the id of the refund or payment. */
export interface RefundDifferences {
  /** Refunds that were sent or given back more than once, and payments of which more was given back than taken. */
  readonly givenTwice: readonly string[];
  /** Money that was given back, and is not known as that. */
  readonly lost: readonly string[];
  /** Money that was not given back, and is not known as that. */
  readonly invented: readonly string[];
}

/** What the store has of the refunds of these payments. */
export async function storedRefunds(store: PaymentStore, payments: readonly StoredPayment[]): Promise<StoredRefund[]> {
  const account = 'default';
  const refunds: StoredRefund[] = [];
  for (const { record: payment } of payments) {
    for (const record of await store.findRefunds(account, payment.conversationId)) {
      refunds.push({ record, history: await store.history(account, record.conversationId) });
    }
  }
  return refunds;
}

export function compareRefunds({ ledger, payments, refunds }: RefundLedgers): RefundDifferences {
  const givenTwice = ledger.violations
    .filter(({ operation }) => GIVES_BACK.includes(operation))
    .map(({ conversationId, kind, operation }) => `${conversationId}: ${kind} ${operation}`);
  const lost: string[] = [];
  const records = new Map(refunds.map(({ record }) => [record.conversationId, record]));
  const given = new Set<string>();
  for (const { conversationId, kind, amount, charge } of ledger.refunds) {
    if (given.has(conversationId)) givenTwice.push(`${conversationId}: given back twice`);
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
  const { exceeded, contradicted } = compareTotals({ ledger, payments, refunds });
  return { givenTwice: [...givenTwice, ...exceeded], lost: [...lost, ...contradicted], invented };
}

/** Of each payment: what was given back against what was taken, and against what the shop would say. */
function compareTotals({ ledger, payments, refunds }: RefundLedgers): { exceeded: string[]; contradicted: string[] } {
  const exceeded: string[] = [];
  const contradicted: string[] = [];
  for (const charge of ledger.charges) {
    const { conversationId, currencyCode } = charge;
    const units = (amount: string): bigint => toMinorUnits(amount, currencyCode) ?? 0n;
    const sum = (amounts: readonly { amount: string }[]): bigint =>
      amounts.reduce((total, { amount }) => total + units(amount), 0n);
    const own = refunds.map(({ record }) => record).filter(({ parentId }) => parentId === conversationId);
    const recorded = sum(own.filter(({ reason }) => reason === 'recorded'));
    const givenBack = sum(ledger.refunds.filter((refund) => refund.charge.conversationId === conversationId));
    if (givenBack > units(charge.amount)) exceeded.push(`${conversationId}: more given back than was taken`);
    const payment = payments.find(({ record }) => record.conversationId === conversationId)?.record;
    if (!payment || own.some(isOpenRefund)) continue;
    const { refunded, open } = refundTotals(payment, own, 'fixed');
    if (units(refunded) !== givenBack + recorded || units(open) !== 0n) {
      contradicted.push(
        `${conversationId}: ${refunded} known as given back, and ${givenBack + recorded} minor units were`,
      );
    }
  }
  return { exceeded, contradicted };
}
