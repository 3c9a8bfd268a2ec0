import type { PaymentClock } from '../../../lib/runtime/clock.js';
import { openedStoreAt, type SharedStoreName } from '../../rigs/shared-stores.js';
import { suiteStore } from '../../rigs/suite-stores.js';
import { describePaymentStore } from '../contract/payment-store-contract.js';
import { describeLikeMemory } from '../like-memory.js';

/** The contract over two stores of one database, and that these do what the store in memory does. */
export function describeSqlStore(name: SharedStoreName): void {
  describe('a SQL store', () => {
    let url: string;
    const open = (clock: PaymentClock) => openedStoreAt(url, { clock });

    beforeAll(async () => {
      url = await (await suiteStore(name)).create();
    });

    describePaymentStore(name, { create: open, another: open });
    describeLikeMemory(name, open);
  });
}
