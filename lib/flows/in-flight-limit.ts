import { Injectable } from '@nestjs/common';
import { PaymentOverloadError, rejectApart } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { PaymentClock } from '../payment/clock.js';
import { LimitedLog } from '../payment/limited-log.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { countRefused } from '../telemetry/metrics.js';

/**
 * `maxInFlight`: how many new payments run at once in this process. Further ones are refused before anything is done
 * for them, so that those that run get their answer in time. A callback never is: its buyer has been to the bank.
 */
@Injectable()
export class InFlightLimit {
  private readonly logger = new PaymentLogger();
  private readonly log: LimitedLog;
  private running = 0;

  constructor(
    private readonly settings: PaymentSettings,
    clock: PaymentClock,
  ) {
    this.log = new LimitedLog(clock);
  }

  /** How many `doPayment` and `init3d` run now. */
  get count(): number {
    return this.running;
  }

  /** @throws PaymentOverloadError while as many run as may; the work is not begun */
  async run<T>(operation: 'doPayment' | 'init3d', work: () => Promise<T>): Promise<T> {
    const { maxInFlight } = this.settings;
    if (maxInFlight !== null && this.running >= maxInFlight) return rejectApart(this.refuse(operation, maxInFlight));
    this.running += 1;
    try {
      return await work();
    } finally {
      this.running -= 1;
    }
  }

  private refuse(operation: 'doPayment' | 'init3d', maxInFlight: number): PaymentOverloadError {
    const { account } = this.settings;
    const error = new PaymentOverloadError(maxInFlight);
    countRefused({ account, operation });
    this.log.write(error.code, (end) => {
      const bound = `${maxInFlight} payments are in flight (maxInFlight, ${variableOf(account, 'maxInFlight')})`;
      const line = `Account ${account}: ${operation} was refused, since ${bound}; nothing was sent.`;
      this.logger.warn(new LogRecord(line + end, { account, operation, maxInFlight, code: error.code }));
    });
    return error;
  }
}
