import type { PaymentClock } from '../payment/clock.js';
import { FailureLog } from '../payment/failure-log.js';
import { LogRecord } from '../telemetry/log-record.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';

type Step = 'fanOut' | 'lease' | 'renew';

const FAILED: Readonly<Record<Step, string>> = {
  fanOut: 'The payment store failed to make deliveries of events; it is asked again in seconds.',
  lease: 'The payment store failed to give out deliveries to handlers; it is asked again in seconds.',
  renew: 'The payment store failed to renew the lease of a delivery; another instance may call its handler as well.',
};

/** What the store fails at between an event and its handlers: logged a few times a minute, and counted. */
export class DeliveryFailures {
  private readonly logger = new PaymentLogger();
  private readonly failures: FailureLog<Step>;

  constructor(clock: PaymentClock, account: string) {
    this.failures = new FailureLog<Step>(clock, (step, end) =>
      this.logger.error(new LogRecord(FAILED[step] + end, { account })),
    );
  }

  /** Failures in a row, over all handlers. */
  get count(): number {
    return this.failures.count;
  }

  /** @param of which handler or delivery */
  failed(step: Step, of = ''): void {
    this.failures.failed(step, `${step} ${of}`);
  }

  /** It succeeded, or is over. */
  succeeded(step: Step, of = ''): void {
    this.failures.succeeded(`${step} ${of}`);
  }
}
