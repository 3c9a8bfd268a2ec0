import type { Payment, PaymentService, Refund, RefundTotals } from 'nestjs-card-payment';

/** A payment with all that was, or may have been, given back of it. */
export interface MoneyBack {
  readonly payment: Payment;
  readonly totals: RefundTotals;
  /** Oldest first. */
  readonly refunds: readonly Refund[];
}

/** The payments of an order, oldest first. */
export async function moneyBackOf(payments: PaymentService, orderId: string): Promise<MoneyBack[]> {
  const found = await payments.findByReference(orderId);
  return Promise.all(
    found.map(async (payment) => ({
      payment,
      refunds: await payments.refunds(payment.conversationId),
      totals: await payments.refundTotals(payment.conversationId),
    })),
  );
}

/** Whether the gateway took money for certain. */
function isTaken({ totals }: MoneyBack): boolean {
  return Number(totals.taken) > 0;
}

/** Whether something is left to give back. */
function isLeft({ totals }: MoneyBack): boolean {
  return Number(totals.refundable) > 0;
}

/** Whether everything that was taken was given back. */
export function isGivenBack(moneyBack: MoneyBack): boolean {
  return isTaken(moneyBack) && !isLeft(moneyBack) && Number(moneyBack.totals.open) === 0;
}

/** Whether the outcome of a refund is not known yet. While that is so, nothing more of its payment is given back. */
export function isOpen({ settled }: Refund): boolean {
  return !settled;
}
