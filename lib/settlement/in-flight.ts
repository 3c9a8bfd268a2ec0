import { Injectable } from '@nestjs/common';
import { PaymentConfigurationError, PaymentOverloadError, PaymentShutdownError } from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { MAX_TIMER_MS, PaymentClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { countRefused } from '../telemetry/metrics.js';
import { inOperation } from '../telemetry/spans.js';

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

type LimitOption = 'maxInFlight' | 'maxBinChecks';

/** Refuses calls beyond a limit: each is counted, and a few a minute are logged. */
@Injectable()
export class Refusals {
  private readonly logger = new PaymentLogger();
  private readonly log: LimitedLog;

  constructor(
    private readonly settings: PaymentSettings,
    clock: PaymentClock,
  ) {
    this.log = new LimitedLog(clock);
  }

  /** @param what are as many as the option allows */
  refuse(operation: string, option: LimitOption, what: string): PaymentOverloadError {
    const { account, [option]: limit } = this.settings;
    const error = new PaymentOverloadError(limit ?? 0, option);
    countRefused({ account, operation });
    this.log.write(option, (end) => {
      const bound = `${limit} ${what} (${option}, ${variableOf(account, option)})`;
      const line = `Account ${account}: ${operation} was refused, since ${bound}; nothing was sent.`;
      this.logger.warn(new LogRecord(line + end, { account, operation, [option]: limit, code: error.code }));
    });
    return error;
  }
}

const NOT_STARTED = {
  option: 'PaymentModule',
  variable: null,
  message:
    'has not been started by Nest: import it in a module of the application instead of loading it lazily, and in a test call ' +
    'app.init() first',
} as const;

/**
 * A `payment` begins one: `maxInFlight` limits how many of these run at once. What is `new` begins something else. The
 * `rest` completes what was begun, and may still run once a shutdown has begun.
 */
export type OperationKind = 'payment' | 'new' | 'rest';

/** Those without a span; that of a callback begins once it is known to which start it links. */
const UNTRACED: readonly string[] = ['auth3d', 'hostedReturn', 'reconcile', 'resolve', 'resolveRefund'];

/** `ending`: a shutdown has begun; what runs, or completes something that was begun, may still finish. */
type Phase = 'starting' | 'open' | 'ending' | 'closed';

/**
 * Runs the operations of this process. They keep it running, and a shutdown waits for them. Payments beyond the limit
 * are refused before anything is done for them, so that those that run are answered in time. Callbacks are never
 * refused: their buyers have already been to the bank.
 */
@Injectable()
export class InFlight {
  private readonly running = new Set<Promise<unknown>>();
  private payments = 0;
  /** #private, since `inspect` of a timer shows all other timers and what they hold. */
  #release: (() => void) | undefined;
  private phase: Phase = 'starting';

  constructor(
    private readonly processHold: ProcessHold,
    private readonly refusals: Refusals,
    private readonly settings: PaymentSettings,
  ) {}

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
   * @throws PaymentConfigurationError before the module has started: no background work would reconcile the result
   * @throws PaymentShutdownError for what is new once a shutdown has begun, and for all when the store is about to be
   *   closed
   * @throws PaymentOverloadError when as many payments run as may
   */
  async run<T>(kind: OperationKind, operation: string, work: () => Promise<T>): Promise<T> {
    if (this.phase === 'starting') throw new PaymentConfigurationError([NOT_STARTED]);
    const isRefused = this.phase === 'closed' || (this.phase === 'ending' && kind !== 'rest');
    if (isRefused) throw new PaymentShutdownError();
    const { maxInFlight } = this.settings;
    if (kind === 'payment' && maxInFlight !== null && this.payments >= maxInFlight) {
      throw this.refusals.refuse(operation, 'maxInFlight', 'payments are in flight');
    }
    const change = kind === 'payment' ? 1 : 0;
    this.payments += change;
    const run = this.traced(operation, work).finally(() => {
      this.payments -= change;
      this.running.delete(run);
      if (this.running.size > 0) return;
      this.#release?.();
      this.#release = undefined;
    });
    this.running.add(run);
    this.#release ??= this.processHold.hold();
    return run;
  }

  /** Resolves when the operations that are running now have ended. Does not wait for later ones. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  private async traced<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const { account } = this.settings;
    return UNTRACED.includes(operation) ? work() : inOperation({ operation, account }, work);
  }
}
