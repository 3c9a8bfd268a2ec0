import type { PaymentSettings } from '../options/payment-settings.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { describeHostError, type Thrown, thrownText } from '../payment/kept-text.js';
import { type PaymentClock, TimeoutError, withTimeout } from '../runtime/clock.js';
import { CoalescedWork } from '../runtime/coalesced-work.js';
import { LimitedLog } from '../runtime/limited-log.js';
import type { Randomness } from '../runtime/randomness.js';
import type { Delivery, LeasedDelivery, PaymentStore } from '../store/payment-store.js';
import type { Attributes } from '../telemetry/attributes.js';
import { recordDuration } from '../telemetry/metrics.js';
import { type LogFields, LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { inSpan } from '../telemetry/spans.js';
import type { PaymentHandler } from './handler-finder.js';
import { isSilent } from './held-orders.js';

/** How long a delivery is leased, and how often the lease is renewed while its handler runs. */
const DELIVERY_LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
/** A handler that has run for longer than this is reported in the log and in health. */
const LONG_RUN_MS = 60_000;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 3_600_000;
/** After how long the store is asked again whether an order is held. */
const LOOK_AGAIN_MS = 5_000;
/** Tries before a delivery is parked: about four hours. */
export const MAX_TRIES = 15;
/** More than the tries of one delivery in its first minute; a handler that always fails cannot fill the log. */
const MAX_LINES_OF_HANDLER = 10;

/** A handler call that has been running for more than a minute. */
export interface LongRun {
  readonly handlerId: string;
  readonly eventId: string;
  readonly runningMs: number;
}

/** A leased delivery, from the call of its handler until it is acknowledged, postponed or parked. */
interface Run {
  readonly delivery: Delivery;
  readonly leased: LeasedDelivery;
  /** What the log says of it, taken before the handler gets the event, which it may change. */
  readonly facts: LogFields;
  readonly began: number;
  /** Aborted when the lease is not renewed any more. */
  readonly over: AbortController;
  /** Resolves when the store has the result. Never rejects. */
  readonly done: Promise<void>;
}

/** Calls one handler, within its own concurrency limit: other handlers are not affected if it is slow or hangs. */
export class HandlerWorker {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;
  private readonly leasing = new CoalescedWork(() => this.leaseUntilFull());
  private readonly running = new Map<string, Run>();
  private isActive = false;
  /** How many deliveries have been made so far. */
  deliveries = 0;
  /** The same, without those that were kept from the handler. */
  calls = 0;

  constructor(
    readonly handler: PaymentHandler,
    private readonly store: PaymentStore,
    private readonly clock: PaymentClock,
    private readonly random: Randomness,
    private readonly failures: DeliveryFailures,
    private readonly settings: Pick<PaymentSettings, 'credentials'>,
  ) {
    this.limited = new LimitedLog(clock, MAX_LINES_OF_HANDLER);
  }

  get longRuns(): LongRun[] {
    const { id: handlerId } = this.handler;
    return Array.from(this.running, ([eventId, { began }]) => ({
      handlerId,
      eventId,
      runningMs: this.msSince(began),
    })).filter(({ runningMs }) => runningMs >= LONG_RUN_MS);
  }

  /** From now on, when a call ends, the next delivery is leased. */
  start(): void {
    this.isActive = true;
  }

  /** From now on, when a call ends, nothing more is leased. */
  stop(): void {
    this.isActive = false;
  }

  /** Leases what is due, up to the handler's concurrency. Resolves when no more can be leased now; never rejects. */
  leaseDue(): Promise<void> {
    return this.leasing.run();
  }

  /**
   * Resolves when the leasing that was asked for has ended and, if it gave this event, the handler has been called.
   * @returns false if it did not give it
   */
  async handled(eventId: string): Promise<boolean> {
    await this.leasing.ended();
    const run = this.running.get(eventId);
    await run?.done;
    return run !== undefined;
  }

  /** Resolves when every call that is running now, or that a lease under way begins, has ended. */
  async finished(): Promise<void> {
    await this.leasing.ended();
    await Promise.all(Array.from(this.running.values(), ({ done }) => done));
  }

  /**
   * Stops renewing leases. The handlers may go on, but another instance gets their deliveries once the leases have run
   * out.
   */
  stopRenewing(): void {
    for (const { over } of this.running.values()) over.abort();
  }

  private async leaseUntilFull(): Promise<void> {
    const { id: handlerId, account, types, concurrency } = this.handler;
    let isMore = true;
    while (isMore && this.running.size < concurrency) {
      const lease = this.random.bytes(16).toString('base64url');
      const limit = concurrency - this.running.size;
      const request = { account, handlerId, types, lease, leaseMs: DELIVERY_LEASE_MS, limit };
      const leased = await this.failures.watch('lease', () => this.store.leaseDeliveries(request));
      for (const delivery of leased ?? []) this.begin(delivery, lease);
      isMore = leased?.length === limit;
    }
  }

  private begin(delivery: Delivery, lease: string): void {
    const { handlerId, account } = delivery;
    const { eventId } = delivery.event;
    // The lease could not be renewed and ran out, but the first call still runs here: do not start a second one.
    if (this.running.has(eventId)) return;
    this.deliveries += 1;
    const leased = { account, handlerId, eventId, lease };
    const run = {
      delivery,
      leased,
      facts: factsOf(delivery),
      began: this.clock.monotonic(),
      over: new AbortController(),
    };
    const done = this.deliver(run).then(() => {
      this.running.delete(eventId);
      if (this.isActive) void this.leaseDue();
    });
    this.running.set(eventId, { ...run, done });
  }

  private async deliver(run: Omit<Run, 'done'>): Promise<void> {
    const { leased, over } = run;
    void this.keepLease(run);
    const silent = await this.isSilent(run);
    if (silent === false) this.calls += 1;
    const failure = silent === false ? await this.callInSpan(run) : null;
    try {
      if (silent === null) await this.lookAgain(run);
      // A late success counts, even if another instance has leased the delivery meanwhile.
      else if (failure === null) await this.store.acknowledge(leased.account, leased.handlerId, leased.eventId);
      else await this.postpone(run, failure);
    } catch {
      const what = `the store did not accept the result of the delivery to ${leased.handlerId}`;
      this.logger.error(recordOf(run, `${what}; the event will be delivered again.`));
    }
    over.abort();
  }

  /** @returns null when the store failed to say */
  private async isSilent(run: Pick<Run, 'delivery' | 'leased' | 'facts'>): Promise<boolean | null> {
    const { handlerId, event } = run.delivery;
    const silent = await this.failures.watch('lookUp', () => isSilent(event, this.store));
    if (silent) this.logger.log(recordOf(run, `${handlerId} is not told, since a payment holds the order.`));
    return silent;
  }

  /** The handler was not called, so this is no try. */
  private async lookAgain({ delivery: { attempts, error }, leased }: Pick<Run, 'delivery' | 'leased'>): Promise<void> {
    const again = { attempts, error: error ?? 'the payment store failed', retryInMs: LOOK_AGAIN_MS, parked: false };
    await this.store.postpone(leased, again);
  }

  /** Starts a new trace, since the caller that happened to look for deliveries has nothing to do with this one. */
  private callInSpan({ delivery, began }: Pick<Run, 'delivery' | 'began'>): Promise<Thrown | null> {
    const { handlerId, account, event, attempts } = delivery;
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
      const failure = await this.call(delivery);
      const outcome: Attributes = failure === null ? {} : { 'error.type': 'handler_failed' };
      if (failure !== null) span.fail('handler_failed');
      recordDuration('handlers', this.msSince(began), { ...by, ...outcome });
      return failure;
    });
  }

  /** @returns what went wrong, or null */
  private async call({ event }: Delivery): Promise<Thrown | null> {
    const { handler } = this;
    const handle = () => Promise.resolve().then(() => handler.handle(event));
    const { timeoutMs } = handler;
    let late: TimeoutError | null = null;
    const isLate = () => (late = new TimeoutError());
    try {
      await (timeoutMs === null ? handle() : withTimeout(timeoutMs, handle, this.clock, isLate));
      return null;
    } catch (error) {
      // A handler may throw a timeout error of its own.
      if (error === late) return { error: `took longer than ${timeoutMs} ms`, at: [] };
      return describeHostError(error, this.settings.credentials);
    }
  }

  /** Renews the lease until the call is over, and notices when it has run for a minute. */
  private async keepLease(run: Omit<Run, 'done'>): Promise<void> {
    const { leased, began } = run;
    const { signal } = run.over;
    let isReported = false;
    for (;;) {
      await this.clock.sleep(RENEW_EVERY_MS, signal);
      if (signal.aborted) return;
      if (!isReported && this.msSince(began) >= LONG_RUN_MS) {
        isReported = true;
        this.logger.warn(recordOf(run, `${this.handler.id} has been running for a minute.`));
      }
      // If renewing fails now, it may succeed next time: the lease is renewed three times before it would run out.
      await this.failures.watch('renew', () => this.store.renewLease(leased, DELIVERY_LEASE_MS), signal);
    }
  }

  private async postpone(run: Omit<Run, 'done'>, failure: Thrown): Promise<void> {
    const { account, handlerId, eventId } = run.leased;
    const attempts = run.delivery.attempts + 1;
    const parked = attempts >= MAX_TRIES;
    const retryInMs = Math.min(MIN_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS);
    const { error, at } = failure;
    const words = ['payments replay', handlerId, eventId];
    if (account !== DEFAULT_ACCOUNT) words.push('--account', account);
    const what = parked
      ? `failed ${attempts} times and is parked until it is replayed (${words.join(' ')})`
      : `failed (try ${attempts}) and is tried again in ${retryInMs / 1_000} s`;
    this.limited.write(parked ? 'parked' : 'again', (end) => {
      const line = `${handlerId} ${what}${thrownText(failure)}.${end}`;
      this.logger[parked ? 'error' : 'warn'](recordOf(run, line, { attempts, parked, error, at }));
    });
    await this.store.postpone(run.leased, { attempts, error, retryInMs, parked });
  }

  private msSince(began: number): number {
    return this.clock.monotonic() - began;
  }
}

function factsOf({ account, handlerId, event }: Delivery): LogFields {
  const { conversationId, reference } = event.payment;
  const refund = 'refund' in event && { refundId: event.refund.refundId };
  return { eventId: event.eventId, handlerId, ...refund, conversationId, reference, account };
}

function recordOf({ leased, facts }: Pick<Run, 'leased' | 'facts'>, what: string, more: LogFields = {}): LogRecord {
  return new LogRecord(`Event ${leased.eventId}: ${what}`, { ...facts, ...more });
}

/** What the store does between an event and its handlers. */
type Step = 'fanOut' | 'lease' | 'lookUp' | 'renew';

const FAILED: Readonly<Record<Step, string>> = {
  fanOut: 'The payment store failed to make deliveries of events; it is asked again in seconds.',
  lease: 'The payment store failed to give out deliveries to handlers; it is asked again in seconds.',
  lookUp: 'The payment store failed to say whether an order is held; its event is delivered later.',
  renew: 'The payment store failed to renew the lease of a delivery; another instance may call its handler as well.',
};

/** Logs that the store failed between an event and its handlers: each step a few times a minute. */
export class DeliveryFailures {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;

  constructor(
    clock: PaymentClock,
    private readonly account: string,
  ) {
    this.limited = new LimitedLog(clock);
  }

  /**
   * @param over aborted when nobody needs the answer any more: that it fails then counts as nothing
   * @returns the store's answer; null when it failed
   */
  async watch<T>(step: Step, ask: () => Promise<T>, over?: AbortSignal): Promise<T | null> {
    try {
      return await ask();
    } catch {
      if (!over?.aborted) this.report(step);
      return null;
    }
  }

  private report(step: Step): void {
    const { account } = this;
    this.limited.write(step, (end) => this.logger.error(new LogRecord(FAILED[step] + end, { account })));
  }
}
