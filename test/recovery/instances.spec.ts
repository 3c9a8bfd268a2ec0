import { sale } from '../rigs/sale.js';
import { HOUR_MS, Journal, Merchant, MINUTE_MS } from './merchant.js';

describe('two instances', () => {
  let merchant: Merchant;

  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(() => merchant.close());

  async function startWorker(): Promise<{ worker: Awaited<ReturnType<Merchant['start']>>; journal: Journal }> {
    const journal = new Journal();
    return { worker: await merchant.start({ providers: [{ provide: Journal, useValue: journal }] }), journal };
  }

  describe('an API without handlers', () => {
    it('leaves the events to the worker beside it', async () => {
      const { worker, journal } = await startWorker();
      const api = await merchant.start();
      const { conversationId } = await api.payments.doPayment(sale());
      expect(await api.payments.reconcile()).toMatchObject({ delivered: 0 });
      expect(await worker.payments.reconcile()).toMatchObject({ delivered: 1 });
      expect(journal.told).toEqual([`${conversationId} payment.succeeded`]);
    });

    it('leaves the events to a worker that starts for the first time later', async () => {
      const api = await merchant.start();
      const { conversationId } = await api.payments.doPayment(sale());
      await api.payments.reconcile();
      await merchant.clock.advance(HOUR_MS);
      const { worker, journal } = await startWorker();
      await worker.payments.reconcile();
      expect(journal.told).toEqual([`${conversationId} payment.succeeded`]);
    });
  });

  it('two workers with the same handler call it once for each event', async () => {
    const workers = [await startWorker(), await startWorker()];
    const api = await merchant.start();
    for (let payments = 0; payments < 20; payments += 1) await api.payments.doPayment(sale());
    await Promise.all(workers.map(({ worker }) => worker.payments.reconcile()));
    const told = workers.flatMap(({ journal }) => journal.told);
    expect([told.length, new Set(told).size]).toEqual([20, 20]);
  });

  describe('an idempotency key', () => {
    it('returns the payment in flight, and sends nothing', async () => {
      const { simulator } = merchant;
      const [one, other] = [await merchant.start(), await merchant.start()];
      const order = sale('149.90', { idempotencyKey: 'key' });
      const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
      const first = one.payments.doPayment(order);
      await stall.played;
      const second = await other.payments.doPayment(order);
      expect(second.state).toBe('charging');
      stall.release();
      expect(await first).toMatchObject({ conversationId: second.conversationId, state: 'succeeded' });
      expect(await other.payments.doPayment(order)).toEqual(await first);
      expect(simulator.ledger.calls('DoPayment')).toBe(1);
    });

    it('holds across a crash in the first call', async () => {
      const { simulator, clock } = merchant;
      const [one, other] = [await merchant.start(), await merchant.start()];
      const order = sale('149.90', { idempotencyKey: 'key' });
      const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall', at: 'middle' });
      const first = one.payments.doPayment(order);
      await stall.played;
      await clock.advance(10 * MINUTE_MS);
      await other.payments.reconcile();
      // The gateway does not know it, which proves nothing: the request may still be on its way.
      expect((await other.payments.doPayment(order)).state).toBe('unknown');
      expect(simulator.ledger.calls('DoPayment')).toBe(1);
      stall.release();
      await first;
      expect((await other.payments.doPayment(order)).state).toBe('succeeded');
      expect(simulator.ledger.calls('DoPayment')).toBe(1);
    });

    it('copies of one call, at once on both, are one payment', async () => {
      const { simulator } = merchant;
      const instances = [await merchant.start(), await merchant.start()];
      const order = sale('149.90', { idempotencyKey: 'key' });
      const runs = Array.from({ length: 20 }, (_, i) => instances[i % 2]!.payments.doPayment(order));
      const ids = (await Promise.all(runs)).map(({ conversationId }) => conversationId);
      expect(new Set(ids).size).toBe(1);
      expect(simulator.ledger.calls('DoPayment')).toBe(1);
    });
  });
});
