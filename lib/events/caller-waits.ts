import type { PaymentClock } from '../payment/clock.js';
import { limited } from '../payment/limited.js';

/** How long a caller waits for handlers, so that the buyer finds the order paid; they run on after that. */
const MAX_CALLER_WAIT_MS = 2_000;

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
    await limited(this.clock, MAX_CALLER_WAIT_MS, () => handled).catch(() => undefined);
    this.waits.delete(eventId);
  }

  /** A handler has been called with an event; whether it failed does not matter to the caller. */
  handled(eventId: string, handler: string): void {
    const wait = this.waits.get(eventId);
    wait?.handlers.delete(handler);
    if (wait?.handlers.size === 0) wait.done();
  }
}
