import { Injectable } from '@nestjs/common';
import { PaymentConfigurationError } from '../errors/payment-configuration.error.js';
import { MAX_TIMER_MS } from '../options/option-kinds.js';

const NOT_STARTED = {
  option: 'PaymentModule',
  variable: null,
  message:
    'has not been started by Nest: import it in a module of the application instead of loading it lazily, and in a test call ' +
    'app.init() first',
} as const;

/** Payments that run in this process: they keep it alive, and a shutdown waits for them to end. */
@Injectable()
export class InFlight {
  private readonly running = new Set<Promise<unknown>>();
  /**
   * The clock's timers keep no process alive: a script must not end between two tries of an Auth3d.
   * Private to the language, too: printed, a timer shows every other one, and what they are for.
   */
  #release: (() => void) | undefined;
  private isOpen = false;

  /** The module has started: payments may run. */
  open(): void {
    this.isOpen = true;
  }

  /** @throws PaymentConfigurationError while the module has not started: nothing would reconcile what happens now */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isOpen) return Promise.reject(new PaymentConfigurationError([NOT_STARTED]));
    const run = work().finally(() => {
      this.running.delete(run);
      if (this.running.size > 0) return;
      this.#release?.();
      this.#release = undefined;
    });
    this.running.add(run);
    this.#release ??= this.holdProcess();
    return run;
  }

  /** Resolves when those that run now have ended; those that begin meanwhile are not waited for. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /** Keeps the process from ending until what this returns is called. */
  protected holdProcess(): () => void {
    const timer = setInterval(() => undefined, MAX_TIMER_MS);
    return () => clearInterval(timer);
  }
}
