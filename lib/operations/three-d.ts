import { Injectable } from '@nestjs/common';
import { Init3dDto } from '../dto/sale.dto.js';
import {
  PaymentDuplicateError,
  PaymentInit3dError,
  PaymentNotSentError,
  PaymentStateError,
} from '../errors/payment-errors.js';
import { type ChargeAttempt, GatewayClient, TOO_LATE } from '../gateway/gateway-client.js';
import type { Auth3dRequest, GatewayResult } from '../gateway/gateway-dialect.js';
import type { ChargeOutcome } from '../gateway/readings/outcomes.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isKnown, type Payment, type PaymentRecord, toPayment, type PaymentReason } from '../payment/payment.js';
import { loopTurn, TimeoutError, withTimeout } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import { describeHostError, type Thrown, thrownText } from '../payment/kept-text.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { inOperation, itself } from '../telemetry/spans.js';
import { checkCallback, readCallback } from '../gateway/callback/callback-fields.js';
import { Claim, AUTH3D_RETRY_MS, auth3dRetryingMs, claimEnd, fitsClaim } from '../settlement/claim.js';
import { newAttemptId, newCallbackToken } from './ids.js';
import { newPaymentWithCallback, openPayment, receiveInput, saleRequest } from './opening.js';
import { applyNoPage, applyNotSent, applyOutcome, settlementRules } from '../settlement/outcomes.js';
import { expectOwn, PaymentReader } from '../settlement/records.js';
import { type Moved, PaymentWriter } from '../settlement/writer.js';
import { ReturnUrlMaker } from './return-urls.js';
import { StoreClock } from '../settlement/store-clock.js';
import { WaitingCallbacks, type WaitingPlace } from './waiting-callbacks.js';

/** How long `beforeAuth3d` may take: less than the buyer waits for the callback's answer. */
const MAX_VETO_MS = 20_000;

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
export class ThreeDFlow {
  private readonly logger = new PaymentLogger();
  /** Copies of one callback in this process share one call of Auth3d. */
  private readonly completing = new Map<string, Promise<Payment>>();
  private readonly waiting = new WaitingCallbacks();

  constructor(
    private readonly reader: PaymentReader,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly returnUrls: ReturnUrlMaker,
    private readonly clock: StoreClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {}

  start(given: unknown): Promise<Init3dStart> {
    const { account } = this.settings;
    return inOperation(
      { operation: 'init3d', account },
      ({ payment }) => payment,
      () => this.startOnce(given),
    );
  }

  private async startOnce(given: unknown): Promise<Init3dStart> {
    const { input, now } = await receiveInput(Init3dDto, given, this.settings, this.clock);
    const token = newCallbackToken(this.random);
    const sale = saleRequest(input, this.settings, this.returnUrls.make(input, token));
    const { random } = this;
    const record = newPaymentWithCallback('3d', sale, input, this.settings, now, { token, random });
    const earlier = await openPayment(record, this.writer, this.reader, this.settings);
    // The page of an earlier start is not kept.
    if (earlier) throw new PaymentDuplicateError(toPayment(earlier.payment), earlier.key);
    await loopTurn.take();

    const outcome = await this.gateway.init3d(sale);
    if (!outcome.sent) throw new PaymentNotSentError(await this.writer.settle(record, applyNotSent), outcome.why);
    if (outcome.content === null) {
      const failed = await this.writer.settle(record, (current, at) =>
        applyNoPage(current, outcome, this.settings, at),
      );
      throw new PaymentInit3dError(failed);
    }
    const expiresAt = record.expiresAt ?? now;
    const moved = await this.writer.move(record, 'awaiting', { dueAt: expiresAt });
    if (moved.outcome !== 'replaced') throw new PaymentInit3dError(toPayment(await this.reader.latest(record)));
    const { content, html } = outcome;
    return { conversationId: record.conversationId, content, html, expiresAt, payment: toPayment(moved.record) };
  }

  /** A place in which a callback may wait for the payment's outcome. The caller must leave it. */
  placeFor({ conversationId }: PaymentRecord): WaitingPlace {
    return this.waiting.placeFor(conversationId);
  }

  /**
   * @param received what the bank sent, as the host parsed it; read only while the payment is `awaiting`
   * @param place given by callers that may stop waiting before this returns
   */
  async complete(record: PaymentRecord, received: unknown, place?: WaitingPlace): Promise<Payment> {
    const { account, traceparent: link } = record;
    const own = place ?? this.placeFor(record);
    try {
      return await inOperation({ operation: 'auth3d', account, link }, itself, () =>
        this.completeShared(record, received, own),
      );
    } finally {
      if (!place) own.leave();
    }
  }

  private async completeShared(record: PaymentRecord, received: unknown, place: WaitingPlace): Promise<Payment> {
    const { conversationId } = record;
    if (!isKnown(record)) return toPayment(record);
    if (record.kind !== '3d' || record.state === 'initiating') {
      throw new PaymentStateError(toPayment(record), 'be completed by Auth3d');
    }
    if (record.state !== 'awaiting') return this.join(record, place) ?? toPayment(record);
    await this.clock.check();
    if (record.expiresAt && this.clock.now() >= record.expiresAt) return this.end(record, 'expired');
    expectOwn(record, this.settings, 'be completed by Auth3d');

    // Each copy is checked separately, so that a forged copy cannot cause the bank's own to be refused.
    const { dialect } = this.settings;
    const callback = readCallback(received, dialect.callbackObjectFields);
    checkCallback(callback, record, dialect);
    const running = this.join(record, place);
    if (running) return running;
    place.take();
    const run = this.completeOnce(record, callback).finally(() => this.completing.delete(conversationId));
    this.completing.set(conversationId, run);
    return run;
  }

  /**
   * @returns the Auth3d under way; the payment as it is if too many callbacks wait for it; null if none is under way
   */
  private join(record: PaymentRecord, place: WaitingPlace): Promise<Payment> | Payment | null {
    const running = this.completing.get(record.conversationId);
    if (!running) return null;
    return place.take() ? running : toPayment(record);
  }

  private async completeOnce(record: PaymentRecord, callback: Callback): Promise<Payment> {
    if (!(await this.isAllowed(record))) return this.end(record, 'failed', 'vetoed');

    let claim = await this.claim(record);
    // Whoever held the order may have let go of it in between.
    if (claim.outcome === 'locked' && (await this.reader.findHolder(record)) === null) claim = await this.claim(record);
    if (claim.outcome === 'locked') return this.end(record, 'failed', 'reference_taken');
    if (claim.outcome === 'stale') return toPayment(await this.reader.latest(record));

    const attempt = await this.authorize(claim.record, callback);
    if (!attempt.sent) return this.writer.settle(claim.record, applyNotSent);
    return this.conclude(claim.record, attempt.outcome);
  }

  private claim(record: PaymentRecord): Promise<Moved> {
    const dueAt = claimEnd(this.clock.now(), this.settings.timeoutMs);
    return this.writer.claim(record, { dueAt, attemptId: newAttemptId(this.random) });
  }

  /** Runs once for a payment, since the claim is granted once. */
  private async authorize(record: PaymentRecord, callback: Callback): Promise<ChargeAttempt> {
    const { timeoutMs } = this.settings;
    const begun = this.clock.monotonic();
    const used = (): number => this.clock.monotonic() - begun;
    for (;;) {
      const claim = new Claim(record, timeoutMs - used(), this.clock);
      const attempt = await this.gateway.auth3d({ payment: toPayment(record), ...callback }, claim);
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
  private async conclude(record: PaymentRecord, outcome: ChargeOutcome): Promise<Payment> {
    const rules = settlementRules(this.settings, this.gateway, this.random);
    const write = (known: ChargeOutcome): Promise<Payment> =>
      this.writer.settle(record, (current, at) => applyOutcome(current, known, rules, at), { answer: known });
    if (outcome.state !== 'unknown' || outcome.reason !== 'unbound') return write(outcome);

    // If the claim could run out while the gateway is asked, the outcome is stored first. Otherwise another instance
    // would treat the payment as interrupted and believe an answer that does not confirm this approval.
    const isInTime = fitsClaim(record.dueAt, this.clock.now(), this.settings.timeoutMs);
    const written = isInTime ? null : await write(outcome);
    if (written && written.state !== 'unknown') return written;
    const confirmed = await this.confirm(record, outcome.result);
    return confirmed ? write(confirmed) : (written ?? write(outcome));
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

/** The inquiry's answer, completed by what only Auth3d's answer shows. */
function withDetails(inquired: GatewayResult | null, authorized: GatewayResult | null): GatewayResult | null {
  if (!inquired || !authorized) return inquired;
  const shown = Object.entries(inquired).filter(([, value]) => ((value as unknown) ?? null) !== null);
  return { ...authorized, ...(Object.fromEntries(shown) as Partial<GatewayResult>) };
}
