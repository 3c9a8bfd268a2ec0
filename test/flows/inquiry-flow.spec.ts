import { Logger } from '@nestjs/common';
import { type PaymentService, standardDialect } from 'nestjs-card-payment';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';
import { LOST, NOT_FOUND, NOT_PAID, NOT_SENT, PAID, reply, UNDECIDED } from './fake-gateway.js';
import { sale, TestShop } from './test-shop.js';

const MINUTE_MS = 60_000;

describe('asking the gateway about a payment', () => {
  let shop: TestShop;
  let payments: PaymentService;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    ({ payments } = await shop.start());
  });

  async function unknown(): Promise<string> {
    shop.gateway.willAnswer('DoPayment', LOST);
    return (await payments.doPayment(sale())).conversationId;
  }

  it.each([
    ['paid', PAID, { state: 'succeeded', reason: null }],
    ['declined', NOT_PAID, { state: 'failed', reason: 'declined' }],
    ['paid with less', reply({ responseCode: 'B0000', paymentInfo: { amount: '0.01' } }), { state: 'review' }],
  ])('settles an unknown one that was %s, once and for all', async (_what, answer, outcome) => {
    const conversationId = await unknown();
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
    ['answers with a code that says nothing', UNDECIDED],
    ['does not know it', NOT_FOUND],
  ])('leaves an unknown one unknown when the gateway %s, and is asked again', async (_what, answer) => {
    const conversationId = await unknown();
    shop.gateway.willAnswer('CheckPayment', answer);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    expect((await shop.store.find('default', conversationId))?.dueAt).toBeInstanceOf(Date);
    expect((await payments.inquire(conversationId)).state).toBe('succeeded');
  });

  it('takes it as not paid only when the gateway does not know it ten minutes later, either', async () => {
    const conversationId = await unknown();
    const asked: string[] = [];
    for (const wait of [0, 5 * MINUTE_MS, 5 * MINUTE_MS - 1, 1]) {
      await shop.clock.advance(wait);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      asked.push((await payments.inquire(conversationId)).state);
    }
    expect(asked).toEqual(['unknown', 'unknown', 'unknown', 'failed']);
    expect(await payments.find(conversationId)).toMatchObject({ reason: 'not_found', settled: true });
  });

  it('counts the ten minutes between two such answers by the store, whatever the clock of this host is set to', async () => {
    const conversationId = await unknown();
    const truth = shop.clock.now();
    shop.store.now = () => Promise.resolve(truth);
    shop.gateway.willAnswer('CheckPayment', NOT_FOUND, NOT_FOUND, NOT_FOUND);
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    shop.clock.set(new Date(truth.getTime() + 60 * MINUTE_MS));
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    shop.store.now = () => Promise.reject(new Error('down'));
    shop.clock.set(new Date(truth.getTime() + 120 * MINUTE_MS));
    expect((await payments.inquire(conversationId)).state).toBe('unknown');
    // What does not hang on the time counts.
    expect((await payments.inquire(conversationId)).state).toBe('succeeded');
  });

  it('dates an answer by when it came, not by when the store takes it', async () => {
    const conversationId = await unknown();
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

  it.each(['failed', 'expired'] as const)('finds that money of a payment that is %s moved after all', async (state) => {
    const { conversationId } = aPaymentRecord({ state });
    await shop.store.insert(aPaymentRecord({ state }));
    const payment = await payments.inquire(conversationId);
    expect(payment).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    expect(await payments.find(conversationId)).toEqual(payment);
  });

  it('leaves a failed one alone where no money moved', async () => {
    await shop.store.insert(aPaymentRecord({ state: 'failed' }));
    for (const answer of [NOT_PAID, NOT_FOUND, UNDECIDED, LOST]) {
      shop.gateway.willAnswer('CheckPayment', answer);
      expect(await payments.inquire(aPaymentRecord({ state: 'failed' }).conversationId)).toMatchObject({
        state: 'failed',
        version: 3,
      });
    }
  });

  it('does not ask about one that has succeeded', async () => {
    const payment = await payments.doPayment(sale());
    expect(await payments.inquire(payment.conversationId)).toEqual(payment);
    expect(shop.gateway.sent('CheckPayment')).toEqual([]);
  });

  it.each(['initiating', 'awaiting'] as const)('refuses one that is %s: no money can have moved', async (state) => {
    await shop.store.insert(aPaymentRecord({ state }));
    await expect(payments.inquire(aPaymentRecord({ state }).conversationId)).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      message: `A 3d payment that is ${state} cannot be inquired: no money can have moved.`,
    });
    expect(shop.gateway.requests).toEqual([]);
  });

  it('refuses one that nobody knows, and a gateway that cannot be asked', async () => {
    await expect(payments.inquire('NOBODY')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
    const mute = await shop.start({ dialect: standardDialect({ signer: () => 's' }) });
    const conversationId = await unknown();
    await expect(mute.payments.inquire(conversationId)).rejects.toMatchObject({
      code: 'PAYMENT_UNSUPPORTED',
      message: 'The dialect "standard" has no CheckPayment.',
    });
    expect(shop.gateway.sent('CheckPayment')).toEqual([]);
  });
});
