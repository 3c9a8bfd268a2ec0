import { PaymentClock } from '../payment/clock.js';

interface Sleeper {
  readonly wakesAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class TestClock extends PaymentClock {
  private time: number;
  private readonly sleepers = new Set<Sleeper>();

  /** @param start where it stands at first; by default 1 March 2026, noon UTC */
  constructor(start: Date = new Date('2026-03-01T12:00:00.000Z')) {
    super();
    this.time = start.getTime();
  }

  now(): Date {
    return new Date(this.time);
  }

  /** How many sleepers there are. */
  get sleeping(): number {
    return this.sleepers.size;
  }

  /** Resolves once {@link advance} has moved the clock that far, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || ms <= 0) return resolve();
      const wake = (): void => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { wakesAt: this.time + ms, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /**
   * Moves the clock ahead. Sleepers are woken in order, each at its time; one that sleeps again within the same stretch
   * is woken again. Resolves when all of that is done.
   */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await turnOfTheLoop();
      const [next] = [...this.sleepers].sort((one, other) => one.wakesAt - other.wakesAt);
      if (!next || next.wakesAt > end) break;
      this.time = Math.max(this.time, next.wakesAt);
      next.wake();
    }
    this.time = end;
  }
}

/** Lets promises that are ready run. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
