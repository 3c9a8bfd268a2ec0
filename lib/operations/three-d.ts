import { Injectable } from '@nestjs/common';
import { Init3dDto } from '../dto/sale.dto.js';
import { PaymentDuplicateError, PaymentInit3dError, PaymentNotSentError } from '../errors/payment-errors.js';
import { type ChargeAttempt, GatewayClient, TOO_LATE } from '../gateway/gateway-client.js';
import type { Auth3dRequest, GatewayResult } from '../gateway/gateway-dialect.js';
import type { ChargeOutcome } from '../gateway/readings/verdicts.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isKnown, type Payment, type PaymentRecord, toPayment, type PaymentReason } from '../payment/payment.js';
import { TimeoutError, withTimeout } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import { SharedCalls } from '../runtime/shared-calls.js';
import { describeHostError, type Thrown, thrownText } from '../payment/kept-text.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { inOperation } from '../telemetry/spans.js';
import { checkCallback, readCallback } from '../gateway/callback/callback-fields.js';
import { newAttemptId, Opening } from './opening.js';
import { expectOwn, PaymentReader, stateError } from '../settlement/records.js';
import { type Moved, paymentOf, PaymentWriter } from '../settlement/writer.js';
import { Claim, claimEnd, fitsClaim, StoreClock } from '../settlement/store-clock.js';

/** How long `beforeAuth3d` may take: less than the buyer waits for the callback's answer. */
const MAX_VETO_MS = 20_000;
/** How long to wait before Auth3d is tried again, once it is proven that nothing was sent. */
export const AUTH3D_RETRY_MS = 2_000;
const MAX_AUTH3D_RETRYING_MS = 10_000;

/** What the bank sent, checked. */
type Callback = Pick<Auth3dRequest, 'fields' | 'gathered'>;

/** A 3D payment that has been started: show `html` in the buyer's browser. */
export interface Init3dStart {
  readonly conversationId: string;
  /** The page, Base64 as received. */
  readonly content: string;
  /** The page as UTF-8 text. Send it to the buyer's browser as it is, as `text/html; charset=utf-8`. */
  readonly html: string;
  /** When the payment expires unless the buyer comes back. */
  readonly expiresAt: Date;
  readonly payment: Payment;
}

/** The 3D payment: Init3d, the buyer on the issuer's page, then Auth3d once. */
@Injectable()
export class ThreeDPayments {
  private readonly logger = new PaymentLogger();
  /** Copies of one callback in this process share one call of Auth3d. */
  private readonly completing = new SharedCalls<Payment>();

  constructor(
    private readonly opening: Opening,
    private readonly reader: PaymentReader,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly clock: StoreClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {}

  async start(given: unknown): Promise<Init3dStart> {
    const received = await this.opening.receive(Init3dDto, given);
    const token = this.opening.newToken();
    const sale = this.opening.saleRequest(received.input, token);
    const record = this.opening.newPayment('3d', sale, received, token);
    const earlier = await this.opening.open(record);
    // The page of an earlier start is not kept.
    if (earlier) throw new PaymentDuplicateError(toPayment(earlier.payment), earlier.key);

    const attempt = await this.gateway.init3d(sale);
    if (!attempt.sent || !attempt.page) {
      const failed = paymentOf(await this.writer.concludeWithoutPage(record, attempt));
      throw attempt.sent ? new PaymentInit3dError(failed) : new PaymentNotSentError(failed, attempt.why);
    }
    const expiresAt = record.expiresAt ?? received.now;
    const moved = await this.writer.move(record, 'awaiting', { dueAt: expiresAt });
    if (moved.outcome !== 'replaced') throw new PaymentInit3dError(toPayment(await this.reader.latest(record)));
    const { content, html } = attempt.page;
    return { conversationId: record.conversationId, content, html, expiresAt, payment: toPayment(moved.record) };
  }

  /** @param received what the bank sent, as the host parsed it; read only while the payment is `awaiting` */
  complete(record: PaymentRecord, received: unknown): Promise<Payment> {
    const { account, traceparent: link } = record;
    return inOperation({ operation: 'auth3d', account, link }, () => this.completeShared(record, received));
  }

  /** The Auth3d of a payment that is under way in this process; null if there is none. */
  underWay({ conversationId }: PaymentRecord): Promise<Payment> | null {
    return this.completing.running(conversationId);
  }

  private async completeShared(record: PaymentRecord, received: unknown): Promise<Payment> {
    const { conversationId } = record;
    if (!isKnown(record)) return toPayment(record);
    if (record.kind !== '3d' || record.state === 'initiating') {
      throw stateError(record, 'be completed by Auth3d');
    }
    if (record.state !== 'awaiting') return this.underWay(record) ?? toPayment(record);
    await this.clock.check();
    if (record.expiresAt && this.clock.now() >= record.expiresAt) return this.end(record, 'expired');
    expectOwn(record, this.settings, 'be completed by Auth3d');

    // Each copy is checked separately, so that a forged copy cannot cause the bank's own to be refused.
    const { dialect } = this.settings;
    const callback = readCallback(received, dialect.callbackObjectFields);
    checkCallback(callback, record, dialect);
    return this.completing.run(conversationId, () => this.completeOnce(record, callback));
  }

  private async completeOnce(record: PaymentRecord, callback: Callback): Promise<Payment> {
    if (!(await this.isAllowed(record))) return this.end(record, 'failed', 'vetoed');

    let claim = await this.claim(record);
    // Whoever held the order may have let go of it in between.
    if (claim.outcome === 'locked' && (await this.reader.findHolder(record)) === null) claim = await this.claim(record);
    if (claim.outcome === 'locked') return this.end(record, 'failed', 'reference_taken');
    if (claim.outcome === 'stale') return toPayment(await this.reader.latest(record));

    return this.conclude(claim.record, await this.authorize(claim.record, callback));
  }

  private claim(record: PaymentRecord): Promise<Moved> {
    const dueAt = claimEnd(this.clock.now(), this.settings.timeoutMs);
    return this.writer.claim(record, { dueAt, attemptId: newAttemptId(this.random) });
  }

  /** Runs once for a payment, since the claim is granted once. */
  private async authorize(record: PaymentRecord, callback: Callback): Promise<ChargeAttempt> {
    const { timeoutMs, trustUnbound } = this.settings;
    // The fields come from a browser, and may be another payment's: the answer has to name this payment.
    const question = { expected: record, mustName: !trustUnbound };
    const begun = this.clock.monotonic();
    const used = (): number => this.clock.monotonic() - begun;
    for (;;) {
      const claim = new Claim(record, timeoutMs - used(), this.clock);
      const attempt = await this.gateway.charge('auth3d', { payment: toPayment(record), ...callback }, question, claim);
      // Tried again only while it is proven that nothing was sent.
      const isLast = used() + AUTH3D_RETRY_MS >= auth3dRetryingMs(timeoutMs);
      if (attempt.sent || attempt === TOO_LATE || isLast) return attempt;
      await this.clock.sleep(AUTH3D_RETRY_MS);
    }
  }

  /**
   * Stores the outcome. An approval that does not name this payment may belong to another one, whose ids the buyer's
   * browser put into the callback. The gateway is then asked about this payment at once; if it does not confirm the
   * approval, the payment is `unknown`, and the gateway is asked again later; then a decline is believed, too.
   */
  private async conclude(record: PaymentRecord, attempt: ChargeAttempt): Promise<Payment> {
    const write = async (known: ChargeAttempt): Promise<Payment> =>
      paymentOf(await this.writer.conclude(record, known));
    const isUnbound = attempt.sent && attempt.outcome.state === 'unknown' && attempt.outcome.reason === 'unbound';
    if (!isUnbound) return write(attempt);

    // If the claim could run out while the gateway is asked, the outcome is stored first. Otherwise another instance
    // would treat the payment as interrupted and believe an answer that does not confirm this approval.
    const isInTime = fitsClaim(record.dueAt, this.clock.now(), this.settings.timeoutMs);
    const written = isInTime ? null : await write(attempt);
    if (written && written.state !== 'unknown') return written;
    const confirmed = await this.confirm(record, attempt.outcome.result);
    return confirmed ? write({ sent: true, outcome: confirmed }) : (written ?? write(attempt));
  }

  /** @returns the gateway's answer about an approval that named no payment; null when it does not confirm it */
  private async confirm(record: PaymentRecord, authorized: GatewayResult | null): Promise<ChargeOutcome | null> {
    const inquiry = await this.gateway.checkPayment(toPayment(record));
    const isClear = inquiry?.outcome === 'mismatch' || (inquiry?.outcome === 'paid' && inquiry.isBound);
    if (!isClear) return null;
    // An answer that does not name this payment may show another one's ids and amount.
    const isOurs = authorized?.conversationId === record.conversationId;
    return isOurs ? { ...inquiry.charge, result: withDetails(inquiry.charge.result, authorized) } : inquiry.charge;
  }

  /** Ends a payment for which nothing was sent. If someone else has changed it meanwhile, their change stands. */
  private async end(
    record: PaymentRecord,
    state: 'expired' | 'failed',
    reason: PaymentReason | null = null,
  ): Promise<Payment> {
    const ended = await this.writer.move(record, state, { reason });
    return toPayment(ended.outcome === 'replaced' ? ended.record : await this.reader.latest(record));
  }

  private async isAllowed(record: PaymentRecord): Promise<boolean> {
    const { beforeAuth3d } = this.settings;
    if (!beforeAuth3d) return true;
    const late = new TimeoutError();
    try {
      const said: unknown = await withTimeout(
        MAX_VETO_MS,
        () => beforeAuth3d(toPayment(record)),
        this.clock,
        () => late,
      );
      // A function in plain JavaScript may forget to return a value.
      if (said === undefined || said === null) this.reportVeto(record, 'returned neither true nor false');
      return Boolean(said);
    } catch (error) {
      if (error === late) this.reportVeto(record, `gave no answer in ${MAX_VETO_MS / 1000} seconds`);
      else this.reportVeto(record, 'threw', describeHostError(error, this.settings.credentials));
      return false;
    }
  }

  private reportVeto({ conversationId, reference, account }: PaymentRecord, did: string, thrown?: Thrown): void {
    const end = thrown ? thrownText(thrown) : '';
    const line = `Payment ${conversationId}: beforeAuth3d ${did}, which counts as no; nothing was sent${end}.`;
    this.logger.error(new LogRecord(line, { conversationId, reference, account, ...thrown }));
  }
}

/**
 * How much of its deadline an Auth3d may have used and still be tried again: ten seconds, and no more than half, since
 * the last try needs time for its answer.
 */
function auth3dRetryingMs(timeoutMs: number): number {
  return Math.min(MAX_AUTH3D_RETRYING_MS, timeoutMs / 2);
}

/** The inquiry's answer, completed by what only Auth3d's answer shows. */
function withDetails(inquired: GatewayResult | null, authorized: GatewayResult | null): GatewayResult | null {
  if (!inquired || !authorized) return inquired;
  const shown = Object.entries(inquired).filter(([, value]) => ((value as unknown) ?? null) !== null);
  return { ...authorized, ...(Object.fromEntries(shown) as Partial<GatewayResult>) };
}
