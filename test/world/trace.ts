import type { TestClock } from 'nestjs-card-payment/testing';

/** What happened, in order, with the world's time. The text of a line is made only when it is read. */
export class Trace {
  private readonly entries: [ms: number, line: () => string][] = [];

  constructor(private readonly clock: TestClock) {}

  add(line: () => string): void {
    this.entries.push([this.clock.monotonic(), line]);
  }

  lines(): string[] {
    return this.entries.map(([ms, line]) => `${(ms / 1000).toFixed(3).padStart(10)} ${line()}`);
  }
}
