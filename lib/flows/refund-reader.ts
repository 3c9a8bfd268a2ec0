import { Injectable } from '@nestjs/common';
import { PaymentDuplicateError } from '../errors/payment-errors.js';
import { compareAmounts } from '../payment/amount.js';
import { isRefund, type PaymentRecord, toPayment } from '../payment/payment.js';
import { refundedPayment, toRefund } from '../payment/refund.js';
import { PaymentReader } from './payment-reader.js';

/** A refund as it is asked for. */
export interface AskedRefund extends Pick<PaymentRecord, 'kind' | 'idempotencyKey'> {
  /** Null if the host gives none. */
  readonly refundId: string | null;
  /** The payment's conversationId. */
  readonly conversationId: string;
  /** Null if all that is left is to be given back. */
  readonly amount: string | null;
}

/** Looks up the account's refunds, as {@link PaymentReader} does payments. */
@Injectable()
export class RefundReader extends PaymentReader {
  protected override readonly type = 'refund';

  /** The refunds of a payment, oldest first. */
  ofPayment(conversationId: string): Promise<PaymentRecord[]> {
    return this.findRefunds(conversationId);
  }

  /**
   * The refund that already has the id or key.
   *
   * @throws PaymentDuplicateError when only the key is still known, the id is a payment's, or it is another refund: of
   *   another payment, of another kind, or of another amount where one is given
   */
  async findAsked(asked: AskedRefund): Promise<PaymentRecord | null> {
    const { refundId, idempotencyKey } = asked;
    const byId = refundId === null ? null : await this.findAny(refundId);
    if (byId && !isRefund(byId)) throw new PaymentDuplicateError(toPayment(byId), 'refundId');
    const byKey = idempotencyKey === null ? null : await this.findByIdempotencyKey(idempotencyKey);
    if (byKey === 'purged') throw new PaymentDuplicateError(null, 'idempotencyKey');
    const earlier = byKey ?? byId;
    if (!earlier) return null;
    const isTwo = byId !== null && byKey !== null && byId.conversationId !== byKey.conversationId;
    if (isTwo || !isSameRefund(earlier, asked)) {
      throw new PaymentDuplicateError(
        refundedPayment(earlier),
        byKey ? 'idempotencyKey' : 'refundId',
        toRefund(earlier),
      );
    }
    return earlier;
  }
}

function isSameRefund(earlier: PaymentRecord, { kind, conversationId, amount }: AskedRefund): boolean {
  const isSameAmount = amount === null || compareAmounts(earlier.amount, amount) === 0;
  return earlier.kind === kind && earlier.parentId === conversationId && isSameAmount;
}
