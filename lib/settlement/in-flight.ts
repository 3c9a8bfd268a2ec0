import { Injectable } from '@nestjs/common';
import { PaymentConfigurationError, PaymentOverloadError, PaymentShutdownError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { MAX_TIMER_MS, PaymentClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { countRefused, type LimitedOperation } from '../telemetry/metrics.js';

/** Keeps the process running. The clock's timers do not, so a script would otherwise end in the middle of a payment. */
@Injectable()
export class ProcessHold {
  /** Keeps the process running until the returned function is called. */
  hold(): () => void {
    const timer = setInterval(() => undefined, MAX_TIMER_MS);
    return () => clearInterval(timer);
  }

  /** Keeps the process running until the work has ended. */
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

/** `ending`: a shutdown has begun; what runs, or completes something that was begun, may still finish. */
type Phase = 'starting' | 'open' | 'ending' | 'closed';

/** The operations that run in this process. They keep it running, and a shutdown waits for them. */
@Injectable()
export class InFlight {
  private readonly running = new Set<Promise<unknown>>();
  /** #private, since `inspect` of a timer shows all other timers and what they hold. */
  #release: (() => void) | undefined;
  private phase: Phase = 'starting';

  constructor(private readonly processHold: ProcessHold) {}

  /** The module has started: payments may begin. */
  open(): void {
    this.phase = 'open';
  }

  /** A shutdown has begun: new operations are refused from now on. */
  refuseNew(): void {
    if (this.phase !== 'closed') this.phase = 'ending';
  }

  /** Refuses everything from now on, and resolves when nothing runs any more. Then the store may be closed. */
  async close(): Promise<void> {
    this.phase = 'closed';
    await this.ended();
  }

  /**
   * Runs an operation that begins something: a new payment, a pass of the background work.
   *
   * @throws PaymentShutdownError once a shutdown has begun, and what {@link run} throws
   */
  async begin<T>(work: () => Promise<T>): Promise<T> {
    if (this.phase === 'ending') throw new PaymentShutdownError();
    return this.run(work);
  }

  /**
   * Runs an operation that completes something: a callback of the bank, an inquiry, an operator's decision.
   *
   * @throws PaymentConfigurationError before the module has started: no background work would reconcile the result
   * @throws PaymentShutdownError when the store is about to be closed
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.phase === 'starting') throw new PaymentConfigurationError([NOT_STARTED]);
    if (this.phase === 'closed') throw new PaymentShutdownError();
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

  /** How many operations are running. */
  get count(): number {
    return this.running.size;
  }

  /** Resolves when the operations that are running now have ended. Does not wait for later ones. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.running);
  }
}

/**
 * Enforces `maxInFlight`, the limit of new payments that run at once in this process. Further ones are refused before
 * anything is done for them, so that those that run are answered in time. Callbacks are never refused: their buyers
 * have already been to the bank.
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

  /** How many calls of `doPayment` and `init3d` are running. */
  get count(): number {
    return this.running;
  }

  /** @throws PaymentOverloadError when the limit is reached; the work is not begun */
  async run<T>(operation: LimitedOperation, work: () => Promise<T>): Promise<T> {
    const { maxInFlight } = this.settings;
    if (maxInFlight !== null && this.running >= maxInFlight) throw this.refuse(operation, maxInFlight);
    this.running += 1;
    try {
      return await work();
    } finally {
      this.running -= 1;
    }
  }

  private refuse(operation: LimitedOperation, maxInFlight: number): PaymentOverloadError {
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
