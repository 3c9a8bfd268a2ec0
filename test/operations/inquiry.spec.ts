import type { PaymentService } from 'nestjs-card-payment';
import { LOST, NOT_FOUND, NOT_PAID, NOT_SENT, paid, PAID, UNDECIDED } from './fake-gateway.js';
import { logLines } from './log-lines.js';
import { sale, TestShop } from './test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const MINUTE_MS = 60_000;
const ASK_AGAIN_MS = 2_000;

describe('Inquiries', () => {
  const log = logLines();
  let shop: TestShop;
  let payments: PaymentService;

  beforeEach(async () => {
    shop = new TestShop();
    ({ payments } = await shop.start());
  });

  async function unknownPayment(): Promise<string> {
    shop.gateway.willAnswer('DoPayment', LOST);
    return (await payments.doPayment(sale())).conversationId;
  }

  it.each([
    ['paid', PAID, { state: 'succeeded', reason: null }],
    ['declined', NOT_PAID, { state: 'failed', reason: 'declined' }],
    ['paid with a lower amount', paid({ paymentInfo: { amount: '0.01' } }), { state: 'review' }],
  ])('settles an unknown payment that was %s, with one event', async (_what, answer, outcome) => {
    const conversationId = await unknownPayment();
    shop.gateway.willAnswer('CheckPayment', answer);
    const payment = await payments.inquire(conversationId);
    expect(payment).toMatchObject(outcome);
    expect(await payments.find(conversationId)).toEqual(payment);
    await payments.reconcile();
    expect(shop.journal).toEqual([`${conversationId}:2 unknown`, `${conversationId}:3 ${payment.state}`]);
  });

  it.each([
    ['gives no answer', LOST],
    ['cannot be reached', NOT_SENT],
    ['answers with an indeterminate code', UNDECIDED],
    ['does not know the payment', NOT_FOUND],
  ])('leaves a payment unknown and due for another inquiry when the gateway %s', async (_what, answer) => {
    const conversationId = await unknownPayment();
    shop.gateway.willAnswer('CheckPayment', answer);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    expect((await shop.store.find('default', conversationId))?.dueAt).toBeInstanceOf(Date);
    await shop.clock.advance(ASK_AGAIN_MS);
    expect((await payments.inquire(conversationId)).state).toBe('succeeded');
  });

  it('measures those ten minutes by the clock of the store, whatever the clock of this host says', async () => {
    const conversationId = await unknownPayment();
    const storeTime = shop.clock.now();
    shop.store.now = () => Promise.resolve(storeTime);
    shop.gateway.willAnswer('CheckPayment', NOT_FOUND, NOT_FOUND, NOT_FOUND);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    shop.clock.set(new Date(storeTime.getTime() + 60 * MINUTE_MS));
    await shop.clock.advance(ASK_AGAIN_MS);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    shop.store.now = () => Promise.reject(new Error('down'));
    shop.clock.set(new Date(storeTime.getTime() + 120 * MINUTE_MS));
    await shop.clock.advance(ASK_AGAIN_MS);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    // An answer that does not depend on the time is used, although the store does not tell the time.
    await shop.clock.advance(ASK_AGAIN_MS);
    expect((await payments.inquire(conversationId)).state).toBe('succeeded');
  });

  it.each([
    ['pending', -MINUTE_MS, null],
    ['pending', 23 * 60 * MINUTE_MS, null],
    ['pending', 25 * 60 * MINUTE_MS, 'unknown'],
    ['unknown', 48 * 60 * MINUTE_MS, null],
    ['expired', 48 * 60 * MINUTE_MS, null],
  ] as const)('silence about a page that is %s, %i ms after its end: %s', async (state, ms, becomes) => {
    const now = shop.clock.now().getTime();
    const record = aPaymentRecord({
      ...{ state, kind: 'hosted', tokenHash: null, dueAt: new Date(now), finalizedAt: null },
      expiresAt: new Date(now - ms),
    });
    await shop.store.insert(record);
    shop.gateway.willAnswer('CheckPayment', LOST);
    const isChanged = becomes === null ? 0 : 1;
    expect(await payments.reconcile()).toMatchObject({ inquired: isChanged, settled: isChanged });
    const stored = (await shop.store.find('default', record.conversationId))!;
    expect([stored.state, stored.version - record.version]).toEqual([becomes ?? state, isChanged]);
    expect(stored.dueAt?.getTime()).toBeGreaterThan(now);
  });

  it('dates an answer when it was received, not when it is stored', async () => {
    const conversationId = await unknownPayment();
    shop.gateway.willAnswer('CheckPayment', NOT_FOUND, NOT_FOUND);
    await payments.inquire(conversationId);
    await shop.clock.advance(9 * MINUTE_MS);
    const replace = shop.store.replace.bind(shop.store);
    shop.store.replace = () => Promise.reject(new Error('down'));
    expect(await payments.inquire(conversationId)).toMatchObject({ state: 'unknown', stored: false });
    await shop.clock.advance(2 * MINUTE_MS);
    shop.store.replace = replace;
    await shop.clock.advance(10_000);
    expect(await shop.store.find('default', conversationId)).toMatchObject({ state: 'unknown', inquiries: 2 });
  });

  it('asks the gateway at most every two seconds; until then it returns what is stored', async () => {
    const conversationId = await unknownPayment();
    shop.gateway.willAnswer('CheckPayment', UNDECIDED, UNDECIDED);
    const another = await unknownPayment();
    for (const id of [conversationId, conversationId, another]) await payments.inquire(id);
    await shop.clock.advance(ASK_AGAIN_MS - 1);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    expect(shop.gateway.sent('CheckPayment')).toHaveLength(2);
    await shop.clock.advance(1);
    expect((await payments.inquire(conversationId)).state).toBe('succeeded');
  });

  it('logs an answer that contradicts a payment that counts as paid, which stays as it is', async () => {
    const conversationId = await unknownPayment();
    const held = shop.gateway.hold('CheckPayment');
    const asked = payments.inquire(conversationId);
    await held.begun;
    await payments.resolve(conversationId, 'succeeded', 'seen at the bank');
    log.length = 0;
    held.answer(NOT_PAID);
    expect(await asked).toMatchObject({ state: 'succeeded', reason: 'operator' });
    expect(log).toEqual([expect.stringMatching(/^error Payment .*contradicts this \(failed, declined, B0051\)/)]);
  });

  it.each(['initiating', 'awaiting'] as const)(
    'refuses a payment that is %s, since no money can have moved',
    async (state) => {
      await shop.store.insert(aPaymentRecord({ state }));
      await expect(payments.inquire(aPaymentRecord({ state }).conversationId)).rejects.toMatchObject({
        code: 'PAYMENT_STATE',
        message: `A 3d payment that is ${state} cannot be inquired: no money can have moved.`,
      });
      expect(shop.gateway.requests).toEqual([]);
    },
  );
});
