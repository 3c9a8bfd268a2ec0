import { PaymentStateError, SystemClock } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Engine, ENGINES_IN_TURN } from './engines.js';
import { type Merchant, sale, startMerchant } from './merchant.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** Records that a newer release may write, with states and kinds that this one does not know. */
const WRITTEN = [
  ['a state', { state: 'preauthorized' }],
  ['a kind that waits for the buyer', { kind: 'wallet' }],
  ['a kind whose request is under way', { kind: 'wallet', state: 'authorizing' }],
  ['a kind that is unknown', { kind: 'wallet', state: 'unknown', reason: 'no_answer' }],
  ['a kind that has succeeded', { kind: 'wallet', state: 'succeeded' }],
  ['both', { kind: 'wallet', state: 'preauthorized' }],
] as const;

describe.each(ENGINES_IN_TURN)('together with a newer release on %s', (_name, open) => {
  let engine: Engine;
  let store: PaymentStore;
  let simulator: Simulator;
  let merchant: Merchant;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    engine = await open();
    store = await engine.open(new SystemClock());
    merchant = await startMerchant('express', simulator, { options: { store, background: false } });
  });
  afterAll(async () => {
    await merchant.app.close();
    await engine.stop();
    await simulator.close();
  });

  /** A 3D payment that the newer release then changes, and that is due at once. */
  async function written(change: object): Promise<PaymentRecord> {
    const { conversationId } = await merchant.payments.init3d(sale());
    const record = await find(conversationId);
    const dueAt = new Date(record.createdAt.getTime() - 1_000);
    const next = { ...record, dueAt, referenceLock: record.reference, ...change, version: record.version + 1 };
    expect(await store.replace(next as PaymentRecord, record)).toBe('replaced');
    return find(conversationId);
  }

  async function find(conversationId: string): Promise<PaymentRecord> {
    const record = await store.find('default', conversationId);
    if (!record) throw new Error('The payment is gone.');
    return record;
  }

  describe.each(WRITTEN)('%s that only the newer release knows', (_what, change) => {
    let record: PaymentRecord;
    beforeAll(async () => {
      record = await written(change);
    });

    it('is shown as waiting, even to its callback', async () => {
      const shown = { ...change, settled: false };
      expect(await merchant.payments.find(record.conversationId)).toMatchObject(shown);
      const { url, request } = simulator.approve(record.conversationId);
      for (let time = 0; time < 2; time += 1) {
        const answer = await fetch(url, { ...request, redirect: 'manual' });
        expect(answer.status).toBe(303);
        expect(answer.headers.get('location')).toMatch('https://shop.example/pending?');
      }
      const fields = { conversationId: record.conversationId };
      expect(await merchant.payments.auth3d({ conversationId: record.conversationId, fields })).toMatchObject(shown);
      expect(await merchant.payments.inquire(record.conversationId)).toMatchObject(shown);
      expect(await find(record.conversationId)).toEqual(record);
    });

    it('cannot be resolved', async () => {
      const resolved = merchant.payments.resolve(record.conversationId, 'failed', 'looked up', { force: true });
      await expect(resolved).rejects.toBeInstanceOf(PaymentStateError);
      expect(await find(record.conversationId)).toEqual(record);
    });

    it('is handed back by the background work, and not leased again at once', async () => {
      await merchant.payments.reconcile();
      expect(await store.leaseDue({ account: 'default', leaseMs: 1, limit: 10 })).toEqual([]);
      const { dueAt, ...rest } = await find(record.conversationId);
      expect(rest).toEqual({ ...record, dueAt: undefined });
      expect(dueAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
      expect(dueAt?.getTime()).toBeLessThan(Date.now() + 90_000);
    });

    it('keeps its reference locked, and nothing is sent for it', async () => {
      const other = merchant.payments.doPayment(sale('10.00', { reference: record.reference ?? '' }));
      await expect(other).rejects.toMatchObject({ key: 'reference', payment: { state: record.state } });
      expect(simulator.ledger.calls('Auth3d', record.conversationId)).toBe(0);
      expect(simulator.ledger.calls('CheckPayment', record.conversationId)).toBe(0);
      expect(simulator.ledger.chargedTimes(record.conversationId)).toBe(0);
    });
  });
});
