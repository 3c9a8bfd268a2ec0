import { Inject, Injectable } from '@nestjs/common';
import { PaymentDuplicateError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isWritable } from '../payment/kept-text.js';
import { isRefund, type PaymentHistoryEntry, type PaymentRecord, toPayment } from '../payment/payment.js';
import { refundedPayment, toRefund } from '../payment/refund.js';
import { PAYMENT_STORE, type PaymentLedger, type RecordType, type RefusedKey } from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';

/**
 * Looks up the account's payments. Every method throws PaymentStoreError when the store fails. An id or reference that
 * no payment can have (with a control character, or a list from a query) is not looked up: a store may fail on it.
 */
@Injectable()
export class PaymentReader {
  protected readonly type: RecordType = 'payment';

  constructor(
    @Inject(PAYMENT_STORE) private readonly ledger: PaymentLedger,
    @Inject(PaymentSettings) private readonly settings: Pick<PaymentSettings, 'account'>,
  ) {}

  async find(conversationId: string): Promise<PaymentRecord | null> {
    const found = await this.findAny(conversationId);
    return found && isRefund(found) === (this.type === 'refund') ? found : null;
  }

  /** A payment, or a refund: an id is used once at the gateway. */
  protected async findAny(id: string): Promise<PaymentRecord | null> {
    if (!isWritable(id)) return null;
    return this.read(() => this.ledger.find(this.settings.account, id));
  }

  /** The current record, after someone else has changed it. */
  async latest(record: PaymentRecord): Promise<PaymentRecord> {
    return (await this.find(record.conversationId)) ?? record;
  }

  findByTokenHash(tokenHash: string): Promise<PaymentRecord | null> {
    return this.read(() => this.ledger.findByTokenHash(this.settings.account, tokenHash));
  }

  async findByReference(reference: string): Promise<PaymentRecord[]> {
    if (!isWritable(reference)) return [];
    return this.read(() => this.ledger.findByReference(this.settings.account, reference));
  }

  protected findRefunds(conversationId: string): Promise<PaymentRecord[]> {
    return this.read(() => this.ledger.findRefunds(this.settings.account, conversationId));
  }

  /** @returns `purged` when the payment that had the key was purged and the key is still remembered */
  findByIdempotencyKey(idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    return this.read(() => this.ledger.findByIdempotencyKey(this.settings.account, this.type, idempotencyKey));
  }

  /** Every change of a payment, oldest first. */
  history(conversationId: string): Promise<PaymentHistoryEntry[]> {
    return this.read(() => this.ledger.history(this.settings.account, conversationId));
  }

  /**
   * The payment that already has this record's conversationId or idempotencyKey.
   * @param taken the key for which the store refused the record
   * @throws PaymentDuplicateError when only the key is still known, the id is a refund's, or it is another sale: of another kind, reference,
   *   amount, currency or instalment count, or with another card
   */
  async findRepeated(record: PaymentRecord, taken: RefusedKey): Promise<PaymentRecord | null> {
    const { conversationId, idempotencyKey } = record;
    const byId = await this.findAny(conversationId);
    if (byId && isRefund(byId)) {
      throw new PaymentDuplicateError(refundedPayment(byId), 'conversationId', toRefund(byId));
    }
    const byKey = idempotencyKey === null ? null : await this.findByIdempotencyKey(idempotencyKey);
    if (byKey === 'purged') throw new PaymentDuplicateError(null, 'idempotencyKey');
    // A conversationId that is taken although no payment is found belonged to a payment that has been deleted.
    if (taken === 'conversationId' && !byId) throw new PaymentDuplicateError(null, 'conversationId');
    const earlier = byKey ?? byId;
    const isOther =
      earlier && (!isSameSale(earlier, record) || (byId && byKey && byId.conversationId !== byKey.conversationId));
    if (isOther) throw new PaymentDuplicateError(toPayment(earlier), byKey ? 'idempotencyKey' : 'conversationId');
    return earlier;
  }

  private read<T>(call: () => Promise<T>): Promise<T> {
    return callStore('reading', call);
  }
}

/** Only the card's mask is stored, and nothing about its holder, so no more can be compared. */
export function isSameSale(one: PaymentRecord, other: PaymentRecord): boolean {
  return (
    one.kind === other.kind &&
    one.reference === other.reference &&
    one.amount === other.amount &&
    one.currencyCode === other.currencyCode &&
    one.installmentCount === other.installmentCount &&
    one.maskedCardNumber === other.maskedCardNumber
  );
}
