import { PaymentClock } from '../runtime/clock.js';

interface Sleeper {
  readonly wakesAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class TestClock extends PaymentClock {
  /** What the clock shows when no time has passed, in milliseconds since 1970 UTC. */
  private origin: number;
  /** How much time has passed. */
  private elapsed = 0;
  private readonly sleepers = new Set<Sleeper>();

  /** @param start the time that it shows at first; by default 1 March 2026, noon UTC */
  constructor(start: Date = new Date('2026-03-01T12:00:00.000Z')) {
    super();
    this.origin = start.getTime();
  }

  now(): Date {
    return new Date(this.origin + this.elapsed);
  }

  override monotonic(): number {
    return this.elapsed;
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
      const sleeper = { wakesAt: this.elapsed + ms, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Sets the clock to another time, as an operator or NTP would: no time passes and no sleeper wakes. */
  set(to: Date): void {
    this.origin = to.getTime() - this.elapsed;
  }

  /**
   * Moves the clock ahead and wakes the sleepers in order, each at its time, including those that go back to sleep
   * within this time. Resolves when that is done.
   */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    for (;;) {
      await nextLoopTurn();
      const [next] = [...this.sleepers].sort((one, other) => one.wakesAt - other.wakesAt);
      if (!next || next.wakesAt > end) break;
      this.elapsed = Math.max(this.elapsed, next.wakesAt);
      next.wake();
    }
    this.elapsed = end;
  }
}

/** Lets promises that are ready run. */
function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
