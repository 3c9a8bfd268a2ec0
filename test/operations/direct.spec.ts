import { Logger } from '@nestjs/common';
import type { DoPaymentDto, PaymentService } from 'nestjs-card-payment';
import { DECLINED, INDETERMINATE, LOST } from './fake-gateway.js';
import { sale, TestShop } from './test-shop.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const MINUTE_MS = 60_000;
const UNSENT = { code: 'PAYMENT_NOT_SENT', payment: { state: 'failed', reason: 'not_sent' } };

describe('DirectPayments', () => {
  let shop: TestShop;
  let payments: PaymentService;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    ({ payments } = await shop.start());
  });
  afterEach(() => shop.gateway.close());

  /** Calls `look` while the request is at the gateway, which then approves. */
  function duringRequest(look: (conversationId: string) => Promise<void>): void {
    shop.gateway.willAnswer('DoPayment', async ({ conversationId }) => {
      await look(conversationId);
      return { sent: true, reply: { status: 200, text: JSON.stringify({ code: 'B0000', conversationId }) } };
    });
  }

  it('stores the payment as charging, with its claim, before it sends the request', async () => {
    let seen;
    duringRequest(async (id) => void (seen = await shop.store.find('default', id)));
    const input = sale();
    const payment = await payments.doPayment(input);
    expect(seen).toMatchObject({ state: 'charging', referenceLock: input.reference, dueAt: expect.any(Date) });
    expect(payment).toMatchObject({ state: 'succeeded', stored: true, code: 'B0000', amount: '149.90', version: 2 });
    expect(await payments.find(payment.conversationId)).toEqual(payment);
    expect(shop.gateway.requests).toHaveLength(1);
  });

  it.each([
    ['a decline', DECLINED, { state: 'failed', reason: 'declined', code: 'B0051', settled: true }],
    ['a lost answer', LOST, { state: 'unknown', reason: 'no_answer', settled: false }],
    ['an indeterminate code', INDETERMINATE, { state: 'unknown', reason: 'indeterminate_code' }],
  ])('returns and stores the outcome of %s, and never sends the payment again', async (_what, answer, outcome) => {
    shop.gateway.willAnswer('DoPayment', answer);
    const input = sale({ idempotencyKey: 'basket-1' });
    const payment = await payments.doPayment(input);
    expect(payment).toMatchObject(outcome);
    expect(await payments.doPayment(input)).toEqual(payment);
    expect(await payments.find(payment.conversationId)).toEqual(payment);
    expect(shop.gateway.sent('DoPayment')).toHaveLength(1);
  });

  it('schedules an inquiry about an unknown payment within a minute', async () => {
    shop.gateway.willAnswer('DoPayment', LOST);
    const { conversationId } = await payments.doPayment(sale());
    const { dueAt } = (await shop.store.find('default', conversationId))!;
    const delayMs = dueAt!.getTime() - shop.clock.now().getTime();
    expect(delayMs).toBeGreaterThan(0);
    expect(delayMs).toBeLessThan(MINUTE_MS);
  });

  describe('a repeated call', () => {
    const input = sale({ idempotencyKey: 'basket-1' });
    it.each<[string, Partial<DoPaymentDto>]>([
      ['amount', { transactionDetails: { amount: '149.91', currencyCode: 949 } }],
      ['currency', { transactionDetails: { amount: '149.90', currencyCode: 978 } }],
      ['instalment count', { transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: 2 } }],
      ['reference', { reference: 'another-order' }],
    ])('with a different %s is refused, and nothing is sent', async (_what, change) => {
      const payment = await payments.doPayment(input);
      const duplicate = {
        code: 'PAYMENT_DUPLICATE',
        message: expect.stringContaining('idempotencyKey') as string,
        payment,
      };
      await expect(payments.doPayment({ ...input, ...change })).rejects.toMatchObject(duplicate);
      await expect(payments.init3d(input)).rejects.toMatchObject({ code: 'PAYMENT_DUPLICATE' });
      expect(shop.gateway.requests).toHaveLength(1);
    });

    it('with the conversationId of one payment and the idempotencyKey of another is refused', async () => {
      const order = { reference: 'order', allowRepeat: true };
      const [first, second] = ['ABC00000000000000001', 'ABC00000000000000002'];
      await payments.doPayment(sale({ ...order, conversationId: first, idempotencyKey: 'key-1' }));
      await payments.doPayment(sale({ ...order, conversationId: second, idempotencyKey: 'key-2' }));
      const mixed = sale({ ...order, conversationId: first, idempotencyKey: 'key-2' });
      await expect(payments.doPayment(mixed)).rejects.toMatchObject({ code: 'PAYMENT_DUPLICATE' });
      expect(shop.gateway.sent('DoPayment')).toHaveLength(2);
    });
  });

  describe('a second payment of an order', () => {
    it.each([
      ['succeeded', 'the first has succeeded', undefined],
      ['unknown', 'the first is unknown', LOST],
    ])('is refused when %s: nothing is recorded, sent or announced', async (state, _what, answer) => {
      if (answer) shop.gateway.willAnswer('DoPayment', answer);
      const order = sale();
      const first = await payments.doPayment(order);
      const again = { ...order, conversationId: 'AGAIN', idempotencyKey: 'basket-2' };
      await expect(payments.doPayment(again)).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        key: 'reference',
        payment: first,
        message: `This reference is already taken by a payment that is ${state}; nothing was sent.`,
      });
      expect(await payments.findByReference(order.reference!)).toEqual([first]);
      expect(await shop.store.findByIdempotencyKey('default', 'payment', 'basket-2')).toBeNull();
      expect(shop.gateway.sent('DoPayment')).toHaveLength(1);
      await payments.reconcile();
      expect(shop.journal).toEqual([`${first.conversationId}:2 ${state}`]);
    });
  });

  describe('when the store changes or fails meanwhile', () => {
    it('opens the payment if the one that held its key is gone', async () => {
      refuseInserts(1);
      expect((await payments.doPayment(sale({ idempotencyKey: 'key' }))).state).toBe('succeeded');
      expect(shop.gateway.sent('DoPayment')).toHaveLength(1);
    });

    it.each<[string, fail: () => void, message: unknown]>([
      [
        'no payment holds the key and the store still refuses',
        () => refuseInserts(Infinity),
        expect.stringContaining('while opening the payment'),
      ],
      ['the store fails first, of which nothing is shown', () => failInserts(), expect.not.stringContaining('secret')],
    ])('sends nothing if %s', async (_why, fail, message) => {
      fail();
      await expect(payments.doPayment(sale())).rejects.toMatchObject({ code: 'PAYMENT_STORE', message });
      expect(shop.gateway.requests).toEqual([]);
    });

    it.each<[string, spareMs: number, outcome: object]>([
      ['sends nothing if its answer could come after the claim has expired', -1, UNSENT],
      ['sends the payment if its answer can still just come within the claim', 0, { state: 'succeeded' }],
    ])('%s, since the store took so long', async (_what, spareMs, outcome) => {
      const { store, clock, gateway } = shop;
      const insert = store.insert.bind(store);
      store.insert = async (...given) => {
        const taken = await insert(...given);
        const claim = given[0].dueAt!.getTime() - clock.now().getTime();
        await clock.advance(claim - MINUTE_MS - spareMs);
        return taken;
      };
      expect(await payments.doPayment(sale()).catch((error: unknown) => error)).toMatchObject(outcome);
      expect(gateway.requests).toHaveLength(spareMs < 0 ? 0 : 1);
    });

    function failInserts(): void {
      shop.store.insert = () => Promise.reject(new Error('password=secret'));
    }

    /** The store reports the key as taken, although no payment has it. */
    function refuseInserts(times: number): void {
      const store: PaymentStore = shop.store;
      const insert = store.insert.bind(store);
      let left = times;
      store.insert = (...given) => {
        left -= 1;
        return left >= 0 ? Promise.resolve('idempotencyKey') : insert(...given);
      };
    }
  });
});
