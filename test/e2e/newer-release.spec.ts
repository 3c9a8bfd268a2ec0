import { PaymentStateError } from 'nestjs-card-payment';
import { ENGINES_IN_TURN } from './engines.js';
import { bring, sale, useMerchant } from './merchant.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** Records that a newer release may write, with states and kinds that this one does not know. */
const WRITTEN = [
  ['a state', { state: 'preauthorized' }],
  ['a kind that waits for the buyer', { kind: 'wallet' }],
  ['a kind that is unknown', { kind: 'wallet', state: 'unknown', reason: 'no_answer' }],
  ['both', { kind: 'wallet', state: 'preauthorized' }],
] as const;

describe.each(ENGINES_IN_TURN)('together with a newer release on %s', (_name, engine) => {
  const shop = useMerchant({ engine, options: { background: false } });

  /** A 3D payment that the newer release then changes, and that is due at once. */
  async function written(change: object): Promise<PaymentRecord> {
    const { conversationId } = await shop.payments.init3d(sale());
    const record = await find(conversationId);
    const dueAt = new Date(record.createdAt.getTime() - 1_000);
    const next = { ...record, dueAt, referenceLock: record.reference, ...change, version: record.version + 1 };
    expect(await shop.store.replace(next as PaymentRecord, record)).toBe('replaced');
    return find(conversationId);
  }

  async function find(conversationId: string): Promise<PaymentRecord> {
    const record = await shop.store.find('default', conversationId);
    if (!record) throw new Error('The payment is gone.');
    return record;
  }

  it.each(WRITTEN)(
    '%s that only the newer release knows is shown as waiting, and left to it',
    async (_what, change) => {
      const record = await written(change);
      const { conversationId } = record;
      const shown = { ...change, settled: false };
      expect(await shop.payments.find(conversationId)).toMatchObject(shown);
      const callback = shop.simulator.approve(conversationId);
      for (let time = 0; time < 2; time += 1) {
        const answer = await bring(callback);
        expect(answer.status).toBe(303);
        expect(answer.headers.get('location')).toMatch('https://shop.example/pending?');
      }
      expect(await shop.payments.auth3d({ conversationId, fields: { conversationId } })).toMatchObject(shown);
      expect(await shop.payments.inquire(conversationId)).toMatchObject(shown);
      const resolved = shop.payments.resolve(conversationId, 'failed', 'looked up', { force: true });
      await expect(resolved).rejects.toBeInstanceOf(PaymentStateError);
      expect(await find(conversationId)).toEqual(record);

      // The background work hands it back, and does not lease it again at once.
      await shop.payments.reconcile();
      expect(await shop.store.leaseDue({ account: 'default', leaseMs: 1, limit: 10 })).toEqual([]);
      const { dueAt, ...rest } = await find(conversationId);
      expect(rest).toEqual({ ...record, dueAt: undefined });
      expect(dueAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
      expect(dueAt?.getTime()).toBeLessThan(Date.now() + 90_000);

      // It keeps its reference locked, and nothing is sent for it.
      const other = shop.payments.doPayment(sale('10.00', { reference: record.reference ?? '' }));
      await expect(other).rejects.toMatchObject({ key: 'reference', payment: { state: record.state } });
      const { ledger } = shop.simulator;
      expect((['Auth3d', 'CheckPayment'] as const).map((asked) => ledger.calls(asked, conversationId))).toEqual([0, 0]);
      expect(ledger.chargedTimes(conversationId)).toBe(0);
    },
  );
});
