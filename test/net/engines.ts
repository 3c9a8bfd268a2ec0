import { MemoryPaymentStore, type PaymentClock, type PaymentHistoryEntry } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { SHARED_STORES } from '../rigs/shared-stores.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** Where the scripts keep their payments, each under an account of its own. */
export interface Engine {
  open(clock: PaymentClock): Promise<PaymentStore>;
  stop(): Promise<void>;
}

export const ENGINES: Readonly<Record<string, () => Promise<Engine>>> = {
  memory: () =>
    Promise.resolve({
      open: (clock) => Promise.resolve(new MemoryPaymentStore({ clock })),
      stop: () => Promise.resolve(),
    }),
  SQLite: () => shared('SQLite'),
  PostgreSQL: () => shared('PostgreSQL'),
  MariaDB: () => shared('MariaDB'),
};

async function shared(name: keyof typeof SHARED_STORES): Promise<Engine> {
  const server = await SHARED_STORES[name]();
  const url = await server.create();
  return { open: (clock) => openSqlStore(url, { clock }), stop: () => server.stop() };
}

// What only the store tells: the command line asks it, too.

/** The history of a payment, or of a refund. */
export function historyOf(store: PaymentStore, account: string, id: string): Promise<PaymentHistoryEntry[]> {
  return store.history(account, id);
}

/** The deliveries that are parked. */
export async function parkedIn(store: PaymentStore, account: string): Promise<object[]> {
  const parked = await store.listDeliveries({ account, parked: true, after: null, limit: 10 });
  return parked.map(({ handlerId, event: { eventId }, attempts, error }) => ({ handlerId, eventId, attempts, error }));
}
