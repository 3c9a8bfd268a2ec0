import { type PaymentClock, SystemClock } from './clock.js';

/** Thrown by {@link withTimeout}. Its code is that of a network timeout. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'there was no answer in time') {
    super(message);
  }
}

/** Keeps the process running until the time is up, so that whoever waits gets an answer. */
class WaitingClock extends SystemClock {
  override timer(ms: number, act: () => void): () => void {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  }
}

const WAITING_CLOCK = new WaitingClock();

/**
 * Waits at most `ms` milliseconds for the work. It does not stop the work; if that fails later, its error is ignored.
 *
 * @param late makes the error for work that takes too long: given by callers whose work is a host's code, which may
 *   itself throw a TimeoutError
 * @throws TimeoutError after `ms`; before that, what the work rejects with
 */
export function withTimeout<T>(
  ms: number,
  work: () => T | Promise<T>,
  clock: PaymentClock = WAITING_CLOCK,
  late = () => new TimeoutError(),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(late()));
    void Promise.resolve().then(work).then(resolve, reject).then(cancel);
  });
}
