import { inspect } from 'node:util';
import {
  type Payment,
  type PaymentError,
  PaymentStateError,
  PaymentUnsupportedError,
  PaymentValidationError,
  type Refund,
  type RefundDto,
} from 'nestjs-card-payment';
import { ENGINES_IN_TURN } from './engines.js';
import { sale, useMerchant } from './merchant.js';

async function refusal(attempt: Promise<unknown>): Promise<PaymentError> {
  return attempt.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: PaymentError) => error,
  );
}

// Refunds and voids in turn, and every answer to them, are in test/scripts/expected/refunds.txt, on every engine.
describe.each(ENGINES_IN_TURN)('money back, on %s', (_name, engine) => {
  const shop = useMerchant({ engine });
  afterEach(() => {
    expect(shop.simulator.ledger.violations).toEqual([]);
  });

  async function paid(amount = '149.90'): Promise<Payment> {
    const payment = await shop.payments.doPayment(sale(amount));
    expect(payment.state).toBe('succeeded');
    return payment;
  }

  function refund({ conversationId }: Payment, more: Omit<RefundDto, 'conversationId'> = {}): Promise<Refund> {
    return shop.payments.refund({ conversationId, ...more });
  }

  const refunded = ({ conversationId }: Payment) => shop.simulator.ledger.refundedAmount(conversationId);

  it('at most gives back what was taken, when forty ask at once', async () => {
    const payment = await paid('100.00');
    const asked = await Promise.allSettled(Array.from({ length: 40 }, () => refund(payment, { amount: '30.00' })));
    const given = asked.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(given.every(({ state }) => state === 'succeeded')).toBe(true);
    expect(given.length).toBeGreaterThanOrEqual(1);
    expect(given.length).toBeLessThanOrEqual(3);
    expect(Number(refunded(payment))).toBe(given.length * 30);
  });

  // What else an answer may say of another payment is in foreign-answers.spec.ts.
  it('never goes to another payment, whose ids an answer named', async () => {
    const other = await paid('500.00');
    const { conversationId, orderId, paymentId } = other;
    const edit = (fields: object) => Object.assign(fields, { conversationId, orderId, paymentId });
    shop.simulator.fail({ operation: 'DoPayment', kind: 'edit', edit });
    const contested = await shop.payments.doPayment(sale('149.90'));
    expect(contested).toMatchObject({ state: 'review', reason: 'conversation_mismatch', paymentId });
    expect(await refusal(refund(contested))).toBeInstanceOf(PaymentStateError);
    await shop.payments.resolve(contested.conversationId, 'succeeded', 'seen in the panel');
    // CheckPayment names the payment's own ids.
    expect(await refund(contested)).toMatchObject({ state: 'succeeded', amount: '149.90' });
    expect([refunded(contested), refunded(other)]).toEqual(['149.90', '0.00']);
  });

  it.each<[string, Partial<RefundDto>, string]>([
    ['a negative amount', { amount: '-1.00' }, 'amount'],
    ['more decimals than the lira has', { amount: '10.505' }, 'amount'],
    ['what binary arithmetic makes', { amount: 0.1 + 0.2 }, 'amount'],
    ['an unknown field', { ammount: '10.00' } as Partial<RefundDto>, 'ammount'],
    ["the payment's card as the key", { idempotencyKey: '4508034508034509' }, 'idempotencyKey'],
    ["the payment's card as the refundId", { refundId: '4508 0345 0803 4509' }, 'refundId'],
  ])('is refused for %s, with nothing sent and nothing recorded', async (_what, more, path) => {
    const payment = await paid();
    const sent = shop.simulator.requests.length;
    const error = await refusal(refund(payment, more));
    expect(error).toBeInstanceOf(PaymentValidationError);
    expect((error as PaymentValidationError).issues.map((issue) => issue.path)).toEqual([path]);
    expect(inspect(error)).not.toContain('4508034508034509');
    expect(shop.simulator.requests).toHaveLength(sent);
    expect(await shop.payments.refunds(payment.conversationId)).toEqual([]);
  });

  it('keeps of a note what is no card number', async () => {
    const given = await refund(await paid(), { note: 'card 4508 0345 0803 4509, sorry', by: '4508034508034509' });
    expect(inspect(given)).not.toMatch(/0345 ?0803/);
    expect(given.note).toContain('sorry');
  });

  it.each(['refund', 'void', 'refunds', 'refundTotals'] as const)(
    'of what does not exist is told so: %s',
    async (ask) => {
      const { payments } = shop;
      const attempt =
        ask === 'refund' || ask === 'void' ? payments[ask]({ conversationId: 'none' }) : payments[ask]('none');
      expect(await refusal(attempt)).toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
    },
  );
});

describe('money back with the dialect "standard", whose interface shows no such operation', () => {
  const shop = useMerchant({ gateway: { dialect: 'standard' } });

  it('is not offered; recording it is', async () => {
    const { conversationId } = await shop.payments.doPayment(sale());
    for (const ask of ['refund', 'void'] as const) {
      expect(await refusal(shop.payments[ask]({ conversationId }))).toBeInstanceOf(PaymentUnsupportedError);
    }
    const told = { conversationId, amount: '1', idempotencyKey: 'k', note: 'panel' };
    expect(await shop.payments.recordRefund(told)).toMatchObject({ state: 'succeeded', amount: '1.00' });
  });
});
