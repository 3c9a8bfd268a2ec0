import { sale, useMerchant } from './merchant.js';

// Copies, repeats and forgeries of a callback are in callback-attacks.spec.ts; two tabs, and each outcome of a payment,
// are in test/scripts/expected, on every engine.
describe('a payment', () => {
  const shop = useMerchant();

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
});
