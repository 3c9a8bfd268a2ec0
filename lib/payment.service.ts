import { Injectable } from '@nestjs/common';
import type { Auth3dDto } from './dto/gateway.dto.js';
import type { DoPaymentDto, HostedPaymentDto, Init3dDto } from './dto/sale.dto.js';
import {
  type PaymentError,
  PaymentConfigurationError,
  PaymentStoreError,
  PaymentUnsupportedError,
} from './errors/payment-errors.js';
import { HostedPayments, type HostedStart } from './operations/hosted.js';
import { BinInquiries } from './operations/bin.js';
import { DirectPayments } from './operations/direct.js';
import { InFlight, type OperationKind } from './settlement/in-flight.js';
import { Inquiries } from './operations/inquiry.js';
import type { RecordRefundDto, RefundDto, VoidDto } from './dto/refund.dto.js';
import { Refunds } from './operations/refund.js';
import type { BinSale } from './dto/card.dto.js';
import type { CardBin } from './payment/card-bin.js';
import type { Refund, RefundTotals } from './payment/refund.js';
import { Resolutions, type ResolveOptions } from './operations/resolution.js';
import { type Payment, toPayment } from './payment/payment.js';
import { PaymentReader } from './settlement/records.js';
import { LogRecord, PaymentLogger } from './telemetry/payment-logger.js';
import { type ReconcileCounts, Reconciler } from './reconciler/reconciler.js';
import { type Init3dStart, ThreeDPayments } from './operations/three-d.js';

const UNFORESEEN = [PaymentStoreError, PaymentUnsupportedError, PaymentConfigurationError] as const;

/**
 * Takes card payments and gives money back. One rule for errors: a throw means that this call sent nothing, or nothing
 * that can move money. Once a DoPayment or Auth3d may have been sent, the answer is a {@link Payment}, once a refund or
 * void may have been sent, a {@link Refund}, whatever its state.
 */
@Injectable()
export class PaymentService {
  private readonly logger = new PaymentLogger();

  /** @hidden */
  constructor(
    private readonly direct: DirectPayments,
    private readonly threeD: ThreeDPayments,
    private readonly hosted: HostedPayments,
    private readonly bins: BinInquiries,
    private readonly refundFlow: Refunds,
    private readonly inquiries: Inquiries,
    private readonly operator: Resolutions,
    private readonly reconciler: Reconciler,
    private readonly reader: PaymentReader,
    private readonly inFlight: InFlight,
  ) {}

  /**
   * A direct payment (DoPayment): one request, whose answer is the outcome. The same `conversationId` or
   * `idempotencyKey` with the same sale and card returns the existing payment and sends nothing.
   *
   * @param input the fields of DoPayment (docs/interface.md); amounts in major units. It is not changed.
   * @throws PaymentValidationError the input is refused
   * @throws PaymentDuplicateError the id or key belongs to another sale, or to another card; or another payment holds
   *   the order (`key: 'reference'`)
   * @throws PaymentStateError the payment that has the id, the key or the order is of another gateway
   * @throws PaymentNotSentError it is proven that nothing was sent
   * @throws PaymentStoreError the store failed before anything was sent
   * @throws PaymentOverloadError `maxInFlight` payments are already running; nothing was recorded or sent
   * @throws PaymentShutdownError this process is shutting down; nothing was recorded or sent
   */
  doPayment(input: DoPaymentDto): Promise<Payment> {
    return this.run('payment', 'doPayment', () => this.direct.pay(input));
  }

  /**
   * Starts a 3D payment (Init3d). Send `html` to the buyer's browser; the callback does the rest. The page is not
   * stored.
   *
   * @param input the fields of DoPayment (docs/interface.md); amounts in major units. It is not changed.
   * @throws PaymentValidationError the input is refused
   * @throws PaymentDuplicateError the id or key is taken, even by the same sale, since its page is not stored; or
   *   another payment holds the order (`key: 'reference'`)
   * @throws PaymentStateError as {@link doPayment}
   * @throws PaymentNotSentError it is proven that nothing was sent
   * @throws PaymentInit3dError refused, unreadable or unanswered; no money can move
   * @throws PaymentStoreError the store failed; the buyer is not sent to the bank, and no money can move
   * @throws PaymentOverloadError `maxInFlight` payments are already running; nothing was recorded or sent
   * @throws PaymentShutdownError this process is shutting down; nothing was recorded or sent
   */
  init3d(input: Init3dDto): Promise<Init3dStart> {
    return this.run('payment', 'init3d', () => this.threeD.start(input));
  }

  /**
   * Completes a 3D payment with what the bank sent (Auth3d); the callback controller calls this. Auth3d is sent once: a
   * payment that has been claimed or has ended is returned as it is, and calls at the same time share one Auth3d.
   *
   * @throws PaymentNotFoundError, PaymentStateError (for `direct` and `initiating`)
   * @throws PaymentCallbackError the fields cannot belong to this payment, which is unchanged
   * @throws PaymentStoreError the store failed before anything was sent
   */
  auth3d({ conversationId, fields }: Auth3dDto): Promise<Payment> {
    return this.run('rest', 'auth3d', async () => this.threeD.complete(await this.reader.get(conversationId), fields));
  }

  /**
   * Opens the gateway's own page or form, at which the buyer types the card. Send the buyer to `redirectUrl`, or embed
   * `html`; the callback and the background work do the rest. Starting again for the same sale gives the same page
   * until it ends. Experimental, since no answer of the real gateway has been seen.
   *
   * @param input the sale; amounts in major units. It is not changed.
   * @throws PaymentValidationError the input is refused
   * @throws PaymentUnsupportedError the dialect has no such page, or no inquiry by which its outcome is found out
   * @throws PaymentDuplicateError the id or key belongs to another sale, or to a payment that has ended; or another
   *   payment holds the order (`key: 'reference'`)
   * @throws PaymentStateError as {@link doPayment}
   * @throws PaymentNotSentError it is proven that nothing was sent
   * @throws PaymentHostedError refused, unreadable or unanswered, or a page of the sale is open; no money can move by
   *   this call
   * @throws PaymentStoreError the store failed; the buyer is not sent to the page, and no money can move
   * @throws PaymentOverloadError `maxInFlight` payments are already running; nothing was recorded or sent
   * @throws PaymentShutdownError this process is shutting down; nothing was recorded or sent
   * @experimental
   */
  startHosted(input: HostedPaymentDto): Promise<HostedStart> {
    return this.run('payment', 'startHosted', () => this.hosted.start(input));
  }

  /**
   * Gives up a page that is open, for a buyer who goes back. The gateway is asked once: if nothing was paid, the
   * payment is `expired` (`abandoned`) and its order free; if it was paid, or the answer is not clear, the payment says
   * so. A page that is paid all the same after it was given up is in `review`.
   *
   * A payment that this ends raises no event, since you have the answer. So decide yourself what becomes of the order:
   * give it back, or start another payment; also where the `expired` of an earlier payment was not told because this
   * one held the order.
   *
   * @returns the payment as it stands then; one that has ended as it is
   * @throws PaymentNotFoundError, PaymentStoreError
   * @throws PaymentStateError it is of another kind, or its page is only just being opened
   * @experimental
   */
  abandon(conversationId: string): Promise<Payment> {
    return this.run('rest', 'abandon', () => this.inquiries.abandon(conversationId));
  }

  /**
   * Asks what a card is, by its first digits: its bank, its type and its instalments (CheckBin). No payment is made,
   * and nothing is stored. Every error of the gateway, and its silence, is a {@link CardBin} of nulls whose `code` and
   * `message` say why, so a checkout goes on without it; so is a dialect without this operation. The interface shows no
   * such operation: what the answer tells is unverified (docs/instalments.md).
   *
   * The answer is kept in memory for a minute, so the same digits (of the same sale) are asked about once. It comes
   * within `binTimeoutMs`.
   *
   * @param bin 6 to 8 digits; a longer number is refused, not cut
   * @param sale what the buyer is to pay, from your own order; the totals of the instalments are then checked against
   *   it. It is not sent unless it is given (unverified)
   * @throws PaymentValidationError they are not 6 to 8 digits, or the sale is refused; nothing was sent
   * @throws PaymentOverloadError `maxBinChecks` BINs are being asked about already; this one was not
   * @throws PaymentShutdownError this process is shutting down; nothing was sent
   * @experimental
   */
  checkBin(bin: string, sale?: BinSale): Promise<CardBin> {
    return this.run('new', 'checkBin', () => this.bins.check(bin, sale));
  }

  /** @throws PaymentStoreError */
  async find(conversationId: string): Promise<Payment | null> {
    const record = await this.logged(this.reader.find(conversationId));
    return record && toPayment(record);
  }

  /**
   * All payments of one reference, oldest first.
   *
   * @throws PaymentStoreError
   */
  async findByReference(reference: string): Promise<Payment[]> {
    return (await this.logged(this.reader.findByReference(reference))).map((record) => toPayment(record));
  }

  /**
   * Asks the gateway (CheckPayment) and settles an `unknown` payment if the answer is clear. Moves no money. An
   * approval found in this way says that the sale was approved, not that it still stands: the gateway may go on saying
   * so after the sale was voided or refunded at its own panel. Within two seconds of the last question about a payment,
   * this process does not ask again: the payment is returned as it is stored.
   *
   * @throws PaymentUnsupportedError the dialect has no inquiry (the interface shows no such operation)
   * @throws PaymentNotFoundError, PaymentStateError (before any money can have moved), PaymentStoreError
   */
  inquire(conversationId: string): Promise<Payment> {
    return this.run('rest', 'inquire', () => this.inquiries.inquire(conversationId));
  }

  /**
   * An operator settles a payment that is `unknown` or in `review`, after looking at the gateway's or the bank's own
   * records.
   *
   * Before you resolve an `interrupted` payment as `failed`, make sure that the process which claimed it has ended: if
   * it was only suspended, it may still send. Within an hour of its claim this needs `force`.
   *
   * @param note how the outcome was found out; kept in the payment's history, as is `by`
   * @throws PaymentValidationError, PaymentNotFoundError, PaymentStoreError
   * @throws PaymentStateError it is neither `unknown` nor in `review`, or needs `force`
   */
  resolve(
    conversationId: string,
    state: 'succeeded' | 'failed',
    note: string,
    options?: ResolveOptions,
  ): Promise<Payment>;
  resolve(...given: readonly unknown[]): Promise<Payment> {
    return this.run('rest', 'resolve', () => this.operator.resolve(...given));
  }

  /**
   * Gives back a part of a payment, or all that is left of it. A refund is sent once: what is not known afterwards is
   * `unknown`, and counts as given until it is settled. At most one refund of a payment is open at a time.
   *
   * The same `refundId` or `idempotencyKey` with the same content (payment and kind, and the amount where it is given)
   * returns the existing refund and sends nothing.
   *
   * @param input amounts in major units. It is not changed.
   * @throws PaymentValidationError the input is refused
   * @throws PaymentUnsupportedError the dialect has no refunds (the interface shows no such operation)
   * @throws PaymentNotFoundError there is no such payment
   * @throws PaymentStateError it is not proven that money was taken: the payment is neither `succeeded` nor in `review`
   *   as `moved_after_all` or `amount_mismatch`
   * @throws PaymentRefundError it is more than is left, another refund is open, or the payment was voided
   * @throws PaymentDuplicateError the id or key belongs to another refund or to a payment
   * @throws PaymentNotSentError it is proven that nothing was sent; the refund is `failed`, and the key is free again
   * @throws PaymentStoreError the store failed before anything was sent
   * @throws PaymentShutdownError this process is shutting down; nothing was recorded or sent
   */
  refund(input: RefundDto): Promise<Refund> {
    return this.run('new', 'refund', () => this.refundFlow.refund(input));
  }

  /**
   * Calls off a whole payment. The gateway takes a void on the same day only, before the payment is settled; later, use
   * {@link refund}. Nothing may have been refunded before.
   *
   * @throws what {@link refund} throws
   */
  void(input: VoidDto): Promise<Refund> {
    return this.run('new', 'void', () => this.refundFlow.void(input));
  }

  /**
   * Writes down a refund that was made at the gateway's own panel, so that no more is given back than was taken.
   * Nothing is sent. It needs a `refundId` or an `idempotencyKey`, so that it is recorded once, and raises
   * `refund.succeeded`.
   *
   * @throws PaymentValidationError, PaymentNotFoundError, PaymentStateError, PaymentRefundError, PaymentDuplicateError,
   *   PaymentStoreError, PaymentShutdownError as {@link refund}
   */
  recordRefund(input: RecordRefundDto): Promise<Refund> {
    return this.run('new', 'recordRefund', () => this.refundFlow.recordRefund(input));
  }

  /**
   * All refunds and voids of a payment, oldest first.
   *
   * @throws PaymentNotFoundError, PaymentStoreError
   */
  refunds(conversationId: string): Promise<Refund[]> {
    return this.logged(this.refundFlow.list(conversationId));
  }

  /**
   * What was taken of a payment, given back, and is left, in major units as decimal text. A refund without a known
   * outcome counts as given.
   *
   * @throws PaymentNotFoundError, PaymentStoreError
   */
  refundTotals(conversationId: string): Promise<RefundTotals> {
    return this.logged(this.refundFlow.totals(conversationId));
  }

  /**
   * Asks the gateway (CheckPayment) about a refund by its own id, and settles it if the answer says that it was
   * approved. Moves no money. Whether the gateway knows refunds is unverified: if it does not, the refund stays as it
   * is.
   *
   * @throws PaymentUnsupportedError the dialect has no inquiry
   * @throws PaymentNotFoundError, PaymentStoreError
   */
  inquireRefund(refundId: string): Promise<Refund> {
    return this.run('rest', 'inquireRefund', () => this.inquiries.inquireRefund(refundId));
  }

  /**
   * An operator settles a refund that is `unknown` or in `review`, after looking at the gateway's own records. An
   * `interrupted` refund needs `force` to be resolved as failed within an hour, for the reason given at
   * {@link resolve}.
   *
   * @param note how the outcome was found out; kept in the refund's history, as is `by`
   * @throws PaymentValidationError, PaymentNotFoundError, PaymentStoreError
   * @throws PaymentStateError it is neither `unknown` nor in `review`, or needs `force`
   */
  resolveRefund(
    refundId: string,
    state: 'succeeded' | 'failed',
    note: string,
    options?: ResolveOptions,
  ): Promise<Refund>;
  resolveRefund(...given: readonly unknown[]): Promise<Refund> {
    return this.run('rest', 'resolveRefund', () => this.operator.resolveRefund(...given));
  }

  /**
   * Makes one pass of the background work, for cron jobs and tests.
   *
   * @throws PaymentStoreError the store failed; what was leased is due again by itself
   * @throws PaymentShutdownError this process is shutting down
   */
  reconcile(): Promise<ReconcileCounts> {
    return this.run('new', 'reconcile', () => this.reconciler.pass());
  }

  private run<T>(kind: OperationKind, operation: string, work: () => Promise<T>): Promise<T> {
    return this.logged(this.inFlight.run(kind, operation, work));
  }

  /** Logs the errors for which Nest only answers 500. The others are the caller's concern, or are logged already. */
  private async logged<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      if (UNFORESEEN.some((kind) => error instanceof kind)) {
        const { message, code } = error as PaymentError;
        this.logger.error(new LogRecord(message, { code }));
      }
      throw error;
    }
  }
}
