import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { UNDECIDED } from '../operations/fake-gateway.js';
import { logLines } from '../operations/log-lines.js';
import { sale, TestShop } from '../operations/test-shop.js';

const ID = 'ABC00000000000000001';
const CALLBACK = { conversationId: ID, fields: { Code: 'B0000', conversationId: ID } };
const ORDER = { conversationId: ID, reference: 'order', idempotencyKey: 'key' };
const ENOUGH_MS = 10_000;
const UNCONFIRMED = { code: 'PAYMENT_STORE' };

/** What became of a write that was not confirmed. */
const LOSSES = ['was applied', 'was not applied', 'is applied later'] as const;
type Loss = (typeof LOSSES)[number];

describe('the fence of an unconfirmed write', () => {
  logLines();
  let shop: TestShop;
  let flows: AssembledFlows;
  let applyLate: () => Promise<unknown>;

  beforeEach(async () => {
    shop = new TestShop();
    flows = await shop.start();
    applyLate = () => Promise.resolve();
    // An endless loop would hang the test, so it ends as a failure of the store.
    const find = shop.store.find.bind(shop.store);
    let finds = 0;
    shop.store.find = (...given) =>
      (finds += 1) > 10_000 ? Promise.reject(new Error('endless loop')) : find(...given);
  });

  /** Makes the store fail to confirm its next opening or claim. */
  function lose(kind: 'insert' | 'replace', loss: Loss): void {
    const { store } = shop;
    const write = store[kind].bind(store) as (...given: unknown[]) => Promise<unknown>;
    const lost = async (...given: unknown[]): Promise<unknown> => {
      if (kind === 'replace' && (given[0] as PaymentRecord).state !== 'authorizing') return write(...given);
      store[kind] = write as never;
      if (loss === 'was applied') await write(...given);
      if (loss === 'is applied later') applyLate = () => write(...given);
      throw new Error('connection lost');
    };
    store[kind] = lost as never;
  }

  const find = async () => (await flows.payments.find(ID))!;

  async function loseClaim(loss: Loss): Promise<void> {
    await flows.payments.init3d(sale({ conversationId: ID, reference: 'order' }));
    lose('replace', loss);
    await expect(flows.payments.auth3d(CALLBACK)).rejects.toMatchObject(UNCONFIRMED);
  }

  it.each(LOSSES.flatMap((loss) => (['doPayment', 'init3d'] as const).map((operation) => [loss, operation] as const)))(
    'of an opening that %s releases the order, and %s sends nothing',
    async (loss, operation) => {
      lose('insert', loss);
      await expect(flows.payments[operation](sale(ORDER))).rejects.toMatchObject(UNCONFIRMED);
      await shop.clock.advance(ENOUGH_MS);
      await applyLate();
      await shop.clock.advance(ENOUGH_MS);
      expect(await find()).toMatchObject({ state: 'failed', reason: 'not_sent' });
      expect(shop.gateway.requests).toEqual([]);
      expect(await flows.payments.doPayment(sale({ ...ORDER, conversationId: undefined }))).toMatchObject({
        state: 'succeeded',
      });
      expect(flows.owed.count).toBe(0);
    },
  );

  it('of an opening does not affect another attempt with the same conversationId', async () => {
    lose('insert', 'was not applied');
    await expect(flows.payments.doPayment(sale(ORDER))).rejects.toMatchObject(UNCONFIRMED);
    expect(await flows.payments.doPayment(sale(ORDER))).toMatchObject({ state: 'succeeded' });
    await shop.clock.advance(ENOUGH_MS);
    expect(await find()).toMatchObject({ state: 'succeeded' });
    expect(flows.owed.count).toBe(0);
  });

  it('of an opening is written as soon as the store works again, without background work', async () => {
    const insert = shop.store.insert.bind(shop.store);
    shop.store.insert = () => Promise.reject(new Error('down'));
    await expect(flows.payments.doPayment(sale(ORDER))).rejects.toMatchObject(UNCONFIRMED);
    await shop.clock.advance(3_600_000);
    expect(flows.owed.count).toBe(1);
    shop.store.insert = insert;
    await shop.clock.advance(ENOUGH_MS);
    expect(flows.owed.count).toBe(0);
    expect(await find()).toMatchObject({ state: 'failed', reason: 'not_sent' });
  });

  describe.each(LOSSES)('of a claim that %s', (loss) => {
    beforeEach(() => loseClaim(loss));

    it('keeps Auth3d from being sent, and lets a reload by the buyer complete the payment once', async () => {
      await shop.clock.advance(ENOUGH_MS);
      await applyLate();
      const { state, expiresAt, dueAt } = (await shop.store.find('default', ID))!;
      expect([state, dueAt]).toEqual(['awaiting', expiresAt]);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(0);
      expect(await flows.payments.auth3d(CALLBACK)).toMatchObject({ state: 'succeeded' });
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('lets another payment of the order succeed', async () => {
      await shop.clock.advance(ENOUGH_MS);
      expect(await flows.payments.doPayment(sale({ reference: 'order' }))).toMatchObject({ state: 'succeeded' });
      await applyLate();
      expect(await flows.payments.auth3d(CALLBACK)).toMatchObject({ state: 'failed', reason: 'reference_taken' });
      expect(shop.gateway.sent('Auth3d')).toHaveLength(0);
    });
  });

  it('of a claim does not affect the claim of another instance', async () => {
    const other = await shop.start();
    await loseClaim('was not applied');
    const held = shop.gateway.hold('Auth3d');
    const completing = other.payments.auth3d(CALLBACK);
    await shop.clock.advance(ENOUGH_MS);
    expect(await find()).toMatchObject({ state: 'authorizing' });
    held.answer(shop.gateway.approval({ operation: 'Auth3d', conversationId: ID }));
    expect(await completing).toMatchObject({ state: 'succeeded' });
    expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    expect(flows.owed.count).toBe(0);
  });

  it('of a claim that has expired meanwhile ends the payment as not sent', async () => {
    const other = await shop.start();
    await loseClaim('was applied');
    // This process cannot reach the store, but the others can.
    flows.owed.writeAll = () => Promise.resolve(0);
    await shop.clock.advance(600_000);
    shop.gateway.willAnswer('CheckPayment', UNDECIDED);
    await other.payments.reconcile();
    expect(await find()).toMatchObject({ state: 'unknown', reason: 'interrupted' });
    Reflect.deleteProperty(flows.owed, 'writeAll');
    await shop.clock.advance(ENOUGH_MS);
    expect(await find()).toMatchObject({ state: 'failed', reason: 'not_sent' });
    expect(await flows.payments.doPayment(sale({ reference: 'order' }))).toMatchObject({ state: 'succeeded' });
  });
});
