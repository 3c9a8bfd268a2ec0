import type { PaymentClock } from '../payment/clock.js';
import { withTimeout } from '../payment/with-timeout.js';

/** How long a caller waits for handlers, so that the buyer finds the order paid; they run on after that. */
const MAX_CALLER_WAIT_MS = 2_000;
/** How long for one that another process calls: no word of it comes here. */
const ELSEWHERE_WAIT_MS = 200;

interface Wait {
  readonly handlers: Set<string>;
  readonly done: () => void;
}

/** Callers that wait for the handlers of an event which they have just published. */
export class CallerWaits {
  private readonly waits = new Map<string, Wait>();

  constructor(private readonly clock: PaymentClock) {}

  /** Resolves once these handlers have been {@link handled called}, or after two seconds. Never rejects. */
  async until(eventId: string, handlers: readonly string[]): Promise<void> {
    const handled = new Promise<void>((done) => this.waits.set(eventId, { handlers: new Set(handlers), done }));
    await withTimeout(MAX_CALLER_WAIT_MS, () => handled, this.clock).catch(() => undefined);
    this.waits.delete(eventId);
  }

  /**
   * The delivery to this handler is not here: another process has it, or it waits for its turn. It has a moment, since
   * whoever has it will most likely be done by then. @returns false when no caller waits for it
   */
  elsewhere(eventId: string, handler: string): boolean {
    if (!this.waits.get(eventId)?.handlers.has(handler)) return false;
    this.clock.timer(ELSEWHERE_WAIT_MS, () => this.handled(eventId, handler));
    return true;
  }

  /** A handler has been called with an event; whether it failed does not matter to the caller. */
  handled(eventId: string, handler: string): void {
    const wait = this.waits.get(eventId);
    wait?.handlers.delete(handler);
    if (wait?.handlers.size === 0) wait.done();
  }
}
