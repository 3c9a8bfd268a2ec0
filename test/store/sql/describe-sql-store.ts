import type { PaymentClock } from '../../../lib/runtime/clock.js';
import { openedStoreAt, SHARED_STORES, type SharedStore, type SharedStoreName } from '../../rigs/shared-stores.js';
import { describePaymentStore } from '../contract/payment-store-contract.js';
import { describeLikeMemory } from '../like-memory.js';

/** The contract over two stores of one database, and that these do what the store in memory does. */
export function describeSqlStore(name: SharedStoreName): void {
  describe('a SQL store', () => {
    let database: SharedStore;
    let url: string;
    const open = (clock: PaymentClock) => openedStoreAt(url, { clock });

    beforeAll(async () => {
      database = await SHARED_STORES[name]();
      url = await database.create();
    });
    afterAll(() => database.stop());

    describePaymentStore(name, { create: open, another: (_store, clock) => open(clock) });
    describeLikeMemory(name, open);
  });
}
