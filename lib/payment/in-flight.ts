import { Injectable } from '@nestjs/common';

/** Payments that run in this process, so that a shutdown can let them end. */
@Injectable()
export class InFlight {
  private readonly running = new Set<Promise<unknown>>();

  run<T>(work: () => Promise<T>): Promise<T> {
    const run = work().finally(() => this.running.delete(run));
    this.running.add(run);
    return run;
  }

  async ended(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }
}
