import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DoPaymentDto,
  type Init3dDto,
  MemoryPaymentStore,
  type Payment,
  PaymentModule,
  PaymentOverloadError,
  PaymentService,
  paymentToken,
} from 'nestjs-card-payment';
import type { FaultHandle, Simulator } from 'nestjs-card-payment/simulator';
import { bring, type Merchant, sale, simulatorOptions, useMerchants } from '../e2e/merchant.js';
import { until } from '../services/until.js';

const BOUND = 10;
const AT_ONCE = 30;

describe('at most ten payments in flight', () => {
  const merchants = useMerchants();
  let simulator: Simulator;
  let store: MemoryPaymentStore;
  let merchant: Merchant;
  let payments: PaymentService;

  beforeEach(async () => {
    ({ simulator } = merchants);
    store = new MemoryPaymentStore();
    const second = { ...simulatorOptions(simulator), name: 'second', callback: false, maxInFlight: 1 } as const;
    const addresses = { returnUrl: 'https://shop.example/{token}', failUrl: 'https://shop.example/{token}' };
    merchant = await merchants.start('fastify', {
      options: { store, maxInFlight: BOUND },
      metadata: { imports: [PaymentModule.forRoot({ ...second, ...addresses })] },
    });
    payments = merchant.payments;
  });

  /** A gateway that does not answer the next requests of an operation before it is released. */
  const stall = (operation: 'DoPayment' | 'Init3d' | 'Auth3d', times = AT_ONCE): FaultHandle =>
    simulator.fail({ operation, kind: 'stall', times });

  const requestsOf = (operation: string): number =>
    simulator.requests.filter((request) => request.operation === operation).length;

  /** Ten payments that the gateway has received and does not answer. */
  async function fill(gateway: FaultHandle): Promise<Promise<Payment>[]> {
    const running = Array.from({ length: BOUND }, () => payments.doPayment(sale()));
    await until(() => gateway.timesPlayed === BOUND);
    return running;
  }

  it.each([
    ['doPayment', 'DoPayment', (input: DoPaymentDto & Init3dDto) => payments.doPayment(input)],
    ['init3d', 'Init3d', (input: DoPaymentDto & Init3dDto) => payments.init3d(input)],
  ] as const)('%s: of thirty at once ten run, and of the others there is no trace', async (_name, operation, pay) => {
    const gateway = stall(operation);
    const inputs = Array.from({ length: AT_ONCE }, () => sale());
    const calls = inputs.map((input) => pay(input));
    const refused = await Promise.allSettled(calls.slice(BOUND));
    for (const outcome of refused) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PAYMENT_OVERLOAD', maxInFlight: BOUND } });
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(PaymentOverloadError);
    }
    await until(() => gateway.timesPlayed === BOUND);
    gateway.release();
    await Promise.all(calls.slice(0, BOUND));

    expect(requestsOf(operation)).toBe(BOUND);
    const counts = await Promise.all(
      inputs.map(async (input) => (await payments.findByReference(input.reference!)).length),
    );
    expect(counts).toEqual(inputs.map((_input, index) => (index < BOUND ? 1 : 0)));
  });

  it('counts a payment until its answer is given, whether that is an approval, a decline or a throw', async () => {
    const gateway = stall('DoPayment');
    const running = await fill(gateway);
    await expect(payments.doPayment(sale())).rejects.toBeInstanceOf(PaymentOverloadError);
    gateway.release();
    await Promise.all(running);

    const wrong = { ...sale(), cardDetails: { cardNo: '4508034508034508', expDate: '1236', cvv: '000' } };
    for (let round = 0; round < 2; round += 1) {
      const declined = Array.from({ length: BOUND }, () => payments.doPayment(sale('10.51')));
      expect((await Promise.all(declined)).map(({ state }) => state)).toEqual(declined.map(() => 'failed'));
      const invalid = Array.from({ length: BOUND }, () => payments.doPayment(wrong));
      for (const outcome of await Promise.allSettled(invalid)) {
        expect(outcome).toMatchObject({ reason: { code: 'PAYMENT_VALIDATION' } });
      }
      store.insert = () => Promise.reject(new Error('down'));
      const unrecorded = Array.from({ length: BOUND }, () => payments.init3d(sale()));
      for (const outcome of await Promise.allSettled(unrecorded)) {
        expect(outcome).toMatchObject({ reason: { code: 'PAYMENT_STORE' } });
      }
      store.insert = MemoryPaymentStore.prototype.insert.bind(store);
    }
    const again = await Promise.all(Array.from({ length: BOUND }, () => payments.doPayment(sale())));
    expect(again.map(({ state }) => state)).toEqual(again.map(() => 'succeeded'));
  });

  it('refuses no callback, and nothing that only reads or settles', async () => {
    const { conversationId } = await payments.init3d(sale());
    const gateway = stall('DoPayment', BOUND);
    const running = await fill(gateway);
    await expect(payments.init3d(sale())).rejects.toBeInstanceOf(PaymentOverloadError);

    const answer = await bring(simulator.approve(conversationId));
    expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
    expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    await payments.inquire(conversationId);
    await payments.reconcile();
    await expect(payments.resolve(conversationId, 'failed', 'no')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    gateway.release();
    await Promise.all(running);
  });

  it.each(['one that runs', 'a finished one'])(
    'a call with the key of %s is refused, too, and afterwards gets its payment, charged once',
    async (which) => {
      const input = sale('149.90', { idempotencyKey: which });
      const first = which === 'one that runs' ? null : await payments.doPayment(input);
      const gateway = stall('DoPayment', BOUND);
      const running = [payments.doPayment(first ? sale() : input)];
      for (let others = 1; others < BOUND; others += 1) running.push(payments.doPayment(sale()));
      await until(() => gateway.timesPlayed === BOUND);
      await expect(payments.doPayment(input)).rejects.toBeInstanceOf(PaymentOverloadError);
      const state = first ? 'succeeded' : 'charging';
      expect(await payments.findByReference(input.reference!)).toMatchObject([{ state }]);
      gateway.release();
      const { conversationId } = first ?? (await running[0]!);
      await Promise.all(running);
      expect(await payments.doPayment(input)).toMatchObject({ conversationId, state: 'succeeded' });
      expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
      expect(requestsOf('DoPayment')).toBe(first ? BOUND + 1 : BOUND);
    },
  );

  it('a key that was refused is free, also for a payment of another amount', async () => {
    const gateway = stall('DoPayment');
    const running = await fill(gateway);
    const key = { idempotencyKey: 'click-2' };
    await expect(payments.doPayment(sale('10.00', key))).rejects.toBeInstanceOf(PaymentOverloadError);
    gateway.release();
    await Promise.all(running);
    expect(await payments.doPayment(sale('20.00', key))).toMatchObject({ state: 'succeeded', amount: '20.00' });
  });

  it('each account has a bound of its own', async () => {
    const second = merchant.app.get<PaymentService>(paymentToken('second'));
    const gateway = stall('DoPayment', BOUND + 1);
    const running = await fill(gateway);
    const other = second.doPayment(sale());
    await until(() => gateway.timesPlayed === BOUND + 1);
    await expect(second.doPayment(sale())).rejects.toMatchObject({ maxInFlight: 1 });
    await expect(payments.doPayment(sale())).rejects.toMatchObject({ maxInFlight: BOUND });
    gateway.release();
    expect(await other).toMatchObject({ state: 'succeeded', account: 'second' });
    await Promise.all(running);
  });
});

describe('a merchant', () => {
  const merchants = useMerchants();

  it.each([
    ['doPayment', (payments: PaymentService, input: DoPaymentDto) => payments.doPayment(input)],
    ['init3d', async (payments: PaymentService, input: Init3dDto) => (await payments.init3d(input)).payment],
  ] as const)('%s pays what was passed in, although it is changed while the payment waits', async (_name, pay) => {
    const { payments } = await merchants.start('fastify');
    const before = Array.from({ length: 100 }, () => payments.doPayment(sale()));
    const input = sale('10.00');
    const { reference } = input;
    const paying = pay(payments, input);
    input.transactionDetails.amount = '99.00';
    await nextTurn();
    input.reference = 'another order';
    expect(await paying).toMatchObject({ amount: '10.00', reference });
    await Promise.all(before);
  });

  it.each([
    ['256 unless given', {}, 44],
    ['none with 0', { maxInFlight: 0 }, 0],
  ])('has the bound %s', async (_what, options, refused) => {
    const { payments } = await merchants.start('fastify', { options });
    const gateway = merchants.simulator.fail({ operation: 'DoPayment', kind: 'stall', times: 300 });
    const running = Promise.allSettled(Array.from({ length: 300 }, () => payments.doPayment(sale())));
    await until(() => gateway.timesPlayed === 300 - refused);
    gateway.release();
    const results = await running;
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(refused);
  });
});
