// Not the global one: a host's tests may put a fake in its place, and what waits for that would wait for ever.
import { setImmediate } from 'node:timers';

/** Of payments that become ready at the same moment, so many go on in one turn of the event loop: some milliseconds. */
const PER_TURN = 16;

/**
 * Spreads the work of payments that become ready at once (a burst of calls, a slow store that answers them all) over
 * turns of the event loop, so that it is not held for as long as all of them take. First come, first served.
 */
class LoopTurn {
  private left = PER_TURN;
  private readonly waiting: (() => void)[] = [];
  private isCounting = false;

  /** @returns what to wait for; null when this turn still has room, which costs nothing */
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

/** Of this process: all accounts share its event loop. */
export const loopTurn = new LoopTurn();
