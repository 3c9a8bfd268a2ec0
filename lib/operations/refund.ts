import { Injectable } from '@nestjs/common';
import { RecordRefundDto, RefundDto, VoidDto } from '../dto/refund.dto.js';
import { IsCardFree } from '../dto/rules.js';
import { validateInput } from '../dto/validate-input.js';
import {
  PaymentDuplicateError,
  PaymentNotFoundError,
  PaymentNotSentError,
  PaymentRefundError,
  PaymentStoreError,
  PaymentUnsupportedError,
  PaymentValidationError,
} from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { RefundRequest } from '../gateway/gateway-dialect.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { compareAmounts } from '../payment/amount.js';
import { holdsCard, keptNote } from '../payment/kept-text.js';
import { type PaymentRecord, type RefundKind, toPayment, UNANSWERED } from '../payment/payment.js';
import {
  isMoneyTaken,
  isOpenRefund,
  isVoided,
  type Refund,
  refundTotals,
  type RefundTotals,
  saleAmountsOf,
  saleText,
  toRefund,
  withProvenParts,
} from '../payment/refund.js';
import { advance, referenceLockIn } from '../payment/transitions.js';
import { Randomness } from '../runtime/randomness.js';
import { applyNotSent } from '../settlement/outcomes.js';
import { type AskedRefund, expectOwn, PaymentReader, RefundReader, stateError } from '../settlement/records.js';
import { resultChanges } from '../settlement/result-fields.js';
import { Claim, claimEnd, StoreClock } from '../settlement/store-clock.js';
import { PaymentWriter, refundOf } from '../settlement/writer.js';
import { amountText, newAttemptId, newConversationIdOf, newHostIdNonce } from './opening.js';
import { MAX_NAME_LENGTH, MAX_NOTE_LENGTH } from './resolution.js';

const MAX_OPENING_TRIES = 5;

const NO_KEY_TEXTS = {
  en: '$property must be given, or an idempotencyKey, so that the refund is recorded once',
  tr: 'iadenin bir kez kaydedilmesi için $property veya bir idempotencyKey verilmeli',
};

/** A refund that is stored, and may be sent. */
interface Opened<Needed> {
  readonly sale: PaymentRecord;
  readonly record: PaymentRecord;
  /** What its request needs besides. */
  readonly needed: Needed;
}

/** The gateway's ids of a payment. */
type GatewayIds = Pick<RefundRequest, 'orderId' | 'paymentId'>;

/**
 * Money back. A refund is stored as `refunding`, which locks its payment; then what has been given back is added up,
 * then it is sent, once. So at most one refund of a payment is open, and never more goes back than was taken.
 */
@Injectable()
export class Refunds {
  constructor(
    private readonly payments: PaymentReader,
    private readonly refunds: RefundReader,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly clock: StoreClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {}

  async refund(input: unknown): Promise<Refund> {
    return this.giveBack('refund', validateInput(RefundDto, input));
  }

  async void(input: unknown): Promise<Refund> {
    return this.giveBack('void', validateInput(VoidDto, input));
  }

  /** Writes down a refund that was made at the gateway's own panel. Nothing is sent. */
  async recordRefund(given: unknown): Promise<Refund> {
    const input = validateInput(RecordRefundDto, given);
    if (input.refundId === undefined && input.idempotencyKey === undefined) {
      throw new PaymentValidationError([{ path: 'refundId', rule: 'isDefined', message: NO_KEY_TEXTS }]);
    }
    const opened = await this.open('refund', input, () => Promise.resolve());
    if ('earlier' in opened) return toRefund(opened.earlier);
    const recorded = await this.writer.settle(opened.record, (current, now) =>
      current.state === 'refunding' || isInterrupted(current, opened.record)
        ? advance(current, 'succeeded', { reason: 'recorded' }, now)
        : null,
    );
    return refundOf(recorded);
  }

  /** All refunds of a payment, oldest first. */
  async list(conversationId: string): Promise<Refund[]> {
    await this.payments.get(conversationId);
    return (await this.refunds.ofPayment(conversationId)).map((record) => toRefund(record));
  }

  async totals(conversationId: string): Promise<RefundTotals> {
    return this.totalsOf(await this.sale(conversationId), await this.refunds.ofPayment(conversationId));
  }

  private async giveBack(kind: RefundKind, input: RefundDto): Promise<Refund> {
    const opened = await this.open(kind, input, (sale) => {
      expectOwn(sale, this.settings, kind === 'void' ? 'be voided' : 'be refunded');
      if (!this.gateway.canRefund(kind)) throw new PaymentUnsupportedError(kind, this.settings.dialect.name);
      return this.gatewayIds(sale);
    });
    if ('earlier' in opened) return toRefund(opened.earlier);
    const { sale, record, needed: ids } = opened;

    const { conversationId, amount, currencyCode } = record;
    const request = { conversationId, amount, currencyCode, language: this.settings.language, ...ids };
    const claim = new Claim(record, this.settings.timeoutMs, this.clock);
    const expected = { ...request, installmentCount: 1, otherAmounts: saleAmountsOf(record) };
    const attempt = await this.gateway.charge(kind, request, { expected, isMoneyBack: true }, claim);
    const refund = refundOf(await this.writer.conclude(record, attempt));
    if (!attempt.sent) throw new PaymentNotSentError(toPayment(sale), attempt.why, refund);
    return refund;
  }

  /**
   * Stores the refund with the lock of its payment, and adds up again what has been given back.
   *
   * @param prepare what the request needs besides, found out before anything is stored
   * @returns the earlier refund that has the id or key; or the new one, which may be sent
   */
  private async open<Needed>(
    kind: RefundKind,
    input: RefundDto,
    prepare: (sale: PaymentRecord) => Promise<Needed>,
  ): Promise<{ readonly earlier: PaymentRecord } | Opened<Needed>> {
    await this.clock.check();
    const sale = await this.sale(input.conversationId);
    const asked = this.asked(kind, input, sale);
    for (let tries = 0; tries < MAX_OPENING_TRIES; tries += 1) {
      // Before the look-up, so that a refund of the same id or key that is in the list is found by it.
      const refunds = await this.refunds.ofPayment(sale.conversationId);
      const earlier = await this.refunds.findAsked(asked);
      if (earlier) return { earlier };
      const totals = this.refuseUnlessFit(kind, sale, refunds, asked.amount);
      const needed = await prepare(sale);

      const amount = asked.amount ?? totals.refundable;
      const record = this.newRefund(kind, sale, { ...input, amount });
      const taken = await this.writer.open(record);
      if (taken === null) {
        await this.confirm(record);
        return { sale, record, needed };
      }
      if (taken === 'parentId') throw new PaymentNotFoundError();
      // The refund that has the payment's lock may have the same id or key, or may have ended meanwhile.
      if (taken === 'conversationId' && !(await this.refunds.findAsked(asked))) {
        throw new PaymentDuplicateError(null, 'refundId');
      }
    }
    throw new PaymentStoreError('opening the refund');
  }

  /**
   * Checks again under the lock: what was added up before may have changed, and the payment may have been settled
   * otherwise. If so, the refund ends as not sent.
   */
  private async confirm(record: PaymentRecord): Promise<void> {
    const { conversationId, kind, parentId = '', amount } = record;
    try {
      const others = (await this.refunds.ofPayment(parentId)).filter(
        (other) => other.conversationId !== conversationId,
      );
      const sale = await this.sale(parentId);
      this.refuseUnlessFit(kind as RefundKind, sale, others, amount);
      if (sale.state === 'review') await this.holdReview(sale);
    } catch (error) {
      // Its caller has the answer, and whoever was told of the one that came first would take this for a failure of it.
      await this.writer.settle(record, applyNotSent, { untold: 'failed' });
      throw error;
    }
  }

  private refuseUnlessFit(
    kind: RefundKind,
    sale: PaymentRecord,
    refunds: readonly PaymentRecord[],
    amount: string | null,
  ): RefundTotals {
    if (!isMoneyTaken(sale)) {
      throw stateError(sale, kind === 'void' ? 'be voided' : 'be refunded');
    }
    const totals = this.totalsOf(sale, refunds);
    const refuse = (reason: PaymentRefundError['reason']): never => {
      throw new PaymentRefundError(reason, toPayment(sale), totals);
    };
    if (isVoided(refunds)) refuse('voided');
    if (refunds.some(isOpenRefund)) refuse('in_progress');
    if (kind === 'void' && refunds.some(({ state }) => state === 'succeeded')) refuse('refunded');
    const isNothingLeft = compareAmounts(totals.refundable, '0') === 0;
    const isTooMuch = amount !== null && (compareAmounts(amount, totals.refundable) ?? 1) > 0;
    if (isNothingLeft || isTooMuch) refuse('exceeds');
    return totals;
  }

  private totalsOf(sale: PaymentRecord, refunds: readonly PaymentRecord[]): RefundTotals {
    return refundTotals(sale, refunds, this.settings.amountFormat);
  }

  /** The payment, without what the gateway may have said about another one. */
  private async sale(conversationId: string): Promise<PaymentRecord> {
    return withProvenParts(await this.payments.get(conversationId));
  }

  /**
   * Raises the version of a payment in review, so that an operator who is about to resolve it as failed looks up its
   * refunds again.
   *
   * @param sale as it was checked
   * @throws PaymentStateError if it has changed since
   */
  private async holdReview(sale: PaymentRecord): Promise<void> {
    const stored = await this.payments.latest(sale);
    const { version, reason, by } = stored;
    const held = version === sale.version && (await this.writer.move(stored, 'review', { reason, by }));
    if (held && held.outcome === 'replaced') return;
    throw stateError(await this.payments.latest(sale), 'be refunded: it has just changed');
  }

  /** @throws PaymentValidationError for what only the payment's currency and card can tell */
  private asked(kind: RefundKind, input: RefundDto, sale: PaymentRecord): AskedRefund {
    for (const path of ['refundId', 'idempotencyKey'] as const) {
      if (!holdsCard(input[path] ?? '', sale)) continue;
      throw new PaymentValidationError([{ path, rule: IsCardFree.rule, message: IsCardFree.texts }]);
    }
    const { refundId = null, idempotencyKey = null, conversationId, amount } = input;
    const { amountFormat } = this.settings;
    const { currencyCode } = sale;
    const text = amount === undefined ? null : amountText({ amount, currencyCode }, 'amount', amountFormat);
    return { kind, refundId, idempotencyKey, conversationId, amount: text };
  }

  /**
   * The gateway's ids of the payment. One that an inquiry or an operator settled may have none that are certainly its
   * own: then the gateway is asked.
   *
   * @throws PaymentRefundError
   */
  private async gatewayIds(sale: PaymentRecord): Promise<GatewayIds> {
    const known = idsIn(sale);
    if (known) return known;
    const inquiry = this.gateway.canInquire ? await this.gateway.checkPayment(toPayment(sale)) : null;
    // The question is keyed by our id, but the answer about a contested payment has to name it.
    const result = inquiry && 'charge' in inquiry ? inquiry.charge.result : null;
    const isOurs = inquiry?.outcome === 'paid' ? inquiry.isBound : result?.conversationId === sale.conversationId;
    const found = result && isOurs && idsIn({ ...sale, ...resultChanges(result, sale, this.settings) });
    if (found) return found;
    const refunds = await this.refunds.ofPayment(sale.conversationId);
    throw new PaymentRefundError('no_ids', toPayment(sale), this.totalsOf(sale, refunds));
  }

  /** The first record of a refund, which holds the lock of its payment. */
  private newRefund(
    kind: RefundKind,
    sale: PaymentRecord,
    input: Omit<RefundDto, 'amount'> & { readonly amount: string },
  ): PaymentRecord {
    const { account, dialect, timeoutMs } = this.settings;
    const now = this.clock.now();
    const { amount, refundId, idempotencyKey = null, note, by } = input;
    const state = 'refunding';
    const owner = { kind, parentId: sale.conversationId, reference: sale.reference, allowRepeat: false };
    return {
      conversationId: refundId ?? newConversationIdOf(dialect),
      account,
      ...owner,
      state,
      reason: null,
      amount,
      currencyCode: sale.currencyCode,
      installmentCount: 1,
      ...UNANSWERED,
      maskedCardNumber: sale.maskedCardNumber,
      createdAt: now,
      updatedAt: now,
      finalizedAt: null,
      version: 1,
      tokenHash: null,
      idempotencyKey,
      referenceLock: referenceLockIn(state, owner),
      hostIdNonce: newHostIdNonce(this.random, refundId),
      gateway: sale.gateway ?? null,
      expiresAt: null,
      dueAt: claimEnd(now, timeoutMs),
      attemptId: newAttemptId(this.random),
      inquiries: 0,
      notFoundAt: null,
      note: note === undefined ? null : keptNote(note, MAX_NOTE_LENGTH),
      by: by === undefined ? null : keptNote(by, MAX_NAME_LENGTH),
      sale: saleText(toPayment(sale)),
    };
  }
}

/** Whether the store was down for so long that the refund, which is only written down, counts as interrupted. */
function isInterrupted(current: PaymentRecord, { attemptId }: PaymentRecord): boolean {
  return current.state === 'unknown' && current.reason === 'interrupted' && current.attemptId === attemptId;
}

function idsIn({ orderId, paymentId }: Pick<PaymentRecord, 'orderId' | 'paymentId'>): GatewayIds | null {
  return orderId !== null && paymentId !== null ? { orderId, paymentId } : null;
}
