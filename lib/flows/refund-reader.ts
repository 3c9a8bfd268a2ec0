import { Inject, Injectable } from '@nestjs/common';
import { PaymentDuplicateError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { refundsAccountOf } from '../payment/account.js';
import { compareAmounts } from '../payment/amount.js';
import type { PaymentRecord } from '../payment/payment.js';
import { refundedPayment, toRefund } from '../payment/refund.js';
import { PAYMENT_STORE, type PaymentLedger } from '../store/payment-store.js';
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
  constructor(
    @Inject(PAYMENT_STORE) ledger: PaymentLedger,
    @Inject(PaymentSettings) settings: Pick<PaymentSettings, 'account'>,
  ) {
    super(ledger, { account: refundsAccountOf(settings.account) });
  }

  /** The refunds of a payment, oldest first. */
  ofPayment(conversationId: string): Promise<PaymentRecord[]> {
    return this.findByReference(conversationId);
  }

  /**
   * The refund that already has the id or key.
   *
   * @throws PaymentDuplicateError when only the key is still known, or it is another refund: of another payment, of
   *   another kind, or of another amount where one is given
   */
  async findAsked(asked: AskedRefund): Promise<PaymentRecord | null> {
    const { refundId, idempotencyKey } = asked;
    const byId = refundId === null ? null : await this.find(refundId);
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

  /**
   * Refuses an id that a refund has: an id is used once at the gateway.
   *
   * @throws PaymentDuplicateError
   */
  async refuseRefundId(conversationId: string | undefined): Promise<void> {
    const refund = conversationId === undefined ? null : await this.find(conversationId);
    if (refund) throw new PaymentDuplicateError(refundedPayment(refund), 'conversationId', toRefund(refund));
  }
}

function isSameRefund(earlier: PaymentRecord, { kind, conversationId, amount }: AskedRefund): boolean {
  const isSameAmount = amount === null || compareAmounts(earlier.amount, amount) === 0;
  return earlier.kind === kind && earlier.reference === conversationId && isSameAmount;
}
