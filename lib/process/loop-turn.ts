// Imported, since a host's tests may replace the global one by a fake that never calls back.
import { setImmediate } from 'node:timers';

/** Payments resumed per turn of the event loop; together they take some milliseconds. */
const PER_TURN = 16;

/**
 * Spreads payments that become ready at once (a burst of calls, a slow store that answers all of them) over several
 * turns of the event loop, so that none of it blocks the loop for long. First come, first served.
 */
class LoopTurn {
  private left = PER_TURN;
  private readonly waiting: (() => void)[] = [];
  private isCounting = false;

  /** @returns a promise to wait for; null when this turn still has room */
  take(): Promise<void> | null {
    this.count();
    if (this.left > 0) {
      this.left -= 1;
      return null;
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private count(): void {
    if (this.isCounting) return;
    this.isCounting = true;
    setImmediate(() => {
      this.isCounting = false;
      const next = this.waiting.splice(0, PER_TURN);
      this.left = PER_TURN - next.length;
      if (next.length > 0) this.count();
      for (const proceed of next) proceed();
    });
  }
}

/** One for the process: all accounts share its event loop. */
export const loopTurn = new LoopTurn();
