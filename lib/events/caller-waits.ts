import { type PaymentClock, withTimeout } from '../runtime/clock.js';

/** How long a caller waits for handlers, so that the buyer finds the order paid. They go on after that. */
const MAX_CALLER_WAIT_MS = 2_000;
/** How long to wait for a handler that another process calls: this process is not told when it has run. */
const ELSEWHERE_WAIT_MS = 200;

interface Wait {
  readonly handlers: Set<string>;
  readonly done: () => void;
}

/** Callers that wait for the handlers of an event they have just published. */
export class CallerWaits {
  private readonly waits = new Map<string, Wait>();

  constructor(private readonly clock: PaymentClock) {}

  /** Resolves when these handlers {@link handled have been called}, or after two seconds. Never rejects. */
  async until(eventId: string, handlers: readonly string[]): Promise<void> {
    const handled = new Promise<void>((done) => this.waits.set(eventId, { handlers: new Set(handlers), done }));
    await withTimeout(MAX_CALLER_WAIT_MS, () => handled, this.clock).catch(() => undefined);
    this.waits.delete(eventId);
  }

  /**
   * Another process has the delivery to this handler, or it waits for its turn. The caller waits a moment, after which
   * the handler has most likely run.
   *
   * @returns false when no caller waits for it
   */
  waitBriefly(eventId: string, handler: string): boolean {
    if (!this.waits.get(eventId)?.handlers.has(handler)) return false;
    this.clock.timer(ELSEWHERE_WAIT_MS, () => this.handled(eventId, handler));
    return true;
  }

  /** A handler has been called with an event, successfully or not. */
  handled(eventId: string, handler: string): void {
    const wait = this.waits.get(eventId);
    wait?.handlers.delete(handler);
    if (wait?.handlers.size === 0) wait.done();
  }
}
