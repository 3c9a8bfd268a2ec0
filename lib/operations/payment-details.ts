import type { PaymentSettings } from '../options/payment-settings.js';
import { compareAmounts } from '../payment/amount.js';
import { isKnown, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { isOpenRefund, type Refund, type RefundTotals, toRefund } from '../payment/refund.js';
import { factsOf, isBeforeMoney } from '../payment/states.js';
import { isOwn } from '../settlement/records.js';

/** What staff can do with a payment, by the name of the method of `PaymentOperations`. */
export type PaymentAct = 'inquire' | 'abandon' | 'resolve' | 'refund' | 'void' | 'recordRefund';
/** What staff can do with a refund or void. */
export type RefundAct = 'inquireRefund' | 'resolveRefund';

/** What is shown of a payment or refund besides itself. */
interface Outlook<Act> {
  /** What its state allows now. The method itself decides: it may refuse all the same. */
  readonly acts: readonly Act[];
  /** When the gateway is asked about it again by the background work; null for never. */
  readonly askedAgainAt: Date | null;
  /** Whether it was made at another gateway than the settings name now: that one cannot be asked. */
  readonly isOtherGateways: boolean;
}

/** A payment with all that is shown beside it. */
export interface PaymentDetails extends Outlook<PaymentAct> {
  readonly payment: Payment;
  /** Oldest first. */
  readonly refunds: readonly RefundDetails[];
  readonly totals: RefundTotals;
}

/** A refund or void of a payment. */
export interface RefundDetails extends Outlook<RefundAct> {
  readonly refund: Refund;
}

/** @param totals of the payment without what may be another payment's */
export function detailsOf(
  payment: PaymentRecord,
  refunds: readonly PaymentRecord[],
  totals: RefundTotals,
  settings: PaymentSettings,
): PaymentDetails {
  const { operations } = settings.dialect;
  const isOurs = isOwn(payment, settings);
  const canAsk = isOurs && operations.checkPayment !== undefined;
  const { requesting } = factsOf(payment.state);
  const isPage = payment.kind === 'hosted' && (payment.state === 'pending' || payment.state === 'unknown');
  const isLeft = compareAmounts(totals.refundable, '0') !== 0 && !refunds.some(isOpenRefund);
  const isWhole = isLeft && compareAmounts(totals.refunded, '0') === 0;
  const isSettledForGood = payment.state === 'succeeded' || payment.state === 'review';
  const acts: Readonly<Record<PaymentAct, boolean>> = {
    inquire: canAsk && !requesting && !isSettledForGood && !isBeforeMoney(payment.state),
    resolve: isResolvable(payment),
    abandon: canAsk && isPage,
    refund: isLeft && isOurs && operations.refund !== undefined,
    void: isWhole && isOurs && operations.void !== undefined,
    recordRefund: isLeft,
  };
  return {
    payment: toPayment(payment),
    refunds: refunds.map((refund) => ({
      refund: toRefund(refund),
      ...outlookOf<RefundAct>(
        refund,
        { inquireRefund: canAsk && refund.state === 'unknown', resolveRefund: isResolvable(refund) },
        canAsk,
        settings,
      ),
    })),
    totals,
    ...outlookOf(payment, acts, canAsk, settings),
  };
}

function outlookOf<Act extends string>(
  record: PaymentRecord,
  acts: Readonly<Record<Act, boolean>>,
  canAsk: boolean,
  settings: PaymentSettings,
): Outlook<Act> {
  const isAsked = canAsk && isKnown(record) && factsOf(record.state).whenDue === 'inquire';
  return {
    acts: isKnown(record) ? (Object.keys(acts) as Act[]).filter((act) => acts[act]) : [],
    askedAgainAt: isAsked ? record.dueAt : null,
    isOtherGateways: !isOwn(record, settings),
  };
}

function isResolvable({ state }: PaymentRecord): boolean {
  return factsOf(state).to.succeeded?.includes('operator') === true;
}
