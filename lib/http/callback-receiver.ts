import { Injectable } from '@nestjs/common';
import { Allow } from 'class-validator';
import { PaymentCallbackError, PaymentStoreError } from '../errors/payment-errors.js';
import { CallbackRoute } from '../options/payment-options.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock, TimeoutError, withTimeout } from '../runtime/clock.js';
import { SharedCalls } from '../runtime/shared-calls.js';
import { InFlight } from '../settlement/in-flight.js';
import { isKnown, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { isOwn, PaymentReader } from '../settlement/records.js';
import { HostedPayments, withoutOldDecline } from '../operations/hosted.js';
import { ThreeDPayments } from '../operations/three-d.js';
import { type Callback, checkCallback, readCallback } from '../gateway/callback/callback-fields.js';
import { hashCallbackToken } from '../operations/opening.js';
import { KeepOriginal } from '../dto/rules.js';
import type { CallbackFields } from '../gateway/gateway-dialect.js';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const LOOK_AGAIN_MS = 250;
const MAX_LAST_LOOK_MS = 3_000;

/**
 * Handles what the bank or the gateway's own page posts back: finds the payment by its token, and completes it by
 * Auth3d or, since no field of the page can be counted on, asks the gateway.
 */
@Injectable()
export class CallbackReceiver {
  /** Whoever has a token may post it a thousand times: copies share what they look up, and the wait for an outcome. */
  private readonly lookUps = new SharedCalls<PaymentRecord | null>();
  private readonly holders = new SharedCalls<PaymentRecord | 'purged' | null>();
  private readonly watches = new SharedCalls<Payment>();
  /** The payments that callbacks are being handled of, by the hash of their token, as they were found. */
  private readonly handled = new Map<string, PaymentRecord>();

  constructor(
    private readonly reader: PaymentReader,
    private readonly threeD: ThreeDPayments,
    private readonly hosted: HostedPayments,
    private readonly inFlight: InFlight,
    private readonly route: CallbackRoute,
    private readonly clock: PaymentClock,
    private readonly settings: PaymentSettings,
  ) {}

  /** The injection token of an account's receiver. */
  static token(account: string): symbol {
    return Symbol.for(`nestjs-card-payment:callback-receiver:${account}`);
  }

  /**
   * Checks a callback and changes nothing.
   *
   * @throws PaymentCallbackError, PaymentStoreError
   */
  async receive(token: string, received: unknown): Promise<ReceivedCallback> {
    const record = await this.identify(token);
    const { dialect } = this.settings;
    const callback = readCallback(received, dialect.callbackObjectFields);
    this.check(callback, record);
    const { fields } = callback;
    return new ReceivedCallback({ conversationId: record.conversationId, payment: toPayment(record), fields });
  }

  /**
   * Completes the payment and waits for its outcome, up to `waitMs`; after that, the work goes on. A repeated callback
   * waits for the first.
   *
   * @throws PaymentCallbackError the callback is refused, the payment unchanged
   * @throws PaymentStoreError
   */
  async complete(token: string, received: unknown): Promise<CallbackResult> {
    const record = await this.identify(token);
    const payment = await this.outcomeOf(record, received);
    // Another payment of the order came first. How that one stands now is what the buyer has to know.
    const holder = payment.reason === 'reference_taken' ? await this.findHolder(record) : null;
    if (holder === null) return { payment, isHeld: false };
    // What another gateway says of its payment is no outcome here.
    if (holder === 'purged' || !isOwn(holder, this.settings)) return { payment, isHeld: true };
    return { payment: toPayment(holder), isHeld: false };
  }

  private async outcomeOf(record: PaymentRecord, received: unknown): Promise<Payment> {
    const wait = { isOver: false };
    const isFirst = record.state === 'awaiting' && this.threeD.underWay(record) === null;
    const outcome = isFirst ? this.authorize(record, received) : this.repeat(record, received, wait);
    const watched = outcome.then((payment) => this.watch(payment, record, received));
    try {
      return await withTimeout(this.route.waitMs, () => watched, this.clock);
    } catch (error) {
      wait.isOver = true;
      if (!(error instanceof TimeoutError)) throw error;
      return toPayment(withoutOldDecline(await this.soon(() => this.latest(record))));
    }
  }

  private async identify(token: string): Promise<PaymentRecord> {
    const hash = TOKEN.test(token) ? hashCallbackToken(token) : null;
    const found = hash === null ? null : (this.handled.get(hash) ?? (await this.findByToken(hash)));
    if (!found) throw new PaymentCallbackError('unknown_token');
    return found;
  }

  private findByToken(hash: string): Promise<PaymentRecord | null> {
    return this.lookUps.run(hash, () => this.reader.findByTokenHash(hash));
  }

  private async latest(record: PaymentRecord): Promise<PaymentRecord> {
    const { conversationId } = record;
    return (await this.lookUps.run(conversationId, () => this.reader.find(conversationId))) ?? record;
  }

  /** A buyer who has waited long is not made to wait for a store that hangs, too. */
  private async soon<T>(look: () => Promise<T>): Promise<T> {
    return withTimeout(MAX_LAST_LOOK_MS, look, this.clock, () => new PaymentStoreError('reading'));
  }

  private findHolder(record: PaymentRecord): Promise<PaymentRecord | 'purged' | null> {
    return this.holders.run(record.conversationId, () => this.reader.findHolder(record));
  }

  /** Handles a callback. The copies that come meanwhile need not look up its payment. */
  private async handle<T>(record: PaymentRecord, work: () => Promise<T>): Promise<T> {
    const { tokenHash } = record;
    if (tokenHash === null || this.handled.has(tokenHash)) return work();
    this.handled.set(tokenHash, record);
    try {
      return await work();
    } finally {
      this.handled.delete(tokenHash);
    }
  }

  private authorize(record: PaymentRecord, received: unknown): Promise<Payment> {
    return this.inFlight.run('rest', 'auth3d', () =>
      this.handle(record, () => this.threeD.complete(record, received ?? {})),
    );
  }

  /**
   * A repeat (Back, refresh, a double post), or the return from the gateway's own page. Nothing of it is sent on, so it
   * may be empty, but it may not name another payment.
   */
  private async repeat(record: PaymentRecord, received: unknown, wait: { readonly isOver: boolean }): Promise<Payment> {
    await Promise.resolve();
    this.checkRepeat(readCallback(received ?? {}, this.settings.dialect.callbackObjectFields), record);
    if (record.kind !== 'hosted') return this.threeD.underWay(record) ?? toPayment(record);
    return this.inFlight.run('rest', 'hostedReturn', () =>
      this.handle(record, () => this.hosted.complete(record, wait)),
    );
  }

  private check(callback: Callback, record: PaymentRecord): void {
    if (record.kind === 'hosted') this.checkRepeat(callback, record);
    else checkCallback(callback, record, this.settings.dialect);
  }

  private checkRepeat(callback: Callback, record: PaymentRecord): void {
    const rules = { ...this.settings.dialect, requiredCallbackFields: [] };
    if (Object.keys(callback.fields).length > 0) checkCallback(callback, record, rules);
  }

  /** Auth3d may be running in another process, which is watched for as long as one callback waits. */
  private async watch(payment: Payment, record: PaymentRecord, received: unknown): Promise<Payment> {
    if (payment.state !== 'authorizing' || !isKnown(payment)) return payment;
    const seen = await this.watchShared(record);
    if (seen.state !== 'awaiting') return seen;
    // The other process could not be sure of its claim, and gave it back: this callback may be the only one left.
    return this.authorize(await this.latest(record), received);
  }

  private watchShared(record: PaymentRecord): Promise<Payment> {
    return this.watches.run(record.conversationId, async () => {
      const begun = this.clock.monotonic();
      for (;;) {
        await this.clock.sleep(LOOK_AGAIN_MS);
        const latest = await this.latest(record);
        const isOver = this.clock.monotonic() - begun >= this.route.waitMs;
        if (latest.state !== 'authorizing' || !isKnown(latest) || isOver) return toPayment(latest);
      }
    });
  }
}

/** What the buyer is shown: how this payment stands, or the one that holds its order. */
export interface CallbackResult {
  readonly payment: Payment;
  /** Whether the order is held, and there is no payment to name that does: nobody can say yet whether it is paid. */
  readonly isHeld: boolean;
}

/**
 * A callback that has been checked: its payment, and what the bank sent. A pipe with `validateCustomDecorators` leaves
 * it as it is.
 */
export class ReceivedCallback {
  @Allow()
  @KeepOriginal()
  readonly conversationId!: string;

  @Allow()
  @KeepOriginal()
  readonly payment!: Payment;

  /** Pass them to `PaymentService.auth3d`. They decide nothing. */
  @Allow()
  @KeepOriginal()
  readonly fields!: CallbackFields;

  /** @hidden */
  constructor(fields: ReceivedCallback) {
    Object.assign(this, fields);
  }
}
