import { Injectable } from '@nestjs/common';
import { MAX_TIMER_MS } from '../options/option-kinds.js';

/** Payments that run in this process: they keep it alive, and a shutdown waits for them to end. */
@Injectable()
export class InFlight {
  private readonly running = new Set<Promise<unknown>>();
  /** The clock's timers keep no process alive: a script must not end between two tries of an Auth3d. */
  private alive: NodeJS.Timeout | undefined;

  run<T>(work: () => Promise<T>): Promise<T> {
    const run = work().finally(() => {
      this.running.delete(run);
      if (this.running.size > 0) return;
      clearInterval(this.alive);
      this.alive = undefined;
    });
    this.running.add(run);
    this.alive ??= setInterval(() => undefined, MAX_TIMER_MS);
    return run;
  }

  /** Resolves when those that run now have ended; those that begin meanwhile are not waited for. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.running);
  }
}
