import { MemoryPaymentStore, PaymentModule, PaymentService, paymentToken } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Merchant, sale, simulatorOptions, startMerchant } from '../e2e/merchant.js';
import { quiet } from '../operations/test-shop.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { until } from '../services/until.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A store that counts how often it was closed, and refuses every call from then on. */
class ClosableStore {
  readonly inner = new MemoryPaymentStore();
  timesClosed = 0;
  timesUsedClosed = 0;
  readonly store: PaymentStore = interceptCalls(this.inner, ({ method, proceed }) => {
    if (method === 'close') return Promise.resolve(void (this.timesClosed += 1));
    if (this.timesClosed === 0) return proceed();
    this.timesUsedClosed += 1;
    return Promise.reject(new Error('closed'));
  });
}

const ACCOUNTS = ['default', 'second'] as const;
type Account = (typeof ACCOUNTS)[number];

describe('two accounts on one store', () => {
  let simulator: Simulator;
  let closable: ClosableStore;
  let merchant: Merchant;
  let closed: Promise<void> | null;

  beforeEach(async () => {
    closed = null;
    simulator = await startSimulator({ dialect: 'morpos' });
    closable = new ClosableStore();
    const { store } = closable;
    const options = { ...simulatorOptions(simulator), store, publicUrl: 'https://shop.example' };
    merchant = await startMerchant('express', simulator, {
      options: { store },
      structure: { callback: { waitMs: 100 } },
      metadata: { imports: [PaymentModule.forRoot({ ...options, name: 'second', callback: { waitMs: 100 } })] },
    });
  });
  afterEach(async () => {
    simulator.reset();
    await (closed ?? merchant.app.close());
    await simulator.close();
  });

  const of = (account: Account): PaymentService => merchant.app.get<PaymentService>(paymentToken(account));

  /** A shutdown that a payment of this account holds up, with what lets it end. */
  async function beginShutdown(account: Account): Promise<() => Promise<unknown>> {
    const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
    const paying = of(account).doPayment(sale());
    await stall.played;
    closed = merchant.app.close();
    await quiet();
    return () => (stall.release(), paying);
  }

  /** The buyer of a 3D payment returns from the bank. */
  async function comeBack(conversationId: string): Promise<Response> {
    const { url, ...request } = simulator.approve(conversationId).request;
    const { pathname, search } = new URL(url);
    return fetch(`${merchant.url}${pathname}${search}`, { ...request, redirect: 'manual' });
  }

  it.each(ACCOUNTS)('refuse what is new from the moment a shutdown begins, which %s holds up', async (account) => {
    const end = await beginShutdown(account);
    const requests = simulator.requests.length;
    for (const other of ACCOUNTS) {
      const refused = { name: 'PaymentShutdownError', code: 'PAYMENT_SHUTDOWN' };
      const order = sale('149.90', { idempotencyKey: 'key' });
      await expect(of(other).doPayment(order)).rejects.toMatchObject(refused);
      await expect(of(other).init3d(order)).rejects.toMatchObject(refused);
      await expect(of(other).reconcile()).rejects.toMatchObject(refused);
      expect(await closable.inner.findByReference(other, order.reference!)).toEqual([]);
      expect(await closable.inner.findByIdempotencyKey(other, 'payment', 'key')).toBeNull();
    }
    expect(simulator.requests).toHaveLength(requests);
    expect(await end()).toMatchObject({ state: 'succeeded', stored: true });
    await closed;
    expect(closable).toMatchObject({ timesClosed: 1, timesUsedClosed: 0 });
  });

  it.each([
    ['default', 'second'],
    ['second', 'default'],
  ] as const)(
    'complete a payment whose buyer comes back meanwhile, before the store is closed: %s holds it up, %s has the buyer',
    async (holding, other) => {
      const { conversationId } = await of(other).init3d(sale());
      const end = await beginShutdown(holding);
      const stall = simulator.fail({ operation: 'Auth3d', kind: 'stall' });
      // The buyer is answered before the outcome is known.
      expect((await comeBack(conversationId)).status).toBe(303);
      await stall.played;
      await end();
      // It could have closed by now. Where this account is asked first, the server still listens.
      const isDown = (): Promise<boolean> =>
        comeBack(conversationId).then(
          () => false,
          () => true,
        );
      await until(isDown, 1_000).catch(() => undefined);
      await quiet();
      expect(closable.timesClosed).toBe(0);
      stall.release();
      await closed;
      expect(await closable.inner.find(other, conversationId)).toMatchObject({ state: 'succeeded' });
      expect(closable).toMatchObject({ timesClosed: 1, timesUsedClosed: 0 });
    },
  );
});
