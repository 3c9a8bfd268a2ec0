import { Injectable } from '@nestjs/common';
import { PaymentConfigurationError, PaymentShutdownError, rejectApart } from '../errors/payment-errors.js';
import { ProcessHold } from './process-hold.js';

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
