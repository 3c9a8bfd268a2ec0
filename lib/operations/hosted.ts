import { Injectable } from '@nestjs/common';
import { HostedPaymentDto } from '../dto/sale.dto.js';
import {
  PaymentDuplicateError,
  PaymentHostedError,
  PaymentNotSentError,
  PaymentUnsupportedError,
} from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { HostedForm, HostedPage } from '../gateway/readings/pages.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isKnown, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { factsOf } from '../payment/states.js';
import { Randomness } from '../runtime/randomness.js';
import { SharedCalls, SpacedCalls } from '../runtime/shared-calls.js';
import { StoreClock } from '../settlement/store-clock.js';
import { inOperation } from '../telemetry/spans.js';
import { type Asked, Inquiries } from './inquiry.js';
import { Opening } from './opening.js';
import { type Earlier, isOwn, isSameSale, PaymentReader } from '../settlement/records.js';
import { nextPageInquiry } from '../settlement/page-outcomes.js';
import { paymentOf, PaymentWriter } from '../settlement/writer.js';

/** A page that ends later than this is not believed to. */
const MAX_PAGE_MS = 86_400_000;
/** How far apart the inquiries are that a callback causes. */
const ASK_AGAIN_MS = 2_000;
/** The same of payments that have ended unpaid. */
const ASK_ENDED_AGAIN_MS = 60_000;
/** How many inquiries callbacks may cause at once. */
const MAX_ASKED_AT_ONCE = 50;

/**
 * The gateway's own page, ready for the buyer.
 *
 * @experimental
 */
export interface HostedStart {
  readonly conversationId: string;
  /** Send the buyer's browser there, and show it to nobody else; null for an embedded form. */
  readonly redirectUrl: string | null;
  /** The gateway's form, as HTML that runs the gateway's script in your page; null for a page. It is not stored. */
  readonly html: string | null;
  /** When the page ends. Until then, starting again for the same sale gives the same page. */
  readonly expiresAt: Date;
  readonly payment: Payment;
}

/** An inquiry that a callback caused. */
interface CallbackInquiry {
  /** By the monotonic clock. */
  readonly begunAt: number;
  readonly settled: Asked | null;
}

const NOT_ASKED: CallbackInquiry = { begunAt: 0, settled: null };

/** The payment at the gateway's own page: the page is opened, the buyer pays there, and the gateway is asked. */
@Injectable()
export class HostedPayments {
  /** Callbacks of one payment share its inquiries and, while they wait, their look-ups. */
  private readonly asking = new SharedCalls<CallbackInquiry>();
  private readonly lookUps = new SharedCalls<PaymentRecord>();
  private readonly asked: SpacedCalls;
  private readonly askedOfEnded: SpacedCalls;

  constructor(
    private readonly opening: Opening,
    private readonly reader: PaymentReader,
    private readonly writer: PaymentWriter,
    private readonly inquiries: Inquiries,
    private readonly gateway: GatewayClient,
    private readonly clock: StoreClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {
    this.asked = new SpacedCalls(clock, ASK_AGAIN_MS);
    this.askedOfEnded = new SpacedCalls(clock, ASK_ENDED_AGAIN_MS);
  }

  async start(given: unknown): Promise<HostedStart> {
    const received = await this.opening.receive(HostedPaymentDto, given);
    const { form = 'page' } = received.input;
    this.expectSupport(form);
    const token = this.opening.newToken();
    const sale = this.opening.hostedRequest(received.input, token);
    const record = this.opening.newPayment('hosted', sale, received, token);
    const earlier = await this.opening.open(record);
    if (earlier) return this.showAgain(record, earlier, form);

    const attempt = await this.gateway.startHosted(form, sale);
    if (!attempt.sent || !attempt.page) {
      const failed = paymentOf(await this.writer.concludeWithoutPage(record, attempt));
      throw attempt.sent ? new PaymentHostedError(failed) : new PaymentNotSentError(failed, attempt.why);
    }
    return this.showFirst(record, attempt.page);
  }

  private expectSupport(form: HostedForm): void {
    const { name } = this.settings.dialect;
    if (!this.gateway.canInquire) throw new PaymentUnsupportedError('CheckPayment', name);
    if (!this.gateway.canHost(form)) {
      throw new PaymentUnsupportedError(form === 'page' ? 'page of its own' : 'form to embed', name);
    }
  }

  /** The page of the same sale, if it is open. */
  private showAgain(record: PaymentRecord, { payment: earlier, key }: Earlier, form: HostedForm): HostedStart {
    const payment = toPayment(earlier);
    if (!isOpen(earlier) || !isSameSale(earlier, record)) throw new PaymentDuplicateError(payment, key);
    const { conversationId, redirectUrl, expiresAt } = earlier;
    const isShown = form === 'page' && redirectUrl !== undefined && expiresAt !== null && this.clock.now() < expiresAt;
    if (!isShown) throw new PaymentHostedError(payment, 'page_open');
    return { conversationId, redirectUrl, html: null, expiresAt, payment };
  }

  private async showFirst(record: PaymentRecord, { redirectUrl, html, endsAt }: HostedPage): Promise<HostedStart> {
    const now = this.clock.now();
    const expiresAt = isCredible(endsAt, now) ? endsAt : new Date(now.getTime() + this.settings.sessionTtlMs);
    const dueAt = nextPageInquiry({ ...record, expiresAt }, now, this.random);
    const moved = await this.writer.move(record, 'pending', {
      expiresAt,
      dueAt,
      ...(redirectUrl !== null && { redirectUrl }),
    });
    // The request took longer than it may, and the payment has been given up meanwhile.
    if (moved.outcome !== 'replaced') throw new PaymentHostedError(toPayment(await this.reader.latest(record)));
    const { conversationId } = record;
    return { conversationId, redirectUrl, html, expiresAt, payment: toPayment(moved.record) };
  }

  /**
   * Asks the gateway about a payment because of a callback, which decides nothing: once if the payment has ended
   * unpaid, otherwise until the gateway's word is clear. A decline is clear to the buyer, although the page stays open.
   *
   * @param wait ends this when the caller does not wait any longer
   */
  complete(record: PaymentRecord, wait: { readonly isOver: boolean }): Promise<Payment> {
    const { account, traceparent: link } = record;
    return inOperation({ operation: 'hostedReturn', account, link }, () => this.askOften(record, wait));
  }

  private async askOften(record: PaymentRecord, wait: { readonly isOver: boolean }): Promise<Payment> {
    const arrivedAt = this.clock.monotonic();
    let latest = record;
    const isAsked = isOwn(record, this.settings);
    while (isAsked && isKnown(latest) && isAskable(latest) && !wait.isOver) {
      const { begunAt, settled } = (await this.askShared(latest)) ?? NOT_ASKED;
      if (settled && !settled.isStored) return toPayment(settled.record, false);
      latest = settled?.record ?? latest;
      if (!isAskable(latest) || factsOf(latest.state).settled) break;
      // An inquiry that began before the buyer came back may have missed the card that the buyer has just used, and an
      // answer that says nothing leaves the decline of an earlier card in the record.
      const isDeclined = settled?.said === 'declined' && latest.reason === 'declined';
      if (isDeclined && begunAt >= arrivedAt) return toPayment(latest);
      latest = await this.lookUps.run(record.conversationId, async () => {
        await this.clock.sleep(this.asked.waitMs(record.conversationId));
        return this.reader.latest(record);
      });
    }
    return toPayment(withoutOldDecline(latest));
  }

  /** @returns null if callbacks have just asked about it, or ask about as many payments as they may */
  private async askShared(record: PaymentRecord): Promise<CallbackInquiry | null> {
    const { conversationId } = record;
    const running = this.asking.running(conversationId);
    if (running) return running;
    const asked = factsOf(record.state).settled ? this.askedOfEnded : this.asked;
    if (asked.waitMs(conversationId) > 0) return null;
    const isFull = this.asking.size >= MAX_ASKED_AT_ONCE;
    // It waits its turn as if it had been asked about. One that has ended has none, and is not waited for.
    (isFull ? this.asked : asked).begin(conversationId);
    if (isFull) return null;
    const begunAt = this.clock.monotonic();
    return this.asking.run(conversationId, async () => ({ begunAt, settled: await this.inquiries.ask(record) }));
  }
}

/** A decline of an earlier card does not say what became of the card with which the buyer has just come back. */
export function withoutOldDecline(record: PaymentRecord): PaymentRecord {
  return record.state === 'pending' && record.reason === 'declined' ? { ...record, reason: null } : record;
}

/** Whether its page may be open, or is being opened. */
function isOpen(record: PaymentRecord): boolean {
  return isKnown(record) && record.kind === 'hosted' && (record.state === 'initiating' || record.state === 'pending');
}

/** Whether the gateway has a word to say about it: there was a page, and it has not been paid as far as is known. */
function isAskable({ state, expiresAt }: PaymentRecord): boolean {
  return expiresAt !== null && factsOf(state).whenDue === 'inquire';
}

function isCredible(endsAt: Date | null, now: Date): endsAt is Date {
  return endsAt !== null && endsAt > now && endsAt.getTime() <= now.getTime() + MAX_PAGE_MS;
}
