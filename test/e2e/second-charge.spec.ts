import type { DoPaymentDto, Payment } from 'nestjs-card-payment';
import { ODD } from '../rigs/odd-answers.js';
import { ENGINES_IN_TURN } from './engines.js';
import { bring, sale, useMerchant } from './merchant.js';

const NOTE = 'The bank has looked it up.';

// How direct payments of such an order end is in test/scripts/expected/direct.txt, on every engine; what a buyer is told
// who was at the bank meanwhile, in faults.txt beside it.
describe.each(ENGINES_IN_TURN)('an order that was charged although the gateway declined it, on %s', (_name, engine) => {
  const shop = useMerchant({ engine, options: { background: false } });
  let order: Pick<DoPaymentDto, 'reference'>;
  let orders = 0;
  let lied: Payment;

  /** Charged, although the answer says that it was declined. */
  beforeEach(async () => {
    orders += 1;
    order = { reference: `lied-${orders}` };
    shop.simulator.fail({ operation: 'DoPayment', ...ODD['declined-code'] });
    lied = await pay();
    expect(lied).toMatchObject({ state: 'failed', reason: 'declined' });
  });

  const pay = (more: Partial<DoPaymentDto> = {}) => shop.payments.doPayment(sale('149.90', { ...order, ...more }));
  const init3d = (amount = '149.90') => shop.payments.init3d(sale(amount, order));

  /** Not charged and not answered: it holds the reference. */
  async function unanswered(): Promise<Payment> {
    shop.simulator.fail({ operation: 'DoPayment', ...ODD.empty, at: 'before' });
    const payment = await pay();
    expect(payment.state).toBe('unknown');
    return payment;
  }

  async function prove(): Promise<void> {
    const proven = await shop.payments.inquire(lied.conversationId);
    expect(proven).toMatchObject({ state: 'review', reason: 'moved_after_all', stored: true });
  }

  async function resolve({ conversationId }: Payment, state: 'succeeded' | 'failed'): Promise<void> {
    const resolved = await shop.payments.resolve(conversationId, state, NOTE);
    expect(resolved).toMatchObject({ state, stored: true });
  }

  const sent = () => (['DoPayment', 'Init3d', 'Auth3d'] as const).map((one) => shop.simulator.ledger.calls(one));

  /** Neither a direct nor a 3D payment of the order reaches the gateway. */
  async function expectTaken(): Promise<void> {
    const before = sent();
    const taken = { code: 'PAYMENT_DUPLICATE', key: 'reference', payment: null };
    await expect(pay()).rejects.toMatchObject(taken);
    await expect(init3d()).rejects.toMatchObject(taken);
    expect(sent()).toEqual(before);
  }

  it.each([
    ['failed', 'failed'],
    ['failed', 'succeeded'],
    ['succeeded', 'failed'],
    ['succeeded', 'succeeded'],
  ] as const)('is charged no more once the second ends %s and the first %s, unless asked to', async (second, first) => {
    const holder = await unanswered();
    await prove();
    await expectTaken();
    await resolve(holder, second);
    await expectTaken();
    await resolve(lied, first);
    await expectTaken();
    expect(shop.simulator.ledger.chargedTimes(lied.conversationId)).toBe(1);
    expect(await pay({ allowRepeat: true })).toMatchObject({ state: 'succeeded' });
  });

  it.each([
    ['149.90', 'succeeded'],
    ['149.51', 'failed'],
  ])(
    'a 3D payment of %s under way while the first one is proven ends %s, and releases nothing',
    async (amount, state) => {
      const { conversationId } = await init3d(amount);
      const stall = shop.simulator.fail({ operation: 'Auth3d', kind: 'stall', at: 'before' });
      const answer = bring(shop.simulator.approve(conversationId));
      await stall.played;
      await prove();
      await expectTaken();
      stall.release();
      await answer;
      expect(await shop.payments.find(conversationId)).toMatchObject({ state });
      await expectTaken();
    },
  );
});
