import type { DoPaymentDto, Payment } from 'nestjs-card-payment';
import { ENGINES_IN_TURN } from './engines.js';
import { ODD } from '../rigs/odd-answers.js';
import { bring, sale, useMerchant } from './merchant.js';

const RESOLUTIONS = ['succeeded', 'failed'] as const;
const NOTE = 'The bank has looked it up.';

describe.each(ENGINES_IN_TURN)('an order that was charged although the gateway declined it, on %s', (_name, engine) => {
  const shop = useMerchant({ engine, options: { background: false } });
  let order: Pick<DoPaymentDto, 'reference'>;
  let orders = 0;
  beforeEach(() => {
    orders += 1;
    order = { reference: `lied-${orders}` };
  });

  /** Charged, although the answer says that it was declined. */
  async function chargedAndDeclined(): Promise<Payment> {
    shop.simulator.fail({ operation: 'DoPayment', ...ODD['declined-code'] });
    const payment = await shop.payments.doPayment(sale('149.90', order));
    expect(payment).toMatchObject({ state: 'failed', reason: 'declined' });
    return payment;
  }

  /** Not charged and not answered: it holds the reference. */
  async function unanswered(): Promise<Payment> {
    shop.simulator.fail({ operation: 'DoPayment', ...ODD.empty, at: 'before' });
    const payment = await shop.payments.doPayment(sale('149.90', order));
    expect(payment.state).toBe('unknown');
    return payment;
  }

  async function prove({ conversationId }: Payment): Promise<void> {
    const proven = await shop.payments.inquire(conversationId);
    expect(proven).toMatchObject({ state: 'review', reason: 'moved_after_all', stored: true });
  }

  function resolve({ conversationId }: Payment, state: 'succeeded' | 'failed'): Promise<Payment> {
    return shop.payments.resolve(conversationId, state, NOTE);
  }

  const sent = (operation: 'DoPayment' | 'Init3d' | 'Auth3d') => shop.simulator.ledger.calls(operation);

  /** Neither a direct nor a 3D payment of the order reaches the gateway. */
  async function expectTaken(): Promise<void> {
    const before = [sent('DoPayment'), sent('Init3d')];
    const taken = { code: 'PAYMENT_DUPLICATE', key: 'reference', payment: null };
    await expect(shop.payments.doPayment(sale('149.90', order))).rejects.toMatchObject(taken);
    await expect(shop.payments.init3d(sale('149.90', order))).rejects.toMatchObject(taken);
    expect([sent('DoPayment'), sent('Init3d')]).toEqual(before);
  }

  it.each(RESOLUTIONS.flatMap((one) => RESOLUTIONS.map((other) => [one, other] as const)))(
    'is charged no more once the second payment ends %s and the first is resolved as %s',
    async (second, first) => {
      const lied = await chargedAndDeclined();
      const holder = await unanswered();
      await prove(lied);
      await expectTaken();
      expect(await resolve(holder, second)).toMatchObject({ state: second, stored: true });
      await expectTaken();
      expect(await resolve(lied, first)).toMatchObject({ state: first, stored: true });
      await expectTaken();
      expect(shop.simulator.ledger.chargedTimes(lied.conversationId)).toBe(1);
      expect(await shop.payments.doPayment(sale('149.90', { ...order, allowRepeat: true }))).toMatchObject({
        state: 'succeeded',
      });
    },
  );

  it.each([
    ['before', 'succeeded'],
    ['after', 'failed'],
  ] as const)('a buyer who was at the bank comes back %s the second payment ends: not charged', async (when, end) => {
    const lied = await chargedAndDeclined();
    const { conversationId } = await shop.payments.init3d(sale('149.90', order));
    const holder = await unanswered();
    await prove(lied);
    if (when === 'after') await resolve(holder, end);
    const before = sent('Auth3d');
    const answer = await bring(shop.simulator.approve(conversationId));
    expect(answer.headers.get('location')).toContain('/pending?');
    if (when === 'before') await resolve(holder, end);
    expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'failed', reason: 'reference_taken' });
    expect(sent('Auth3d')).toBe(before);
    await expectTaken();
  });

  it.each([
    ['149.90', 'succeeded'],
    ['149.51', 'failed'],
  ] as const)(
    'a 3D payment of %s under way while the first one is proven ends %s, and releases nothing',
    async (...to) => {
      const [amount, state] = to;
      const lied = await chargedAndDeclined();
      const { conversationId } = await shop.payments.init3d(sale(amount, order));
      const stall = shop.simulator.fail({ operation: 'Auth3d', kind: 'stall', at: 'before' });
      const answer = bring(shop.simulator.approve(conversationId));
      await stall.played;
      await prove(lied);
      await expectTaken();
      stall.release();
      await answer;
      expect(await shop.payments.find(conversationId)).toMatchObject({ state });
      await expectTaken();
    },
  );
});
