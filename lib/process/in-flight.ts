import { Injectable } from '@nestjs/common';
import { PaymentConfigurationError } from '../errors/payment-configuration.error.js';
import { PaymentShutdownError } from '../errors/payment-shutdown.error.js';
import { rejectApart } from '../errors/reject-apart.js';
import { PaymentOverloadError } from '../errors/payment-overload.error.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { MAX_TIMER_MS, PaymentClock } from '../payment/clock.js';
import { LimitedLog } from '../payment/limited-log.js';
import { LogRecord } from '../telemetry/log-record.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { countRefused } from '../telemetry/metrics.js';

/** Keeps the process from ending by itself. The clock's timers do not: a script would end in the middle of a payment. */
@Injectable()
export class ProcessHold {
  /** The process does not end before what this returns is called. */
  hold(): () => void {
    const timer = setInterval(() => undefined, MAX_TIMER_MS);
    return () => clearInterval(timer);
  }

  /** The process does not end before this work has. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const letProcessEnd = this.hold();
    try {
      return await work();
    } finally {
      letProcessEnd();
    }
  }
}

const NOT_STARTED = {
  option: 'PaymentModule',
  variable: null,
  message:
    'has not been started by Nest: import it in a module of the application instead of loading it lazily, and in a test call ' +
    'app.init() first',
} as const;

/** `ending`: a shutdown has begun, and what runs, or has to be finished, still gets its end. */
type Phase = 'starting' | 'open' | 'ending' | 'closed';

/** Operations that run in this process: they keep it alive, and a shutdown waits for them to end. */
@Injectable()
export class InFlight {
  private readonly running = new Set<Promise<unknown>>();
  /** Private to the language, too: printed, a timer shows every other one, and what they are for. */
  #release: (() => void) | undefined;
  private phase: Phase = 'starting';

  constructor(private readonly processHold: ProcessHold) {}

  /** The module has started: payments may run. */
  open(): void {
    this.phase = 'open';
  }

  /** A shutdown has begun: what is new is refused from now on. */
  refuseNew(): void {
    if (this.phase !== 'closed') this.phase = 'ending';
  }

  /** Refuses everything from now on, and resolves when nothing runs any more: then the store may be closed. */
  async close(): Promise<void> {
    this.phase = 'closed';
    await this.ended();
  }

  /**
   * Runs what begins something: a new payment, a pass of the background work.
   * @throws PaymentShutdownError from the moment a shutdown begins, and what {@link run} throws
   */
  begin<T>(work: () => Promise<T>): Promise<T> {
    if (this.phase === 'ending') return rejectApart(new PaymentShutdownError());
    return this.run(work);
  }

  /**
   * Runs what finishes something that was begun: a callback of the bank, an inquiry, a decision.
   * @throws PaymentConfigurationError while the module has not started: nothing would reconcile what happens now
   * @throws PaymentShutdownError once the store is about to be closed
   */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.phase === 'starting') return rejectApart(new PaymentConfigurationError([NOT_STARTED]));
    if (this.phase === 'closed') return rejectApart(new PaymentShutdownError());
    const run = work().finally(() => {
      this.running.delete(run);
      if (this.running.size > 0) return;
      this.#release?.();
      this.#release = undefined;
    });
    this.running.add(run);
    this.#release ??= this.processHold.hold();
    return run;
  }

  /** How many run now. */
  get count(): number {
    return this.running.size;
  }

  /** Resolves when those that run now have ended; those that begin meanwhile are not waited for. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.running);
  }
}

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
