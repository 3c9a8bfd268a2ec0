import { Injectable } from '@nestjs/common';
import type { PaymentCallbackError, PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentClock } from '../payment/clock.js';
import { LimitedLog } from '../payment/limited-log.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';

/** Logs callbacks that got no outcome, a few a minute of each kind: whoever sends them must not be able to fill the log. */
@Injectable()
export class RefusalLog {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;

  constructor(clock: PaymentClock) {
    this.limited = new LimitedLog(clock);
  }

  /** A callback that was refused. */
  warn({ refusal, message, code }: PaymentCallbackError): void {
    this.limited.write(refusal, (end) => this.logger.warn(new LogRecord(message + end, { code, refusal })));
  }

  /** A callback that could not be served, since the store failed. */
  error({ message, code }: PaymentStoreError): void {
    const line = `A callback could not be served; the buyer is asked to reload. ${message}`;
    this.limited.write(code, (end) => this.logger.error(new LogRecord(line + end, { code })));
  }
}
