import { fenceClaim, fenceOpening } from '../../lib/settlement/writer.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { type AssembledFlows } from '../operations/assembled-flows.js';
import { UNDECIDED } from '../operations/fake-gateway.js';
import { logLines } from '../operations/log-lines.js';
import { sale, TestShop } from '../operations/test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const ID = 'ABC00000000000000001';
const CALLBACK = { conversationId: ID, fields: { Code: 'B0000', conversationId: ID } };
const ENOUGH_MS = 10_000;

type Write = 'insert' | 'replace';

/** What became of a write that was not confirmed. */
type Loss = 'the write was applied' | 'the write was not applied' | 'the write is applied later';

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

  it('of a claim leaves a changed payment alone, since it would break the claim of another instance', () => {
    const before = aPaymentRecord({ state: 'awaiting', version: 2 });
    const fence = fenceClaim(before, 'ours');
    expect(fence(before, shop.clock.now())).toMatchObject({ state: 'awaiting', version: 3 });
    expect(fence({ ...before, version: 3 }, shop.clock.now())).toBeNull();
  });

  /** Makes the store fail to confirm its next write of this kind. */
  function lose(kind: Write, loss: Loss, applies: (record: PaymentRecord) => boolean = () => true): void {
    const { store } = shop;
    const write = store[kind].bind(store) as (...given: unknown[]) => Promise<unknown>;
    const lost = async (...given: unknown[]): Promise<unknown> => {
      if (!applies(given[0] as PaymentRecord)) return write(...given);
      store[kind] = write as never;
      if (loss === 'the write was applied') await write(...given);
      if (loss === 'the write is applied later') applyLate = () => write(...given);
      throw new Error('connection lost');
    };
    store[kind] = lost as never;
  }

  async function find(conversationId = ID) {
    return (await flows.payments.find(conversationId))!;
  }

  describe.each<Loss>(['the write was applied', 'the write was not applied', 'the write is applied later'])(
    'of an opening, if %s,',
    (loss) => {
      it.each(['doPayment', 'init3d'] as const)('releases the order, and %s sends nothing', async (operation) => {
        const order = { reference: 'order', idempotencyKey: 'key' };
        lose('insert', loss);
        await expect(flows.payments[operation](sale({ conversationId: ID, ...order }))).rejects.toMatchObject({
          code: 'PAYMENT_STORE',
        });
        await shop.clock.advance(ENOUGH_MS);
        await applyLate();
        await shop.clock.advance(ENOUGH_MS);
        expect(await find()).toMatchObject({ state: 'failed', reason: 'not_sent' });
        expect(shop.gateway.sent('DoPayment').length + shop.gateway.sent('Init3d').length).toBe(0);
        expect(await flows.payments.doPayment(sale(order))).toMatchObject({ state: 'succeeded' });
        expect(flows.owed.count).toBe(0);
      });
    },
  );

  it('of an opening does not affect another attempt with the same conversationId', async () => {
    lose('insert', 'the write was not applied');
    const same = { conversationId: ID, reference: 'order' };
    await expect(flows.payments.doPayment(sale(same))).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
    expect(await flows.payments.doPayment(sale(same))).toMatchObject({ state: 'succeeded' });
    await shop.clock.advance(ENOUGH_MS);
    expect(await find()).toMatchObject({ state: 'succeeded' });
    expect(flows.owed.count).toBe(0);
  });

  it('of an opening is written as soon as the store works again, without background work', async () => {
    const insert = shop.store.insert.bind(shop.store);
    const findInStore = shop.store.find.bind(shop.store);
    shop.store.insert = () => Promise.reject(new Error('down'));
    // The look-up before the opening still works.
    shop.store.find = (account, id) =>
      account === 'default' ? Promise.reject(new Error('down')) : findInStore(account, id);
    await expect(flows.payments.doPayment(sale({ conversationId: ID }))).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
    });
    await shop.clock.advance(3_600_000);
    expect(flows.owed.count).toBe(1);
    [shop.store.insert, shop.store.find] = [insert, findInStore];
    await shop.clock.advance(ENOUGH_MS);
    expect(flows.owed.count).toBe(0);
    expect(await find()).toMatchObject({ state: 'failed', reason: 'not_sent' });
  });

  describe.each<Loss>(['the write was applied', 'the write was not applied', 'the write is applied later'])(
    'of a claim, if %s,',
    (loss) => {
      beforeEach(async () => {
        await flows.payments.init3d(sale({ conversationId: ID, reference: 'order' }));
        lose('replace', loss, ({ state }) => state === 'authorizing');
        await expect(flows.payments.auth3d(CALLBACK)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
      });

      it('keeps Auth3d from being sent, and lets a reload by the buyer complete the payment once', async () => {
        await shop.clock.advance(ENOUGH_MS);
        await applyLate();
        expect(await find()).toMatchObject({ state: 'awaiting' });
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
    },
  );

  it('of a claim does not affect the claim of another instance', async () => {
    const other = await shop.start();
    await flows.payments.init3d(sale({ conversationId: ID }));
    lose('replace', 'the write was not applied', ({ state }) => state === 'authorizing');
    await expect(flows.payments.auth3d(CALLBACK)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
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
    await flows.payments.init3d(sale({ conversationId: ID, reference: 'order' }));
    lose('replace', 'the write was applied', ({ state }) => state === 'authorizing');
    await expect(flows.payments.auth3d(CALLBACK)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
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

test('the fence of an opening does not change the payment of another attempt', () => {
  const opening = aPaymentRecord({ state: 'charging', attemptId: 'ours' });
  const now = opening.createdAt;
  expect(fenceOpening(opening)({ ...opening, attemptId: 'theirs' }, now)).toBeNull();
  expect(fenceOpening(opening)(opening, now)).toMatchObject({ state: 'failed', reason: 'not_sent' });
});

test('the fence of a claim leaves the payment awaiting its buyer until its session ends', () => {
  const expiresAt = new Date('2026-03-01T10:00:00Z');
  const awaiting = aPaymentRecord({ state: 'awaiting', expiresAt, dueAt: new Date('2026-03-01T09:10:00Z') });
  expect(fenceClaim(awaiting, 'ours')(awaiting, awaiting.createdAt)).toMatchObject({
    state: 'awaiting',
    version: awaiting.version + 1,
    dueAt: expiresAt,
  });
});
