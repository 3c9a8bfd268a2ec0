import { jest } from '@jest/globals';
import { newConversationId, type PaymentService } from 'nestjs-card-payment';
import type { AssembledFlows } from './assembled-flows.js';
import { DECLINED } from './fake-gateway.js';
import { logLines } from './log-lines.js';
import { sale, TestShop } from './test-shop.js';

const HOUR_MS = 3_600_000;
const OPTIONS = { retentionMs: HOUR_MS, idempotencyTtlMs: 10 * HOUR_MS };
const ID = 'ORDER-17';

describe('a conversationId that the host chooses', () => {
  logLines();
  let shop: TestShop;
  let flows: AssembledFlows;
  let payments: PaymentService;

  beforeEach(async () => {
    shop = new TestShop();
    flows = await shop.start(OPTIONS);
    ({ payments } = flows);
  });
  afterEach(() => shop.gateway.close());

  /** Lets time pass, then delivers events and deletes old payments. */
  async function reconcileAfter(ms: number): Promise<void> {
    await shop.clock.advance(ms);
    await payments.reconcile();
  }

  async function addPurgedPayment(more: Parameters<typeof sale>[0] = {}): Promise<void> {
    shop.gateway.willAnswer('DoPayment', DECLINED);
    await payments.doPayment(sale({ conversationId: ID, ...more }));
    await reconcileAfter(0);
    await reconcileAfter(2 * HOUR_MS);
    expect(await payments.find(ID)).toBeNull();
  }

  const sent = () => shop.gateway.requests.length;
  const duplicate = {
    code: 'PAYMENT_DUPLICATE',
    payment: null,
    message: expect.stringContaining('conversationId') as string,
  };

  it.each(['doPayment', 'init3d'] as const)(
    'stays taken when its payment is deleted: %s sends nothing',
    async (operation) => {
      await addPurgedPayment({ reference: 'order' });
      const before = sent();
      await expect(payments[operation](sale({ conversationId: ID, reference: 'order' }))).rejects.toMatchObject(
        duplicate,
      );
      await expect(payments[operation](sale({ conversationId: ID }))).rejects.toMatchObject(duplicate);
      expect(sent()).toBe(before);
      expect(await payments.findByReference('order')).toEqual([]);
    },
  );

  it('is refused if it is taken, even with the idempotencyKey of another payment', async () => {
    await addPurgedPayment();
    const other = await payments.doPayment(sale({ reference: 'order', idempotencyKey: 'key' }));
    const before = sent();
    const both = sale({ reference: 'order', conversationId: ID, idempotencyKey: 'key' });
    await expect(payments.doPayment(both)).rejects.toMatchObject(duplicate);
    await expect(payments.init3d({ ...both, reference: 'order-2' })).rejects.toMatchObject(duplicate);
    expect(sent()).toBe(before);
    expect(other.state).toBe('succeeded');
  });

  it('may be used again after idempotencyTtlMs, and its events get new ids', async () => {
    await addPurgedPayment();
    await reconcileAfter(9 * HOUR_MS);
    await expect(payments.doPayment(sale({ conversationId: ID }))).rejects.toMatchObject(duplicate);
    await reconcileAfter(2 * HOUR_MS);
    shop.gateway.willAnswer('DoPayment', DECLINED);
    expect(await payments.doPayment(sale({ conversationId: ID }))).toMatchObject({ state: 'failed', version: 2 });
    await reconcileAfter(0);
    expect(shop.journal).toEqual([`${ID}:2 failed`, `${ID}:2 failed`]);
    expect(new Set(shop.eventIds).size).toBe(2);
    for (const eventId of shop.eventIds) expect(eventId).toMatch(/^ORDER-17:2-[0-9a-f]{12}$/);
  });

  it('stays taken after deletion, unlike a generated one, whose event ids are conversationId:version', async () => {
    const conversationId = newConversationId();
    jest.spyOn(flows.settings.dialect, 'newConversationId').mockReturnValue(conversationId);
    await payments.doPayment(sale());
    await reconcileAfter(0);
    expect(shop.eventIds).toEqual([`${conversationId}:2`]);
    await reconcileAfter(2 * HOUR_MS);
    expect(await payments.find(conversationId)).toBeNull();
    expect(await payments.doPayment(sale({ conversationId }))).toMatchObject({ conversationId, state: 'succeeded' });
  });

  it('ends the fence of an unconfirmed opening if a deleted payment already had it', async () => {
    await addPurgedPayment();
    const insert = shop.store.insert.bind(shop.store);
    shop.store.insert = () => {
      shop.store.insert = insert;
      return Promise.reject(new Error('connection lost'));
    };
    await expect(payments.doPayment(sale({ conversationId: ID }))).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
    expect(flows.owed.count).toBe(1);
    await shop.clock.advance(10_000);
    expect(flows.owed.count).toBe(0);
    expect(await payments.find(ID)).toBeNull();
  });
});
