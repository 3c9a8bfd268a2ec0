// The negative control: stores with a fault that costs money, a payment or an event when a process is killed.

/** Each changes the store; its fault shows in what the payment writes while `isArmed`. */
export const FAULTS = {
  /** What it has only in memory dies with the process. */
  'acknowledges before it writes': (store, isArmed) => {
    const insert = store.insert.bind(store);
    const replace = store.replace.bind(store);
    store.insert = async (...given) => (isArmed() ? null : insert(...given));
    store.replace = async (...given) => (isArmed() ? 'replaced' : replace(...given));
  },
  'writes the outcome before it is known': (store, isArmed) => {
    const insert = store.insert.bind(store);
    store.insert = (record) =>
      insert(isArmed() ? { ...record, state: 'succeeded', dueAt: null, finalizedAt: record.createdAt } : record);
  },
  'forgets an event before its handler is called': (store) => {
    const leaseDeliveries = store.leaseDeliveries.bind(store);
    store.leaseDeliveries = async (request) => {
      const deliveries = await leaseDeliveries(request);
      for (const { event } of deliveries) await store.acknowledge(request.account, request.handlerId, event.eventId);
      return deliveries;
    };
  },
};
