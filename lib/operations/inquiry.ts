import { Injectable } from '@nestjs/common';
import { PaymentNotFoundError, PaymentStateError, PaymentUnsupportedError } from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isKnown, isRefund, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { type Refund, saleAmountsOf, toRefund } from '../payment/refund.js';
import { isBeforeMoney, type LedgerState, factsOf } from '../payment/states.js';
import { inOperation, itself } from '../telemetry/spans.js';
import type { InquiryOutcome } from '../gateway/readings/outcomes.js';
import { expectOwn, isOwn, PaymentReader, RefundReader } from '../settlement/records.js';
import { paymentOf, PaymentWriter, refundOf, type Settled } from '../settlement/writer.js';
import { applyAbandoned, applyPageInquiry } from '../settlement/page-outcomes.js';
import { applyInquiry, saysUnpaid, type Settlement, SettlementRules } from '../settlement/outcomes.js';
import { StoreClock } from '../settlement/store-clock.js';

/** Hosts call `inquire` from controllers of their own, as often as a buyer loads a page. */
const ASK_AGAIN_MS = 2_000;
const UNCLEAR = { outcome: 'unclear' } as const;
const SILENCE = { outcome: 'unanswered' } as const;

/** What has become of a record that was asked about, and what the gateway said. */
export interface Asked extends Settled {
  readonly said: InquiryOutcome['outcome'] | null;
}

/** Settles a payment or refund whose outcome is not known, by asking the gateway. */
@Injectable()
export class Inquiries {
  /**
   * When this process asked about a payment last, by its monotonic clock: those of the last seconds, in their order.
   */
  private readonly askedAt = new Map<string, number>();

  constructor(
    private readonly payments: PaymentReader,
    private readonly refunds: RefundReader,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly clock: StoreClock,
    private readonly rules: SettlementRules,
    private readonly settings: PaymentSettings,
  ) {}

  /** @param by who asks, to be kept with what it settles */
  inquire(conversationId: string, by?: string): Promise<Payment> {
    const { account } = this.settings;
    return inOperation({ operation: 'inquire', account }, itself, () => this.inquireNow(conversationId, by));
  }

  private async inquireNow(conversationId: string, by?: string): Promise<Payment> {
    const record = await this.payments.find(conversationId);
    this.expectAnswers(record);
    if (!record) throw new PaymentNotFoundError();
    if (!isKnown(record)) return toPayment(record);
    if (isBeforeMoney(record.state)) {
      throw new PaymentStateError(toPayment(record), 'be inquired: no money can have moved');
    }
    if (record.state === 'succeeded' || this.waitMs(record) > 0) return toPayment(record);
    const settled = await this.ask(record, by);
    return settled ? paymentOf(settled) : toPayment(record);
  }

  inquireRefund(refundId: string, by?: string): Promise<Refund> {
    const { account } = this.settings;
    return inOperation({ operation: 'inquireRefund', account }, itself, () => this.inquireRefundNow(refundId, by));
  }

  private async inquireRefundNow(refundId: string, by?: string): Promise<Refund> {
    const record = await this.refunds.find(refundId);
    this.expectAnswers(record);
    if (!record) throw new PaymentNotFoundError('refund');
    if (!isKnown(record) || record.state === 'succeeded') return toRefund(record);
    const settled = await this.ask(record, by);
    return settled ? refundOf(settled) : toRefund(record);
  }

  /** @throws PaymentStateError, PaymentUnsupportedError */
  private expectAnswers(record: PaymentRecord | null): void {
    if (record && record.state !== 'succeeded') expectOwn(record, this.settings, 'be inquired');
    if (!this.gateway.canInquire) throw new PaymentUnsupportedError('CheckPayment', this.settings.dialect.name);
  }

  /**
   * Asks whether an open page was paid, and gives the payment up if not.
   *
   * @param by who gives it up. Then that raises an event; the shop's own code, which gives it up, has the answer
   */
  abandon(conversationId: string, by?: string): Promise<Payment> {
    const { account } = this.settings;
    return inOperation({ operation: 'abandon', account }, itself, () => this.abandonNow(conversationId, by));
  }

  private async abandonNow(conversationId: string, by?: string): Promise<Payment> {
    const record = await this.payments.find(conversationId);
    if (!record) throw new PaymentNotFoundError();
    if (!isKnown(record)) return toPayment(record);
    if (record.kind !== 'hosted' || record.state === 'initiating') {
      throw new PaymentStateError(toPayment(record), 'be abandoned');
    }
    if (record.state !== 'pending' && record.state !== 'unknown') return toPayment(record);
    expectOwn(record, this.settings, 'be abandoned');
    const waitMs = this.waitMs(record);
    if (waitMs > 0) {
      await this.clock.sleep(waitMs);
      // It may have ended meanwhile.
      return this.abandonNow(conversationId, by);
    }
    const settled = await this.askAboutPage(record, applyAbandoned, by, by === undefined ? 'expired' : undefined);
    return settled ? paymentOf(settled) : toPayment(record);
  }

  /** @returns null when the gateway did not answer; that of another gateway is not asked and counts as silent */
  async ask(record: PaymentRecord, by?: string): Promise<Asked | null> {
    if (record.kind === 'hosted') return this.askAboutPage(record, applyPageInquiry, by);
    const answer = await this.answerAbout(record);
    // Silence about what ended without money is made up for a few times.
    if (!answer && !factsOf(record.state).settled) return null;
    const inquiry = answer ?? SILENCE;
    // "Not found" counts when it is answered twice, ten minutes apart, so the store's time is needed: this host's clock
    // may just have been set.
    const isTimeKnown = await this.isTimeKnown();
    // Date the answer when it was received, not when it is stored.
    const answeredAt = this.clock.now();
    const known = inquiry.outcome === 'not_found' && !isTimeKnown ? UNCLEAR : inquiry;
    const settle: Settlement = (current, now) => applyInquiry(current, known, this.rules, { now, answeredAt });
    // That a card was declined at a page says nothing against the next one, so answers about pages are not compared.
    const isWord = known.outcome === 'declined' || known.outcome === 'mismatch';
    const from = isWord ? { answer: known.charge } : {};
    const settled = await this.writer.settle(record, askedBy(by, settle), from);
    return answer && { ...settled, said: answer.outcome };
  }

  private async askAboutPage(
    record: PaymentRecord,
    apply: typeof applyPageInquiry,
    by?: string,
    untold?: LedgerState,
  ): Promise<Asked | null> {
    const answered = await this.answerAbout(record);
    const isTimeKnown = await this.isTimeKnown();
    const answeredAt = this.clock.now();
    // That nothing was paid counts by the time at which it is said.
    const inquiry = saysUnpaid(answered) && !isTimeKnown ? null : answered;
    const settle: Settlement = (current, now) => apply(current, inquiry, this.rules, { now, answeredAt });
    if (!inquiry && (!isTimeKnown || settle(record, answeredAt) === null)) return null;
    return { ...(await this.writer.settle(record, askedBy(by, settle), { untold })), said: inquiry?.outcome ?? null };
  }

  private isTimeKnown(): Promise<boolean> {
    return this.clock.check().then(
      () => true,
      () => false,
    );
  }

  /** How long the gateway is not asked about a payment again. */
  private waitMs({ conversationId }: PaymentRecord): number {
    const askedAt = this.askedAt.get(conversationId) ?? -Infinity;
    return askedAt + ASK_AGAIN_MS - this.clock.monotonic();
  }

  private noteAsked({ conversationId }: PaymentRecord): void {
    const now = this.clock.monotonic();
    this.askedAt.delete(conversationId);
    this.askedAt.set(conversationId, now);
    for (const [id, askedAt] of this.askedAt) {
      if (askedAt > now - ASK_AGAIN_MS) break;
      this.askedAt.delete(id);
    }
  }

  private async answerAbout(record: PaymentRecord): Promise<InquiryOutcome | null> {
    if (!isOwn(record, this.settings)) return null;
    this.noteAsked(record);
    if (!isRefund(record)) return this.gateway.checkPayment(toPayment(record));
    return this.gateway.checkRefund(toPayment(record), saleAmountsOf(record));
  }
}

/** Keeps who asked with a change of the state. */
function askedBy(by: string | undefined, settle: Settlement): Settlement {
  if (by === undefined) return settle;
  return (current, now) => {
    const next = settle(current, now);
    return next && next.state !== current.state ? { ...next, by } : next;
  };
}
