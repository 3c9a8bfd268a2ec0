import { setImmediate } from 'node:timers/promises';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import type { LeasedDelivery, PaymentStore } from '../../../lib/store/payment-store.js';
import { TestClock } from '../../../lib/testing/index.js';
import { paymentStoreContract } from './payment-store-contract.js';
import { at, StoreTrial } from './store-trial.js';

/** Makes the methods of a store that are wrong, out of one that is right. */
type Flaw = (store: MemoryPaymentStore, clock: TestClock) => Partial<PaymentStore>;

/** Knows that a delivery is leased, but not by whom. */
const forAnyHolder: Flaw = (store) => {
  const leases = new Map<string, string>();
  const withItsLease = (delivery: LeasedDelivery) => ({ ...delivery, lease: leases.get(delivery.eventId) ?? '' });
  return {
    async leaseDeliveries(request) {
      const deliveries = await store.leaseDeliveries(request);
      for (const { event } of deliveries) leases.set(event.eventId, request.lease);
      return deliveries;
    },
    renewLease: (delivery, leaseMs) => store.renewLease(withItsLease(delivery), leaseMs),
    postpone: (delivery, to) => store.postpone(withItsLease(delivery), to),
  };
};

/**
 * What is wrong, and parts of the names of cases that must fail for that: flaws that only a race, a clock or a look at
 * two accounts shows. What one case in sequence shows, mutation testing covers.
 */
const FLAWS: Readonly<Record<string, readonly [Flaw, ...(readonly string[])]>> = {
  'reads the version, and writes a moment later': [
    (store) => ({
      async replace(next, previous, event) {
        const stored = () => store.find(next.account, next.conversationId);
        if ((await stored())?.version !== previous.version) return 'stale';
        await setImmediate();
        return store.replace(next, (await stored()) ?? previous, event);
      },
    }),
    'replaces of one version at once',
    'of eight claims',
  ],
  'looks who holds a reference, and takes it a moment later': [
    (store) => {
      const holders = new Map<string | null, string>();
      return {
        async insert(record, event) {
          const isTaken = holders.has(record.referenceLock);
          await setImmediate();
          if (isTaken) return 'referenceLock';
          if (record.referenceLock !== null) holders.set(record.referenceLock, record.conversationId);
          return store.insert({ ...record, referenceLock: null }, event);
        },
      };
    },
    'inserts with the same referenceLock at once',
    'refunds of a payment that are opened at once',
  ],
  'looks whether a reference is held before it pins it': [
    (store) => ({
      async replace(next, previous, event) {
        const { pinsReference, ...unpinned } = next;
        if (!pinsReference) return store.replace(next, previous, event);
        const others = await store.findByReference(next.account, next.reference ?? '');
        await setImmediate();
        const isHeld = others.some((other) => other.referenceLock !== null);
        return store.replace(isHeld ? unpinned : next, previous, event);
      },
    }),
    'B pins; A drops',
    'when a pin, the release by the holder and nothing else',
  ],
  'looks whether a conversationId was purged before it writes': [
    (store) => {
      const purged = new Set<string>();
      return {
        async insert(record, event) {
          if (purged.has(record.conversationId)) return 'conversationId';
          await setImmediate();
          return store.insert({ ...record, hostIdNonce: null }, event);
        },
        async purge(account, retention) {
          const settled = await store.list({ account, type: 'payment', states: ['failed'], after: null, limit: 100 });
          const counts = await store.purge(account, retention);
          for (const { conversationId } of settled) {
            if (!(await store.find(account, conversationId))) purged.add(conversationId);
          }
          return counts;
        },
      };
    },
    'no repeat of a payment is stored while it is purged',
  ],
  'goes by a clock of its own': [
    (_store, clock) => {
      const own = new MemoryPaymentStore();
      return Object.assign(own, { now: () => Promise.resolve(clock.now()) });
    },
    'a leased delivery is not leased again until',
    'leaseDue gives the records that are due by',
  ],
  'lets anyone renew or postpone a delivery': [
    forAnyHolder,
    'only the holder of a lease can renew it',
    'only the holder of a lease can postpone its delivery',
    'a holder whose lease was taken over',
  ],
  'fans out by a cursor, past what takes its number early and is written late': [
    (store) => {
      let [numbers, written, cursor] = [0, 0, 0];
      return {
        async replace(next, previous, event) {
          const number = (numbers += 1);
          if (number % 2 === 1) await setImmediate();
          written = Math.max(written, number);
          return store.replace(next, previous, number > cursor ? event : undefined);
        },
        fanOut(account, limit) {
          cursor = written;
          return store.fanOut(account, limit);
        },
      };
    },
    'a handler that is announced while events are written',
  ],
  'knows of pairs only once it fans out to them': [
    (store) => {
      const announcements: (() => Promise<void>)[] = [];
      return {
        announce(account, pairs) {
          announcements.push(() => store.announce(account, pairs));
          return Promise.resolve();
        },
        async fanOut(account, limit) {
          for (const announce of announcements.splice(0)) await announce();
          return store.fanOut(account, limit);
        },
      };
    },
    'while it has an event that waits',
    'while it has an event that waits for a known handler, of refunds',
  ],
  'lists refunds among the payments': [
    (store) => {
      store['records'] = (account) => store['all'](account);
      return {};
    },
    'listed are the states and the reference that are asked for',
    'how many records are in each state now, and the ',
  ],
  'purges payments without looking at their refunds': [
    (store) => {
      store['refundsOf'] = () => [];
      return { findRefunds: () => Promise.resolve([]) };
    },
    'purge deletes a payment and its refunds with all that shows them',
    'while it is unknown, of refunds',
    'while it has a parked delivery, of refunds',
    'when a purge and a replace of a refund happen at once',
  ],
};

test.each(Object.entries(FLAWS))('the contract finds a store that %s', async (_flaw, [flaw, ...cases]) => {
  const failed: string[] = [];
  for (const [name, run] of paymentStoreContract) {
    const clock = new TestClock(at(0));
    const sound = new MemoryPaymentStore({ clock });
    const store = Object.assign(Object.create(sound) as PaymentStore, flaw(sound, clock));
    await run(new StoreTrial(store, store, clock)).catch(() => failed.push(name));
  }
  expect(cases.filter((part) => !failed.some((name) => name.includes(part)))).toEqual([]);
});
