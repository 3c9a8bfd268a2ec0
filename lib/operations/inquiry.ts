import { Injectable } from '@nestjs/common';
import { PaymentNotFoundError, PaymentUnsupportedError } from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isKnown, isRefund, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { type Refund, saleAmountsOf } from '../payment/refund.js';
import { isBeforeMoney, type LedgerState } from '../payment/states.js';
import type { InquiryOutcome } from '../gateway/readings/verdicts.js';
import { expectOwn, isOwn, PaymentReader, RefundReader, stateError } from '../settlement/records.js';
import { paymentOf, PaymentWriter, refundOf, type Settled } from '../settlement/writer.js';
import { applyAbandoned, applyPageInquiry } from '../settlement/page-outcomes.js';
import { applyInquiry, saysUnpaid, type Settlement, SettlementRules } from '../settlement/outcomes.js';
import { SpacedCalls } from '../runtime/shared-calls.js';
import { StoreClock } from '../settlement/store-clock.js';

/** Hosts call `inquire` from controllers of their own, as often as a buyer loads a page. */
const ASK_AGAIN_MS = 2_000;

/** What has become of a record that was asked about, and what the gateway said. */
export interface Asked extends Settled {
  readonly said: InquiryOutcome['outcome'] | null;
}

/** Settles a payment or refund whose outcome is not known, by asking the gateway. */
@Injectable()
export class Inquiries {
  private readonly asked: SpacedCalls;

  constructor(
    private readonly payments: PaymentReader,
    private readonly refunds: RefundReader,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly clock: StoreClock,
    private readonly rules: SettlementRules,
    private readonly settings: PaymentSettings,
  ) {
    this.asked = new SpacedCalls(clock, ASK_AGAIN_MS);
  }

  /** @param by who asks, to be kept with what it settles */
  async inquire(conversationId: string, by?: string): Promise<Payment> {
    const record = await this.payments.find(conversationId);
    this.expectAnswers(record);
    if (!record) throw new PaymentNotFoundError();
    if (isKnown(record) && isBeforeMoney(record.state)) {
      throw stateError(record, 'be inquired: no money can have moved');
    }
    const isAskedAlready = this.asked.waitMs(conversationId) > 0;
    return paymentOf((isAskedAlready ? null : await this.askUnlessFinal(record, by)) ?? asIs(record));
  }

  async inquireRefund(refundId: string, by?: string): Promise<Refund> {
    const record = await this.refunds.find(refundId);
    this.expectAnswers(record);
    if (!record) throw new PaymentNotFoundError('refund');
    return refundOf((await this.askUnlessFinal(record, by)) ?? asIs(record));
  }

  private async askUnlessFinal(record: PaymentRecord, by?: string): Promise<Settled | null> {
    return !isKnown(record) || record.state === 'succeeded' ? null : this.ask(record, by);
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
  async abandon(conversationId: string, by?: string): Promise<Payment> {
    const record = await this.payments.get(conversationId);
    if (!isKnown(record)) return toPayment(record);
    if (record.kind !== 'hosted' || record.state === 'initiating') {
      throw stateError(record, 'be abandoned');
    }
    if (record.state !== 'pending' && record.state !== 'unknown') return toPayment(record);
    expectOwn(record, this.settings, 'be abandoned');
    const waitMs = this.asked.waitMs(conversationId);
    if (waitMs > 0) {
      await this.clock.sleep(waitMs);
      // It may have ended meanwhile.
      return this.abandon(conversationId, by);
    }
    const untold = by === undefined ? 'expired' : undefined;
    return paymentOf((await this.askAnd(applyAbandoned, record, by, untold)) ?? asIs(record));
  }

  /** @returns null when the gateway did not answer; that of another gateway is not asked and counts as silent */
  ask(record: PaymentRecord, by?: string): Promise<Asked | null> {
    return this.askAnd(record.kind === 'hosted' ? applyPageInquiry : applyInquiry, record, by);
  }

  private async askAnd(
    apply: typeof applyInquiry,
    record: PaymentRecord,
    by?: string,
    untold?: LedgerState,
  ): Promise<Asked | null> {
    const isPage = record.kind === 'hosted';
    const answered = await this.answerAbout(record);
    // That nothing was paid counts when it is answered twice, ten minutes apart, so the store's time is needed: this
    // host's clock may just have been set. A card's decline counts at once, unless another card may follow.
    const isTimeKnown = await this.isTimeKnown();
    const isTimed = isPage ? saysUnpaid(answered) : answered?.outcome === 'not_found';
    const inquiry = isTimed && !isTimeKnown ? null : answered;
    // Date the answer when it was received, not when it is stored.
    const answeredAt = this.clock.now();
    const settle: Settlement = (current, now) => apply(current, inquiry, this.rules, { now, answeredAt });
    if (!inquiry && (!isTimeKnown || settle(record, answeredAt) === null)) return null;
    // That a card was declined at a page says nothing against the next one, so answers about pages are not compared.
    const isWord = !isPage && (inquiry?.outcome === 'declined' || inquiry?.outcome === 'mismatch');
    const answer = isWord ? inquiry.charge : undefined;
    const settled = await this.writer.settle(record, askedBy(by, settle), { answer, untold });
    const isTold = inquiry !== null || settled.record.state !== record.state;
    return isTold ? { ...settled, said: inquiry?.outcome ?? null } : null;
  }

  private isTimeKnown(): Promise<boolean> {
    return this.clock.check().then(
      () => true,
      () => false,
    );
  }

  private async answerAbout(record: PaymentRecord): Promise<InquiryOutcome | null> {
    if (!isOwn(record, this.settings)) return null;
    this.asked.begin(record.conversationId);
    if (!isRefund(record)) return this.gateway.checkPayment(toPayment(record));
    return this.gateway.checkRefund(toPayment(record), saleAmountsOf(record));
  }
}

/** A record that was not changed. */
function asIs(record: PaymentRecord): Settled {
  return { record, isStored: true };
}

/** Keeps who asked with a change of the state. */
function askedBy(by: string | undefined, settle: Settlement): Settlement {
  if (by === undefined) return settle;
  return (current, now) => {
    const next = settle(current, now);
    return next && next.state !== current.state ? { ...next, by } : next;
  };
}
