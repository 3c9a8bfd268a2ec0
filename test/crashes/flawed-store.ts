import type { PaymentStore } from '../../lib/store/payment-store.js';

/**
 * The negative control: each changes a store so that it costs money, a payment or an event when a process is killed. It
 * does so only while `isArmed`.
 */
export const FLAWS = {
  /** What the store has only in memory is gone with the process. */
  'acknowledges before it writes': (store: PaymentStore, isArmed: () => boolean): void => {
    const [insert, replace] = [store.insert.bind(store), store.replace.bind(store)];
    store.insert = async (...given) => (isArmed() ? null : insert(...given));
    store.replace = async (...given) => (isArmed() ? 'replaced' : replace(...given));
  },
  'writes the outcome before it is known': (store: PaymentStore, isArmed: () => boolean): void => {
    const insert = store.insert.bind(store);
    store.insert = (record) =>
      insert(isArmed() ? { ...record, state: 'succeeded', dueAt: null, finalizedAt: record.createdAt } : record);
  },
  'forgets an event before its handler is called': (store: PaymentStore): void => {
    const leaseDeliveries = store.leaseDeliveries.bind(store);
    store.leaseDeliveries = async (request) => {
      const deliveries = await leaseDeliveries(request);
      for (const { event } of deliveries) await store.acknowledge(request.account, request.handlerId, event.eventId);
      return deliveries;
    };
  },
};
export type Flaw = keyof typeof FLAWS;
