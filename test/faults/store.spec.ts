import { MemoryPaymentStore, type Payment, type PaymentEvent, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { ENDPOINTS, Shop } from './shop.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** A store that can be down: it refuses every write and read, or hangs. */
class UnsteadyStore extends MemoryPaymentStore {
  state: 'up' | 'down' | 'hanging' = 'up';

  override insert(record: PaymentRecord, event?: PaymentEvent) {
    return this.whenUp(() => super.insert(record, event));
  }

  override replace(record: PaymentRecord, previous: PaymentRecord, event?: PaymentEvent) {
    return this.whenUp(() => super.replace(record, previous, event));
  }

  override find(account: string, conversationId: string) {
    return this.whenUp(() => super.find(account, conversationId));
  }

  private whenUp<T>(work: () => Promise<T>): Promise<T> {
    if (this.state === 'hanging') return new Promise(() => undefined);
    return this.state === 'up' ? work() : Promise.reject(new Error('the store is down'));
  }
}

let simulator: Simulator;
let store: UnsteadyStore;
let shop: Shop;

describe('store', () => {
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    store = new UnsteadyStore();
    shop = await Shop.open(simulator, { store });
  });
  afterEach(async () => {
    await shop.close();
    await simulator.close();
  });

  it.each(ENDPOINTS)('%s throws and sends nothing when the store is down before it', async (endpoint) => {
    const conversationId = await shop.awaiting();
    const { length } = simulator.requests;
    store.state = 'down';
    const call = endpoint === 'Auth3d' ? shop.complete(conversationId) : shop.call(endpoint);
    await expect(call).rejects.toThrow(PaymentStoreError);
    expect(simulator.requests).toHaveLength(length);

    store.state = 'up';
    const { payment } = await shop.complete(conversationId);
    expect([payment.state, simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([
      'succeeded',
      1,
      [],
    ]);
  });

  describe.each(['DoPayment', 'Auth3d'] as const)('%s', (endpoint) => {
    it.each(['down', 'hanging'] as const)(
      'returns the outcome and writes it later when the store is %s after sending',
      async (state) => {
        const conversationId = endpoint === 'Auth3d' ? await shop.awaiting() : null;
        const run = async (): Promise<Payment> =>
          (conversationId ? await shop.complete(conversationId) : await shop.call('DoPayment')).payment;
        const payment = await failMeanwhile(endpoint, state, run);
        expect([payment.state, payment.stored]).toEqual(['succeeded', false]);

        store.state = 'up';
        expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
        const written = await shop.payments.find(payment.conversationId);
        expect([written?.state, written?.stored]).toEqual(['succeeded', true]);
        expect([simulator.ledger.calls(endpoint), simulator.ledger.violations]).toEqual([1, []]);
      },
    );
  });

  it('Init3d throws when the store is down after sending: the buyer is not sent to the bank, and no money can move', async () => {
    const reference = 'order-of-the-outage';
    const call = failMeanwhile('Init3d', 'down', () => shop.payments.init3d(sale('10.00', { reference })));
    await expect(call).rejects.toThrow(PaymentStoreError);
    store.state = 'up';
    const [payment] = await shop.payments.findByReference(reference);
    expect(payment?.state).toBe('initiating');
    const { conversationId } = payment ?? { conversationId: '' };
    await expect(shop.complete(conversationId)).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    expect(simulator.ledger.calls('Auth3d')).toBe(0);
  });
});

/** The store fails while the gateway works. */
async function failMeanwhile<T>(
  operation: 'DoPayment' | 'Init3d' | 'Auth3d',
  state: 'down' | 'hanging',
  run: () => Promise<T>,
) {
  const fault = simulator.fail({ operation, at: 'before', kind: 'stall' });
  const call = run();
  await fault.played;
  store.state = state;
  fault.release();
  return call;
}
