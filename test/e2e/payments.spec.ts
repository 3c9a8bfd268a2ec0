import { bring, sale, useMerchant } from './merchant.js';

// Copies, repeats and forgeries of a callback are in callback-attacks.spec.ts; each outcome of a payment is in
// test/scripts/expected, on every engine.
describe.each(['standard', 'morpos'] as const)('payments with dialect %s', (dialect) => {
  const shop = useMerchant({ gateway: { dialect } });

  it("shows a customer nothing of another customer's payment for the same key, and sends nothing", async () => {
    const { payments, simulator } = shop;
    const input = sale('75.00', { reference: undefined, idempotencyKey: 'key-of-a-customer' });
    const first = await payments.doPayment(input);
    expect(first.maskedCardNumber).toMatch(/^450803\D+4509$/);
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

  it('takes a 3D payment through the bank and back', async () => {
    const started = await shop.payments.init3d(sale('200.00'));
    expect(started.payment.state).toBe('awaiting');
    expect(Buffer.from(started.content, 'base64').toString()).toBe(started.html);

    const answer = await bring(shop.simulator.approve(started.conversationId));

    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${started.conversationId}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await shop.payments.find(started.conversationId)).toMatchObject({ state: 'succeeded', kind: '3d' });
    expect(shop.simulator.ledger.calls('Auth3d', started.conversationId)).toBe(1);
  });

  it('lets one of two tabs that pay one order through', async () => {
    const reference = 'two-tabs';
    const one = await shop.payments.init3d(sale('30.00', { reference }));
    const other = await shop.payments.init3d(sale('30.00', { reference }));
    const callbacks = [one, other].map(({ conversationId }) => shop.simulator.approve(conversationId));
    const answers = await Promise.all(callbacks.map(bring));
    // The other buyer learns how the payment stands that came first.
    const places = answers.map((answer) => new URL(answer.headers.get('location') ?? ''));
    expect(places.map(({ pathname }) => pathname)).toContain('/paid');
    expect(new Set(places.map(({ search }) => search)).size).toBe(1);
    const attempts = await shop.payments.findByReference(reference);
    expect(attempts.map(({ state, reason }) => [state, reason]).sort()).toEqual([
      ['failed', 'reference_taken'],
      ['succeeded', null],
    ]);
    const taken = { code: 'PAYMENT_DUPLICATE', key: 'reference', payment: { state: 'succeeded' } };
    await expect(shop.payments.init3d(sale('30.00', { reference }))).rejects.toMatchObject(taken);
    await expect(shop.payments.doPayment(sale('30.00', { reference }))).rejects.toMatchObject(taken);
    for (const callback of callbacks) {
      const again = await bring(callback);
      expect(new URL(again.headers.get('location') ?? '').pathname).toBe('/paid');
    }
  });
});
