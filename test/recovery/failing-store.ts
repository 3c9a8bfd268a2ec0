import { interceptCalls } from '../rigs/store-calls.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

type Write = 'replace' | 'acknowledge';

/** A store whose writes can be made to fail. */
export class FailingStore {
  private readonly failures = new Map<string, number>();
  readonly store: PaymentStore;

  constructor(sound: PaymentStore) {
    this.store = interceptCalls(sound, ({ method, proceed }) =>
      this.fails(method) ? Promise.reject(new Error('disk full')) : proceed(),
    );
  }

  /** The next writes of this kind fail. */
  fail(write: Write, times = 1): void {
    this.failures.set(write, times);
  }

  private fails(method: string): boolean {
    const left = this.failures.get(method) ?? 0;
    if (left > 0) this.failures.set(method, left - 1);
    return left > 0;
  }
}
