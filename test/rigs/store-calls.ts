import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A call of a store: what is called, with what, and the call itself. */
export interface StoreCall {
  readonly method: string;
  readonly args: readonly unknown[];
  proceed(): Promise<unknown>;
}

/** The store, each of whose calls goes through `handle`, which may delay, refuse or watch it. */
export function interceptCalls(store: PaymentStore, handle: (call: StoreCall) => Promise<unknown>): PaymentStore {
  return new Proxy(store, {
    get: (target, property) => {
      const member: unknown = Reflect.get(target, property);
      if (typeof member !== 'function') return member;
      const method = member as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) =>
        handle({ method: String(property), args, proceed: () => method.apply(target, args) });
    },
  });
}
