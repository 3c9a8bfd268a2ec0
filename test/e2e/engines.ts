import { MemoryPaymentStore, type PaymentClock } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { inWhole } from '../rigs/extent.js';
import { SHARED_STORES } from '../rigs/shared-stores.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** Where shops keep their payments, each under an account of its own. */
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

/** In the short tests one of them: that they are alike is shown by the contract of stores. */
export const ENGINES_IN_TURN = Object.entries(ENGINES).filter(([name]) => inWhole(true, name === 'SQLite'));

async function shared(name: keyof typeof SHARED_STORES): Promise<Engine> {
  const server = await SHARED_STORES[name]();
  const url = await server.create();
  return { open: (clock) => openSqlStore(url, { clock }), stop: () => server.stop() };
}
