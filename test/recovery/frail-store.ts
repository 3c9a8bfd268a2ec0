import type { PaymentStore } from 'nestjs-card-payment';

type Write = 'insert' | 'replace' | 'acknowledge';

/** A store whose writes can be made to fail, with a text that nobody should ever see. */
export class FrailStore {
  private readonly failures = new Map<Write, number>();
  readonly store: PaymentStore;

  constructor(sound: PaymentStore) {
    this.store = new Proxy(sound, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => (this.fails(name) ? Promise.reject(new Error('disk full')) : method(...given));
      },
    });
  }

  /** The next writes of this kind fail. */
  fail(write: Write, times = 1): void {
    this.failures.set(write, times);
  }

  private fails(name: string | symbol): boolean {
    const left = this.failures.get(name as Write) ?? 0;
    if (left > 0) this.failures.set(name as Write, left - 1);
    return left > 0;
  }
}
