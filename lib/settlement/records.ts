import { Inject, Injectable } from '@nestjs/common';
import { PaymentDuplicateError, PaymentNotFoundError, PaymentStateError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { compareAmounts } from '../payment/amount.js';
import { gatewayHostOf } from '../payment/gateway-id.js';
import { isWritable } from '../payment/kept-text.js';
import { isRefund, type PaymentHistoryEntry, type PaymentRecord, toPayment } from '../payment/payment.js';
import { refundedPayment, toRefund } from '../payment/refund.js';
import { PAYMENT_STORE, type PaymentLedger, type RecordType, type RefusedKey } from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';

/** A payment that stands in the way of a new one, and what it has of it. */
export interface Earlier {
  readonly payment: PaymentRecord;
  readonly key: 'conversationId' | 'idempotencyKey' | 'reference';
}

/**
 * Looks up the account's payments. Every method throws PaymentStoreError when the store fails. An id or reference that
 * no payment can have (with a control character, or a list from a query) is not looked up: a store may fail on it.
 */
@Injectable()
export class PaymentReader {
  readonly type: RecordType = 'payment';

  constructor(
    @Inject(PAYMENT_STORE) protected readonly ledger: PaymentLedger,
    @Inject(PaymentSettings) protected readonly settings: Pick<PaymentSettings, 'account'>,
  ) {}

  async find(conversationId: string): Promise<PaymentRecord | null> {
    const found = await this.findAny(conversationId);
    return found && isRefund(found) === (this.type === 'refund') ? found : null;
  }

  /** @throws PaymentNotFoundError */
  async get(id: string): Promise<PaymentRecord> {
    const found = await this.find(id);
    if (!found) throw new PaymentNotFoundError(this.type);
    return found;
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

  /**
   * The payment that holds the order of another one, which may therefore not be sent.
   *
   * @returns `purged` when the order is held and there is none to name: two payments of it moved money, or the one that
   *   paid it was purged; null when nothing is in the way
   */
  async findHolder({
    reference,
    allowRepeat,
  }: Pick<PaymentRecord, 'reference' | 'allowRepeat'>): Promise<PaymentRecord | 'purged' | null> {
    if (reference === null || allowRepeat || !isWritable(reference)) return null;
    return this.read(() => this.ledger.findByReferenceLock(this.settings.account, reference));
  }

  async findByReference(reference: string): Promise<PaymentRecord[]> {
    if (!isWritable(reference)) return [];
    return this.read(() => this.ledger.findByReference(this.settings.account, reference));
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
   * The payment that stands in the way of a new one: it has its conversationId or idempotencyKey, and is of the same
   * sale; or it holds its order.
   *
   * @param taken the key for which the store refused the record
   * @returns null when nothing is in the way any more
   * @throws PaymentDuplicateError when only the key or the lock is still known, the id is a refund's, or the id or key
   *   is another sale's: of another kind, reference, amount, currency or instalment count, or with another card
   * @throws PaymentStateError when the payment is of another gateway: its outcome says nothing here
   */
  async findEarlier(
    record: PaymentRecord,
    taken: RefusedKey,
    settings: Pick<PaymentSettings, 'gateways'>,
  ): Promise<Earlier | null> {
    const { conversationId, idempotencyKey } = record;
    const byId = await this.findAny(conversationId);
    if (byId && isRefund(byId)) {
      throw new PaymentDuplicateError(refundedPayment(byId), 'conversationId', toRefund(byId));
    }
    // A conversationId that is taken although no payment is found belonged to a payment that has been deleted.
    if (taken === 'conversationId' && !byId) throw new PaymentDuplicateError(null, 'conversationId');
    const byKey = idempotencyKey === null ? null : await this.findByIdempotencyKey(idempotencyKey);
    if (byKey === 'purged') throw new PaymentDuplicateError(null, 'idempotencyKey');
    const earlier = byId ?? byKey;
    const key = byId ? 'conversationId' : 'idempotencyKey';
    if (earlier) expectOwn(earlier, settings, 'be returned');
    const isOther =
      earlier && (!isSameSale(earlier, record) || (byId && byKey && byId.conversationId !== byKey.conversationId));
    if (isOther) throw new PaymentDuplicateError(toPayment(earlier), key);
    if (earlier) return { payment: earlier, key };
    const holder = await this.findHolder(record);
    if (holder === 'purged') throw new PaymentDuplicateError(null, 'reference');
    // What another gateway says of its payment is no outcome here.
    if (holder) expectOwn(holder, settings, 'be judged, though it holds the order,');
    return holder && { payment: holder, key: 'reference' };
  }

  protected read<T>(call: () => Promise<T>): Promise<T> {
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
  override readonly type = 'refund';

  /** The refunds of a payment, oldest first. */
  ofPayment(conversationId: string): Promise<PaymentRecord[]> {
    return this.read(() => this.ledger.findRefunds(this.settings.account, conversationId));
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

/**
 * Whether the gateway of these settings may be asked about a record, or be sent anything about it. Another one does not
 * know it: "not found" there would say nothing about the money. A record of an older release names none, and is its
 * own.
 */
export function isOwn({ gateway }: PaymentRecord, { gateways }: Pick<PaymentSettings, 'gateways'>): boolean {
  return typeof gateway !== 'string' || gateways.includes(gateway);
}

/**
 * Refuses a call that would ask the gateway, or send it something, about a record of another gateway.
 *
 * @param action what is refused: `be inquired`
 * @throws PaymentStateError
 */
export function expectOwn(record: PaymentRecord, settings: Pick<PaymentSettings, 'gateways'>, action: string): void {
  if (isOwn(record, settings)) return;
  const refusal =
    `${action} with these settings: it was made at the gateway ${gatewayHostOf(record.gateway ?? '')}, ` +
    'under another baseUrl, merchantId or dialect';
  throw stateError(record, refusal);
}

/** @param action what the state of the payment or refund does not allow: `be inquired` */
export function stateError(record: PaymentRecord, action: string): PaymentStateError {
  if (!isRefund(record)) return new PaymentStateError(toPayment(record), action);
  return new PaymentStateError(refundedPayment(record), action, toRefund(record));
}
