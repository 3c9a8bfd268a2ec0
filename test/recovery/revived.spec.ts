import { morposDialect, type PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { SHARED_STORES, type SharedStore } from '../rigs/shared-stores.js';
import { startShop, type Shop } from '../rigs/shop.js';
import { accountAt } from '../rigs/simulated-gateway.js';

const WITH_INQUIRY = morposDialect();
/** Of a gateway that has no inquiry, or of a release that did not know it. */
const WITHOUT_INQUIRY = { ...WITH_INQUIRY, operations: { ...WITH_INQUIRY.operations, checkPayment: undefined } };

describe.each(Object.entries(SHARED_STORES))(
  'a payment on %s that became unknown while no instance could ask the gateway',
  (_name, startStore) => {
    let simulator: Simulator;
    let shared: SharedStore;
    let storeUrl: string;

    beforeAll(async () => {
      shared = await startStore();
      storeUrl = await shared.create();
      simulator = await startSimulator({ dialect: 'morpos' });
    }, 60_000);
    afterAll(async () => {
      await simulator?.close();
      await shared?.stop();
    });

    function start(dialect: PaymentOptions['dialect']): Promise<Shop> {
      return startShop({ options: { ...accountAt(simulator), dialect, storeUrl, background: false } });
    }

    it('is asked about by the next instance that can', async () => {
      const unable = await start(WITHOUT_INQUIRY);
      simulator.fail({ operation: 'DoPayment', kind: 'reset', at: 'after' });
      const { conversationId, state } = await unable.payments.doPayment(sale());
      expect(state).toBe('unknown');
      await unable.app.close();

      const able = await start(WITH_INQUIRY);
      expect(await able.payments.reconcile()).toMatchObject({ inquired: 1, settled: 1 });
      expect(await able.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
      expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
      await able.app.close();
    }, 60_000);
  },
);
