import { FailingStore } from './failing-store.js';
import { sale } from '../rigs/sale.js';
import { HOUR_MS, type Instance, Journal, Merchant, MINUTE_MS, STORES } from './merchant.js';

describe.each(Object.entries(STORES))('a store that fails, %s', (_name, openStore) => {
  let merchant: Merchant;
  let failing: FailingStore;
  let instance: Instance;
  const journal = new Journal();

  beforeEach(async () => {
    merchant = await Merchant.open(await openStore());
    failing = new FailingStore(await merchant.shared.connect(merchant.clock));
    instance = await merchant.start({ store: failing.store, providers: [{ provide: Journal, useValue: journal }] });
    journal.told.length = 0;
  });
  afterEach(() => merchant.close());

  const storeError = { name: 'PaymentStoreError', message: expect.not.stringContaining('disk full') };

  describe('before anything is sent', () => {
    it.each(['doPayment', 'init3d'] as const)('%s throws and sends nothing', async (method) => {
      failing.fail('insert');
      const order = sale();
      await expect(instance.payments[method](order)).rejects.toMatchObject(storeError);
      expect(merchant.simulator.requests).toEqual([]);
      await instance.payments[method](order);
      expect(merchant.simulator.requests).toHaveLength(1);
    });

    it('auth3d throws and sends nothing; the next callback completes the payment', async () => {
      const { simulator } = merchant;
      const { conversationId } = await instance.payments.init3d(sale());
      const { fields } = simulator.approve(conversationId);
      failing.fail('replace');
      await expect(instance.payments.auth3d({ conversationId, fields })).rejects.toMatchObject(storeError);
      expect(simulator.ledger.calls('Auth3d')).toBe(0);
      expect((await instance.payments.auth3d({ conversationId, fields })).state).toBe('succeeded');
    });
  });

  describe('after it was sent', () => {
    it.each(['doPayment', 'auth3d'] as const)('%s returns the outcome, and writes it later', async (method) => {
      const { simulator, store } = merchant;
      const pay = {
        doPayment: async () => {
          failing.fail('replace', 3);
          return instance.payments.doPayment(sale());
        },
        auth3d: async () => {
          const { conversationId } = await instance.payments.init3d(sale());
          // All but the claim.
          simulator.fail({
            operation: 'Auth3d',
            kind: 'edit',
            edit: () => failing.fail('replace', 3),
          });
          return instance.payments.auth3d({ conversationId, fields: simulator.approve(conversationId).fields });
        },
      };
      const payment = await pay[method]();
      const { conversationId } = payment;
      expect(payment).toMatchObject({ state: 'succeeded', stored: false, code: 'B0000' });
      expect((await store.find('default', conversationId))?.state).toMatch(/charging|authorizing/);

      expect(await instance.payments.reconcile()).toMatchObject({ written: 0, delivered: 0 });
      await instance.payments.reconcile();
      expect(await instance.payments.reconcile()).toMatchObject({ written: 1, delivered: 1 });
      expect(await instance.payments.find(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
      expect(journal.told).toEqual([`${conversationId} payment.succeeded`]);
      expect(await instance.payments.reconcile()).toMatchObject({ written: 0, delivered: 0 });
    });

    it('an outcome is written over what another instance found out meanwhile, and handlers hear it once', async () => {
      const other = await merchant.start();
      failing.fail('replace', Infinity);
      const { conversationId } = await instance.payments.doPayment(sale());
      await merchant.clock.advance(10 * MINUTE_MS);
      expect(await other.payments.reconcile()).toMatchObject({ settled: 1 });
      failing.fail('replace', 0);
      expect(await instance.payments.reconcile()).toMatchObject({ written: 1 });
      expect(journal.told).toEqual([`${conversationId} payment.unknown`, `${conversationId} payment.succeeded`]);
    });

    it('an outcome is written by itself once the store is back, though the background work is off', async () => {
      failing.fail('replace', 5);
      const { conversationId } = await instance.payments.doPayment(sale());
      await merchant.clock.advance(MINUTE_MS);
      expect((await merchant.store.find('default', conversationId))?.state).toBe('succeeded');
    });

    it('init3d throws, so that the buyer is not sent to the bank, and expires', async () => {
      const order = sale();
      failing.fail('replace');
      await expect(instance.payments.init3d(order)).rejects.toMatchObject(storeError);
      await merchant.clock.advance(HOUR_MS);
      await instance.payments.reconcile();
      expect(await instance.payments.findByReference(order.reference!)).toMatchObject([{ state: 'expired' }]);
    });

    it('a shutdown writes what is owed', async () => {
      failing.fail('replace');
      const { conversationId } = await instance.payments.doPayment(sale());
      await instance.close();
      expect((await merchant.store.find('default', conversationId))?.state).toBe('succeeded');
    });
  });

  it('an event whose acknowledgement is lost comes again', async () => {
    failing.fail('acknowledge');
    const { conversationId } = await instance.payments.doPayment(sale());
    await instance.payments.reconcile();
    await merchant.clock.advance(HOUR_MS);
    await instance.payments.reconcile();
    expect(journal.told).toEqual(Array.from({ length: 2 }, () => `${conversationId} payment.succeeded`));
  });
});
