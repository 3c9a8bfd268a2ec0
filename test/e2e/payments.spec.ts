import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { bring, type Merchant, sale, startMerchant } from './merchant.js';

// Copies, repeats and forgeries of a callback are in callback-attacks.spec.ts.
describe('payments', () => {
  describe.each(['standard', 'morpos'] as const)('with dialect %s', (dialect) => {
    let simulator: Simulator;
    let merchant: Merchant;

    beforeAll(async () => {
      simulator = await startSimulator({ dialect });
      merchant = await startMerchant('fastify', simulator);
    });
    afterAll(async () => {
      await merchant.app.close();
      await simulator.close();
    });

    it('takes a direct payment', async () => {
      const payment = await merchant.payments.doPayment(sale('149.90', { reference: 'direct-1' }));

      expect(payment).toMatchObject({
        state: 'succeeded',
        settled: true,
        stored: true,
        kind: 'direct',
        reference: 'direct-1',
        amount: '149.90',
        code: 'B0000',
        maskedCardNumber: expect.stringMatching(/^450803\D+4509$/),
      });
      expect(simulator.ledger.chargedTimes(payment.conversationId)).toBe(1);
      expect(await merchant.payments.find(payment.conversationId)).toEqual(payment);
      expect(await merchant.payments.findByReference('direct-1')).toEqual([payment]);
    });

    it.each([1, 963, 999, 792, 'TRY', '949'])(
      'refuses the currency %p, with nothing recorded or sent',
      async (code) => {
        const transactionDetails = { amount: '149.90', currencyCode: code as number };
        const input = sale('149.90', { reference: 'no-currency', transactionDetails });
        const issues = [expect.objectContaining({ path: 'transactionDetails.currencyCode', rule: 'currencyCode' })];
        await expect(merchant.payments.doPayment(input)).rejects.toMatchObject({ code: 'PAYMENT_VALIDATION', issues });
        await expect(merchant.payments.init3d(input)).rejects.toMatchObject({ code: 'PAYMENT_VALIDATION', issues });
        expect(await merchant.payments.findByReference('no-currency')).toEqual([]);
      },
    );

    it("shows a customer nothing of another customer's payment for the same key, and sends nothing", async () => {
      const { payments } = merchant;
      const input = sale('75.00', { reference: undefined, idempotencyKey: 'key-of-a-customer' });
      const first = await payments.doPayment(input);
      const sent = simulator.requests.length;
      const others = { cardDetails: { cardNo: '5246776356903508', expDate: '1230', cvv: '792' } };
      const duplicate = { code: 'PAYMENT_DUPLICATE', statusCode: 409 };
      await expect(payments.doPayment({ ...input, ...others })).rejects.toMatchObject(duplicate);
      await expect(payments.init3d({ ...input, ...others })).rejects.toMatchObject(duplicate);
      const withItsId = { ...input, ...others, conversationId: first.conversationId, idempotencyKey: undefined };
      await expect(payments.doPayment(withItsId)).rejects.toMatchObject(duplicate);
      expect(await payments.doPayment(input)).toEqual(first);
      expect(simulator.requests).toHaveLength(sent);
    });

    it('returns a declined direct payment as failed', async () => {
      const payment = await merchant.payments.doPayment(sale('10.51'));
      expect(payment).toMatchObject({ state: 'failed', reason: 'declined', code: 'B0051', settled: true });
    });

    it('takes a 3D payment through the bank and back', async () => {
      const started = await merchant.payments.init3d(sale('200.00'));
      expect(started.payment.state).toBe('awaiting');
      expect(Buffer.from(started.content, 'base64').toString()).toBe(started.html);

      const answer = await bring(simulator.approve(started.conversationId));

      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${started.conversationId}`);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await merchant.payments.find(started.conversationId)).toMatchObject({ state: 'succeeded', kind: '3d' });
      expect(simulator.ledger.calls('Auth3d', started.conversationId)).toBe(1);
    });

    it('sends the buyer who cancels at the bank to the failure page', async () => {
      const started = await merchant.payments.init3d(sale());
      const answer = await bring(simulator.bank.answer(started.conversationId, { code: 'cancel' }));
      expect(answer.headers.get('location')).toContain('https://shop.example/failed?');
      expect(await merchant.payments.find(started.conversationId)).toMatchObject({ state: 'failed' });
      expect(simulator.ledger.chargedTimes(started.conversationId)).toBe(0);
    });

    it('lets one of two tabs that pay one order through', async () => {
      const reference = 'two-tabs';
      const one = await merchant.payments.init3d(sale('30.00', { reference }));
      const other = await merchant.payments.init3d(sale('30.00', { reference }));
      const callbacks = [one, other].map(({ conversationId }) => simulator.approve(conversationId));
      const answers = await Promise.all(callbacks.map(bring));
      // The other buyer learns how the payment stands that came first.
      const places = answers.map((answer) => new URL(answer.headers.get('location') ?? ''));
      expect(places.map(({ pathname }) => pathname)).toContain('/paid');
      expect(new Set(places.map(({ search }) => search)).size).toBe(1);
      const attempts = await merchant.payments.findByReference(reference);
      expect(attempts.map(({ state, reason }) => [state, reason]).sort()).toEqual([
        ['failed', 'reference_taken'],
        ['succeeded', null],
      ]);
      const taken = { code: 'PAYMENT_DUPLICATE', key: 'reference', payment: { state: 'succeeded' } };
      await expect(merchant.payments.init3d(sale('30.00', { reference }))).rejects.toMatchObject(taken);
      await expect(merchant.payments.doPayment(sale('30.00', { reference }))).rejects.toMatchObject(taken);
      for (const callback of callbacks) {
        const again = await bring(callback);
        expect(new URL(again.headers.get('location') ?? '').pathname).toBe('/paid');
      }
    });
  });
});
