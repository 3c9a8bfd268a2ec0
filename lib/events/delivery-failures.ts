import type { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentClock } from '../runtime/clock.js';
import { FailureLog, LimitedLog } from '../runtime/limited-log.js';
import { describeHostError, type Thrown } from '../payment/kept-text.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';

/** More than the tries of one delivery in its first minute; a handler that always fails cannot fill the log. */
const MAX_LINES_OF_HANDLER = 10;

type Step = 'fanOut' | 'lease' | 'lookUp' | 'renew';

const FAILED: Readonly<Record<Step, string>> = {
  fanOut: 'The payment store failed to make deliveries of events; it is asked again in seconds.',
  lease: 'The payment store failed to give out deliveries to handlers; it is asked again in seconds.',
  lookUp: 'The payment store failed to say whether an order is held; its event is delivered later.',
  renew: 'The payment store failed to renew the lease of a delivery; another instance may call its handler as well.',
};

/**
 * Logs failures between an event and its handlers, a few a minute: those of handlers, and those of the store, which are
 * also counted.
 */
export class DeliveryFailures {
  private readonly logger = new PaymentLogger();
  private readonly failures: FailureLog<Step>;
  private readonly ofHandlers: LimitedLog;

  constructor(
    clock: PaymentClock,
    private readonly settings: Pick<PaymentSettings, 'account' | 'credentials'>,
  ) {
    const { account } = settings;
    this.ofHandlers = new LimitedLog(clock, MAX_LINES_OF_HANDLER);
    this.failures = new FailureLog<Step>(clock, (step, end) =>
      this.logger.error(new LogRecord(FAILED[step] + end, { account })),
    );
  }

  /** What a handler threw. */
  describe(thrown: unknown): Thrown {
    return describeHostError(thrown, this.settings.credentials);
  }

  /**
   * A handler failed, not the store.
   *
   * @param write writes the line, with `end` at its end
   */
  handlerFailed(handlerId: string, isParked: boolean, write: (end: string) => void): void {
    this.ofHandlers.write(`${isParked ? 'parked' : 'again'} ${handlerId}`, write);
  }

  /** How often in a row the store has failed, over all handlers. */
  get count(): number {
    return this.failures.count;
  }

  /** @param of the handler or delivery */
  failed(step: Step, of = ''): void {
    this.failures.failed(step, `${step} ${of}`);
  }

  /** It succeeded, or is no longer tried. */
  succeeded(step: Step, of = ''): void {
    this.failures.succeeded(`${step} ${of}`);
  }
}
