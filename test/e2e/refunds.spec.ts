import { inspect } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  newConversationId,
  OnPayment,
  OnRefund,
  type Payment,
  type PaymentError,
  type PaymentEvent,
  PaymentRefundError,
  PaymentStateError,
  PaymentUnsupportedError,
  PaymentValidationError,
  type Refund,
  type RefundDto,
  RefundEvent,
  SystemClock,
} from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { type Engine, ENGINES_IN_TURN } from './engines.js';
import { ODD } from '../rigs/odd-answers.js';
import { until } from '../services/until.js';
import { type Merchant, sale, startMerchant } from './merchant.js';

/** What the shop has heard. */
@Injectable()
class Heard {
  readonly refunds: RefundEvent[] = [];
  readonly payments: PaymentEvent[] = [];

  @OnRefund(['succeeded', 'failed', 'unknown', 'review'])
  refunded(event: RefundEvent): void {
    this.refunds.push(event);
  }

  @OnPayment(['succeeded', 'failed', 'expired', 'unknown', 'review'])
  paid(event: PaymentEvent): void {
    this.payments.push(event);
  }
}

const NO_MONEY = { taken: '149.90', refunded: '0.00', open: '0.00', refundable: '149.90' };

describe.each(ENGINES_IN_TURN)('money back, on %s', (_name, open) => {
  let engine: Engine;
  let store: PaymentStore;
  let simulator: Simulator;
  let shop: Merchant;
  let heard: Heard;

  beforeAll(async () => {
    engine = await open();
    store = await engine.open(new SystemClock());
    simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    shop = await startMerchant('express', simulator, {
      options: { store, timeoutMs: 2_000 },
      metadata: { providers: [Heard] },
    });
    heard = shop.app.get(Heard);
  });
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
    await engine.stop();
  });
  afterEach(() => {
    expect(simulator.ledger.violations).toEqual([]);
  });

  async function paid(amount = '149.90'): Promise<Payment> {
    const payment = await shop.payments.doPayment(sale(amount));
    expect(payment.state).toBe('succeeded');
    return payment;
  }

  function refund({ conversationId }: Payment, more: Omit<RefundDto, 'conversationId'> = {}): Promise<Refund> {
    return shop.payments.refund({ conversationId, ...more });
  }

  async function refusal(attempt: Promise<unknown>): Promise<PaymentError> {
    return attempt.then(
      () => Promise.reject(new Error('it was not refused')),
      (error: PaymentError) => error,
    );
  }

  const totals = ({ conversationId }: Payment) => shop.payments.refundTotals(conversationId);
  const sent = () => simulator.ledger.calls('refund') + simulator.ledger.calls('void');

  it('gives back a part, then the rest, and no more', async () => {
    const payment = await paid();
    const part = await refund(payment, { amount: '49.90', note: 'one of two', by: 'ada' });
    expect(part).toMatchObject({
      conversationId: payment.conversationId,
      account: 'default',
      reference: payment.reference,
      kind: 'refund',
      state: 'succeeded',
      settled: true,
      stored: true,
      amount: '49.90',
      code: '00',
      note: 'one of two',
      by: 'ada',
    });
    expect(await totals(payment)).toEqual({ ...NO_MONEY, refunded: '49.90', refundable: '100.00' });
    const tooMuch = await refusal(refund(payment, { amount: 100.01 }));
    expect(tooMuch).toBeInstanceOf(PaymentRefundError);
    expect(tooMuch).toMatchObject({ reason: 'exceeds', refundable: '100.00', payment });
    expect(await refund(payment)).toMatchObject({ state: 'succeeded', amount: '100.00', note: null, by: null });
    expect(await refusal(refund(payment))).toMatchObject({ reason: 'exceeds', refundable: '0.00' });
    expect(await shop.payments.refunds(payment.conversationId)).toMatchObject([
      { amount: '49.90' },
      { amount: '100.00' },
    ]);
    expect(simulator.ledger.refundedAmount(payment.conversationId)).toBe('149.90');
    expect(await shop.payments.find(payment.conversationId)).toEqual(payment);
  });

  it('is told to the handlers of refunds alone, with the payment', async () => {
    const payment = await paid();
    const given = await refund(payment, { amount: '10.00' });
    await until(() => heard.refunds.some((event) => event.refund.refundId === given.refundId));
    const event = heard.refunds.find(({ refund: { refundId } }) => refundId === given.refundId)!;
    expect(event).toBeInstanceOf(RefundEvent);
    expect(event).toEqual({
      eventId: `${given.refundId}:${given.version}`,
      type: 'refund.succeeded',
      refund: given,
      payment,
      occurredAt: given.updatedAt,
    });
    expect(heard.payments.filter(({ payment: { conversationId } }) => conversationId === given.refundId)).toEqual([]);
  });

  it('calls off a whole payment, once, and nothing of it is left', async () => {
    const payment = await paid();
    const given = await shop.payments.void({ conversationId: payment.conversationId });
    expect(given).toMatchObject({ kind: 'void', state: 'succeeded', amount: '149.90' });
    expect(await totals(payment)).toEqual({ ...NO_MONEY, refunded: '149.90', refundable: '0.00' });
    const before = sent();
    expect(await refusal(refund(payment, { amount: '1' }))).toMatchObject({ reason: 'voided', refundable: '0.00' });
    expect(await refusal(shop.payments.void({ conversationId: payment.conversationId }))).toMatchObject({
      reason: 'voided',
    });
    expect(sent()).toBe(before);
  });

  it('does not call off a payment of which a part was given back', async () => {
    const payment = await paid();
    await refund(payment, { amount: '1.00' });
    expect(await refusal(shop.payments.void({ conversationId: payment.conversationId }))).toMatchObject({
      reason: 'refunded',
      refundable: '148.90',
    });
  });

  it.each(['refundId', 'idempotencyKey'] as const)(
    'gives back once for one %s, however often it is asked',
    async (key) => {
      const payment = await paid();
      const ask = { [key]: newConversationId(), amount: '20.00' };
      const clicks = await Promise.all(Array.from({ length: 5 }, () => refund(payment, { ...ask, note: 'a click' })));
      const again = await refund(payment, ask);
      expect(new Set([...clicks, again].map(({ refundId }) => refundId)).size).toBe(1);
      expect(again.state).toBe('succeeded');
      // The amount counts only where it is given.
      expect(await refund(payment, { [key]: ask[key] })).toEqual(again);
      expect(await refusal(refund(payment, { ...ask, amount: '20.01' }))).toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        refund: { refundId: again.refundId },
        payment: { conversationId: payment.conversationId },
      });
      const others = await paid();
      expect(await refusal(refund(others, ask))).toMatchObject({ code: 'PAYMENT_DUPLICATE', payment });
      expect(
        await refusal(shop.payments.void({ conversationId: payment.conversationId, [key]: ask[key] })),
      ).toMatchObject({
        code: 'PAYMENT_DUPLICATE',
      });
      expect(simulator.ledger.refundedAmount(payment.conversationId)).toBe('20.00');
    },
  );

  it("has no payment's id, nor a payment a refund's", async () => {
    const payment = await paid();
    expect(await refusal(refund(payment, { refundId: payment.conversationId }))).toMatchObject({
      code: 'PAYMENT_DUPLICATE',
      payment,
    });
    const { refundId } = await refund(payment, { refundId: newConversationId(), amount: '1' });
    for (const pay of [shop.payments.doPayment.bind(shop.payments), shop.payments.init3d.bind(shop.payments)]) {
      expect(await refusal(pay(sale('149.90', { conversationId: refundId })))).toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        refund: { refundId },
        payment,
      });
    }
  });

  it('counts as given while its outcome is not known, and an inquiry settles it by an approval', async () => {
    const payment = await paid('300.00');
    const given = await refund(payment, { amount: '100.84' });
    expect(given).toMatchObject({ state: 'unknown', reason: 'no_answer', settled: false });
    expect(await totals(payment)).toMatchObject({ open: '100.84', refunded: '0.00', refundable: '199.16' });
    expect(await refusal(refund(payment, { amount: '1' }))).toMatchObject({
      reason: 'in_progress',
      refundable: '199.16',
    });
    const known = await shop.payments.inquireRefund(given.refundId);
    expect(known).toMatchObject({ state: 'succeeded', settled: true });
    expect(await refund(payment, { amount: '199.16' })).toMatchObject({ state: 'succeeded' });
    expect(simulator.ledger.refundedAmount(payment.conversationId)).toBe('300.00');
  });

  it.each([
    ['no answer', '100.83', 'no_answer'],
    ['an indeterminate code', '100.81', 'indeterminate_code'],
    ['an unheard-of code', '100.85', 'unrecognised_code'],
  ])('stays unknown after %s, until an operator settles it', async (_what, amount, reason) => {
    const payment = await paid('300.00');
    const given = await refund(payment, { amount });
    expect(given).toMatchObject({ state: 'unknown', reason });
    expect(await shop.payments.inquireRefund(given.refundId)).toMatchObject({ state: 'unknown' });
    const resolved = await shop.payments.resolveRefund(given.refundId, 'failed', 'seen in the panel', { by: 'ada' });
    expect(resolved).toMatchObject({ state: 'failed', reason: 'operator', note: 'seen in the panel', by: 'ada' });
    expect(await refund(payment)).toMatchObject({ state: 'succeeded', amount: '300.00' });
    expect(await refusal(shop.payments.resolveRefund(given.refundId, 'succeeded', 'no'))).toBeInstanceOf(
      PaymentStateError,
    );
  });

  it('is in review when the answer names another refund or another amount', async () => {
    for (const [odd, reason] of [
      ['larger-amount', 'amount_mismatch'],
      ['wrong-conversation-id', 'conversation_mismatch'],
    ] as const) {
      const payment = await paid();
      simulator.fail({ operation: 'refund', ...ODD[odd] });
      expect(await refund(payment, { amount: '10.00' })).toMatchObject({ state: 'review', reason });
      expect(await refusal(refund(payment, { amount: '1' }))).toMatchObject({ reason: 'in_progress' });
    }
  });

  it('that the gateway declines gives back nothing, and another may follow', async () => {
    const payment = await paid();
    expect(await refund(payment, { amount: '10.80' })).toMatchObject({
      state: 'failed',
      reason: 'declined',
      code: 'B0005',
    });
    expect(await totals(payment)).toEqual(NO_MONEY);
    expect(await refund(payment, { amount: '10.88' })).toMatchObject({ state: 'succeeded', code: 'B0000' });
  });

  it('that was not sent is failed, and its key is free again', async () => {
    const payment = await paid();
    const lost = await startMerchant('express', simulator, {
      options: { store, baseUrl: 'http://127.0.0.1:1', formerBaseUrls: [simulator.url], background: false },
    });
    try {
      const ask = { conversationId: payment.conversationId, idempotencyKey: `k-${payment.conversationId}` };
      expect(await refusal(lost.payments.refund(ask))).toMatchObject({
        code: 'PAYMENT_NOT_SENT',
        payment,
        refund: { state: 'failed', reason: 'not_sent', settled: true, stored: true },
      });
      expect(await shop.payments.refund(ask)).toMatchObject({ state: 'succeeded', amount: '149.90' });
    } finally {
      await lost.app.close();
    }
  });

  it('at the gateway’s own panel is written down once, and sends nothing', async () => {
    const payment = await paid();
    const before = sent();
    const { conversationId } = payment;
    const ask = { conversationId, amount: '40.00', refundId: `P-${conversationId}`, note: 'at the panel' };
    const recorded = await shop.payments.recordRefund(ask);
    expect(recorded).toMatchObject({ kind: 'refund', state: 'succeeded', reason: 'recorded', amount: '40.00' });
    expect(await shop.payments.recordRefund(ask)).toEqual(recorded);
    expect(await refusal(shop.payments.recordRefund({ ...ask, refundId: 'more', amount: '109.91' }))).toMatchObject({
      reason: 'exceeds',
      refundable: '109.90',
    });
    expect(sent()).toBe(before);
    await until(() => heard.refunds.some(({ refund: { refundId } }) => refundId === recorded.refundId));
    expect(await totals(payment)).toMatchObject({ refunded: '40.00', refundable: '109.90' });
  });

  it('at most gives back what was taken, when forty ask at once', async () => {
    const payment = await paid('100.00');
    const asked = await Promise.allSettled(Array.from({ length: 40 }, () => refund(payment, { amount: '30.00' })));
    const given = asked.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(given.every(({ state }) => state === 'succeeded')).toBe(true);
    expect(given.length).toBeGreaterThanOrEqual(1);
    expect(given.length).toBeLessThanOrEqual(3);
    expect(Number(simulator.ledger.refundedAmount(payment.conversationId))).toBe(given.length * 30);
  });

  it('is possible of a payment in review whose money is proven, and of no other that has not succeeded', async () => {
    simulator.fail({ operation: 'DoPayment', ...ODD['declined-code'] });
    const declined = await shop.payments.doPayment(sale());
    const nothingTaken = await refusal(refund(declined));
    expect(nothingTaken).toBeInstanceOf(PaymentStateError);
    expect(await totals(declined)).toEqual({ taken: '0.00', refunded: '0.00', open: '0.00', refundable: '0.00' });
    const proven = await shop.payments.inquire(declined.conversationId);
    expect(proven).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    expect(await refund(proven)).toMatchObject({ state: 'succeeded', amount: '149.90' });
    expect(await shop.payments.find(proven.conversationId)).toMatchObject({ state: 'review' });
  });

  it.each(['succeeded', null] as const)(
    'never goes to another payment, whose ids an answer named (resolved: %s)',
    async (resolved) => {
      const other = await paid('500.00');
      simulator.fail({
        operation: 'DoPayment',
        kind: 'edit',
        edit: (fields) =>
          Object.assign(fields, {
            conversationId: other.conversationId,
            orderId: other.orderId,
            paymentId: other.paymentId,
          }),
      });
      const contested = await shop.payments.doPayment(sale('149.90'));
      expect(contested).toMatchObject({ state: 'review', reason: 'conversation_mismatch', paymentId: other.paymentId });
      if (resolved === null) {
        expect(await refusal(refund(contested))).toBeInstanceOf(PaymentStateError);
      } else {
        await shop.payments.resolve(contested.conversationId, resolved, 'seen in the panel');
        // CheckPayment names the payment's own ids.
        expect(await refund(contested)).toMatchObject({ state: 'succeeded', amount: '149.90' });
        expect(simulator.ledger.refundedAmount(contested.conversationId)).toBe('149.90');
      }
      expect(simulator.ledger.refundedAmount(other.conversationId)).toBe('0.00');
    },
  );

  it('keeps its payment from being resolved as failed', async () => {
    simulator.fail({ operation: 'DoPayment', ...ODD['declined-code'] });
    const { conversationId } = await shop.payments.doPayment(sale());
    const proven = await shop.payments.inquire(conversationId);
    await refund(proven, { amount: '1.00' });
    expect(await refusal(shop.payments.resolve(conversationId, 'failed', 'no'))).toBeInstanceOf(PaymentStateError);
    expect(await totals(proven)).toMatchObject({ taken: '149.90', refunded: '1.00' });
  });

  it.each<[string, Partial<RefundDto>, string]>([
    ['nothing', { amount: '0' }, 'amount'],
    ['a negative amount', { amount: '-1.00' }, 'amount'],
    ['a comma', { amount: '10,50' }, 'amount'],
    ['an exponent', { amount: '1e2' }, 'amount'],
    ['more decimals than the lira has', { amount: '10.505' }, 'amount'],
    ['what binary arithmetic makes', { amount: 0.1 + 0.2 }, 'amount'],
    ['an unknown field', { ammount: '10.00' } as Partial<RefundDto>, 'ammount'],
    ['a blank key', { idempotencyKey: ' ' }, 'idempotencyKey'],
    ['a number for a note', { note: 5 as unknown as string }, 'note'],
    ["the payment's card as the key", { idempotencyKey: '4508034508034509' }, 'idempotencyKey'],
    ["the payment's card as the refundId", { refundId: '4508 0345 0803 4509' }, 'refundId'],
  ])('is refused for %s, with nothing sent and nothing recorded', async (_what, more, path) => {
    const payment = await paid();
    const before = sent();
    const error = await refusal(refund(payment, more));
    expect(error).toBeInstanceOf(PaymentValidationError);
    expect((error as PaymentValidationError).issues.map((issue) => issue.path)).toEqual([path]);
    expect(inspect(error)).not.toContain('4508034508034509');
    expect(sent()).toBe(before);
    expect(await shop.payments.refunds(payment.conversationId)).toEqual([]);
  });

  it('keeps no card number of a note', async () => {
    const payment = await paid();
    const given = await refund(payment, { note: 'card 4508 0345 0803 4509, sorry', by: '4508034508034509' });
    expect(inspect(given)).not.toMatch(/0345 ?0803/);
    expect(given.note).toContain('sorry');
  });

  it('of what does not exist is told so', async () => {
    const { payments } = shop;
    const attempts = [
      () => payments.refund({ conversationId: 'none' }),
      () => payments.void({ conversationId: 'none' }),
      () => payments.refunds('none'),
      () => payments.refundTotals('none'),
      () => payments.inquireRefund('none'),
      () => payments.resolveRefund('none', 'failed', 'no'),
    ];
    for (const attempt of attempts) {
      expect(await refusal(attempt())).toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
    }
  });
});

it('is not offered by the dialect "standard", since the interface shows no such operation; recording it is', async () => {
  const simulator = await startSimulator({ dialect: 'standard' });
  const shop = await startMerchant('fastify', simulator, {});
  try {
    const { conversationId } = await shop.payments.doPayment(sale());
    await expect(shop.payments.refund({ conversationId })).rejects.toBeInstanceOf(PaymentUnsupportedError);
    await expect(shop.payments.void({ conversationId })).rejects.toBeInstanceOf(PaymentUnsupportedError);
    const recorded = await shop.payments.recordRefund({
      conversationId,
      amount: '1',
      idempotencyKey: 'k',
      note: 'panel',
    });
    expect(recorded).toMatchObject({ state: 'succeeded', amount: '1.00' });
  } finally {
    await shop.app.close();
    await simulator.close();
  }
});
