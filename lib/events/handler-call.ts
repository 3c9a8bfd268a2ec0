import { type PaymentClock, TimeoutError, withTimeout } from '../runtime/clock.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { type Thrown, thrownText } from '../payment/kept-text.js';
import type { Delivery, LeasedDelivery, PaymentStore } from '../store/payment-store.js';
import type { Attributes } from '../telemetry/attributes.js';
import { type LogFields, LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { recordDuration } from '../telemetry/metrics.js';
import { inSpan } from '../telemetry/spans.js';
import type { DeliveryFailures } from './delivery-failures.js';
import type { PaymentHandler } from './handler-finder.js';
import { isSilent } from './held-orders.js';

/** How long a delivery is leased, and how often the lease is renewed while its handler runs. */
export const DELIVERY_LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
/** A handler that has run for longer than this is reported in the log and in health. */
const LONG_RUN_MS = 60_000;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 3_600_000;
/** After how long the store is asked again whether an order is held. */
const LOOK_AGAIN_MS = 5_000;
/** Tries before a delivery is parked: about four hours. */
export const MAX_TRIES = 15;

/** One leased delivery, from the call of its handler until it is acknowledged, postponed or parked. */
export class HandlerCall {
  private readonly logger = new PaymentLogger();
  private readonly over = new AbortController();
  private readonly began: number;
  /** Resolves when the call has ended and its result has been passed to the store. Never rejects. */
  readonly done: Promise<void>;
  /** Whether the event was kept from the handler: its order is held, or nobody can say. */
  isUntold = false;

  constructor(
    private readonly delivery: Delivery,
    private readonly lease: string,
    private readonly handler: PaymentHandler,
    private readonly store: PaymentStore,
    private readonly clock: PaymentClock,
    private readonly failures: DeliveryFailures,
  ) {
    this.began = clock.monotonic();
    this.done = this.run();
  }

  get eventId(): string {
    return this.delivery.event.eventId;
  }

  /** How long the handler has been running, in milliseconds, once that is more than a minute; null before. */
  get longRunMs(): number | null {
    const ran = this.clock.monotonic() - this.began;
    return ran >= LONG_RUN_MS ? ran : null;
  }

  /**
   * Stops renewing the lease. The handler may go on, but another instance gets the delivery once the lease has run out.
   */
  stopRenewing(): void {
    this.over.abort();
  }

  private async run(): Promise<void> {
    void this.keepLease();
    void this.reportLongRun();
    const silent = await this.isSilent();
    this.isUntold = silent !== false;
    const failure = this.isUntold ? null : await this.callInSpan();
    const { account, handlerId } = this.delivery;
    try {
      if (silent === null) await this.lookAgain();
      // A late success counts, even if another instance has leased the delivery meanwhile.
      else if (failure === null) await this.store.acknowledge(account, handlerId, this.eventId);
      else await this.postpone(failure);
    } catch {
      const what = `the store did not accept the result of the delivery to ${handlerId}`;
      this.logger.error(this.record(`${what}; the event will be delivered again.`));
    }
    this.over.abort();
    this.failures.succeeded('renew', this.renewalKey);
  }

  /** @returns null when the store failed to say */
  private async isSilent(): Promise<boolean | null> {
    const { handlerId, event } = this.delivery;
    try {
      const silent = await isSilent(event, this.store);
      this.failures.succeeded('lookUp', handlerId);
      if (silent) this.logger.log(this.record(`${handlerId} is not told, since a payment holds the order.`));
      return silent;
    } catch {
      this.failures.failed('lookUp', handlerId);
      return null;
    }
  }

  /** The handler was not called, so this is no try. */
  private async lookAgain(): Promise<void> {
    const { attempts, error } = this.delivery;
    const again = { attempts, error: error ?? 'the payment store failed', retryInMs: LOOK_AGAIN_MS, parked: false };
    await this.store.postpone(this.leased, again);
  }

  /** Starts a new trace, since the caller that happened to look for deliveries has nothing to do with this one. */
  private callInSpan(): Promise<Thrown | null> {
    const { handlerId, account, event, attempts } = this.delivery;
    const by = {
      'card_payment.account': account,
      'card_payment.handler': handlerId,
      'card_payment.event': event.type,
    };
    const attributes = {
      ...by,
      'card_payment.conversation_id': event.payment.conversationId,
      ...('refund' in event && { 'card_payment.refund_id': event.refund.refundId }),
      'card_payment.attempts': attempts + 1,
    };
    return inSpan(`card_payment.handle ${handlerId}`, { kind: 'consumer', attributes, isRoot: true }, async (span) => {
      const failure = await this.call();
      const outcome: Attributes = failure === null ? {} : { 'error.type': 'handler_failed' };
      if (failure !== null) span.fail('handler_failed');
      recordDuration('handlers', this.clock.monotonic() - this.began, { ...by, ...outcome });
      return failure;
    });
  }

  /** @returns what went wrong, or null */
  private async call(): Promise<Thrown | null> {
    const { handler, delivery } = this;
    const handle = () => Promise.resolve().then(() => handler.handle(delivery.event));
    const { timeoutMs } = handler;
    let late: TimeoutError | null = null;
    const isLate = () => (late = new TimeoutError());
    try {
      await (timeoutMs === null ? handle() : withTimeout(timeoutMs, handle, this.clock, isLate));
      return null;
    } catch (error) {
      // A handler may throw a timeout error of its own.
      if (error === late) return { error: `took longer than ${timeoutMs} ms`, at: [] };
      return this.failures.describe(error);
    }
  }

  private async keepLease(): Promise<void> {
    const { signal } = this.over;
    for (;;) {
      await this.clock.sleep(RENEW_EVERY_MS, signal);
      if (signal.aborted) return;
      // If renewing fails now, it may succeed next time: the lease is renewed three times before it would run out.
      await this.renewLease();
    }
  }

  private async renewLease(): Promise<void> {
    try {
      await this.store.renewLease(this.leased, DELIVERY_LEASE_MS);
      this.failures.succeeded('renew', this.renewalKey);
    } catch {
      // A call that has ended in the meantime needs no lease.
      if (!this.over.signal.aborted) this.failures.failed('renew', this.renewalKey);
    }
  }

  private get renewalKey(): string {
    return `${this.delivery.handlerId} ${this.eventId}`;
  }

  private async reportLongRun(): Promise<void> {
    const { signal } = this.over;
    await this.clock.sleep(LONG_RUN_MS, signal);
    if (signal.aborted) return;
    this.logger.warn(this.record(`${this.handler.id} has been running for a minute.`));
  }

  private async postpone(failure: Thrown): Promise<void> {
    const attempts = this.delivery.attempts + 1;
    const parked = attempts >= MAX_TRIES;
    const retryInMs = Math.min(MIN_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS);
    const { account, handlerId } = this.delivery;
    const { error, at } = failure;
    const fields = { attempts, parked, error, at };
    this.failures.handlerFailed(handlerId, parked, (end) => {
      if (parked) {
        const words = ['payments replay', handlerId, this.eventId];
        if (account !== DEFAULT_ACCOUNT) words.push('--account', account);
        const what = `failed ${attempts} times and is parked until it is replayed (${words.join(' ')})`;
        this.logger.error(this.record(`${handlerId} ${what}${thrownText(failure)}.${end}`, fields));
      } else {
        const what = `failed (try ${attempts}) and is tried again in ${retryInMs / 1_000} s`;
        this.logger.warn(this.record(`${handlerId} ${what}${thrownText(failure)}.${end}`, fields));
      }
    });
    await this.store.postpone(this.leased, { attempts, error, retryInMs, parked });
  }

  private record(what: string, more: LogFields = {}): LogRecord {
    const { account, handlerId, event } = this.delivery;
    const { conversationId, reference } = event.payment;
    const fields: LogFields = {
      eventId: event.eventId,
      handlerId,
      ...('refund' in event && { refundId: event.refund.refundId }),
      conversationId,
      reference,
      account,
      ...more,
    };
    return new LogRecord(`Event ${event.eventId}: ${what}`, fields);
  }

  private get leased(): LeasedDelivery {
    const { account, handlerId } = this.delivery;
    return { account, handlerId, eventId: this.eventId, lease: this.lease };
  }
}
