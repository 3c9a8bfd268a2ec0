import type { PaymentService } from 'nestjs-card-payment';
import { answeringGateway } from '../rigs/answering-gateway.js';
import { sale } from '../rigs/sale.js';
import { startShop } from '../rigs/shop.js';
import { accountAtUrl } from '../rigs/simulated-gateway.js';

interface Body {
  readonly conversationId: string;
  readonly paymentId?: string;
  readonly session?: string;
  readonly transactionDetails?: { readonly transactionType: string };
}
/** What the gateway answers, by operation: the body, or `status` and `body`. */
type Answers = Readonly<Record<string, (body: Body) => object>>;

const FOREIGN = { conversationId: 'ANOTHERPAYMENT000001', orderId: 'ORD-OTHER', paymentId: 'PAY-OTHER' };
const PAGE = Buffer.from('<html><body><form></form></body></html>').toString('base64');
const Init3d = ({ conversationId }: Body) => ({ code: 'B0000', conversationId, content: PAGE });
/** What an inquiry may say that names our payment, but shows no ids of the gateway. */
const paidWithoutIds = ({ conversationId }: Body) => ({
  responseCode: 'B0000',
  responseDescription: 'Approved',
  conversationId,
  transactionType: 'SALE',
  transactionStatus: 'SUCCESS',
});
const paidByNobody = () => ({ responseCode: 'B0000', ...FOREIGN, conversationId: undefined });
const notFound = () => ({ responseCode: 'B0100' });
const paidMore = { ...FOREIGN, paymentInfo: { amount: 900 } };

describe('money back of a payment whose answer may be about another one', () => {
  let close: () => Promise<void>;
  /** The refunds and voids that the gateway was asked for. */
  let asked: Body[];
  afterEach(() => close());

  async function shopAt(answers: Answers): Promise<PaymentService> {
    asked = [];
    const gateway = await answeringGateway(({ operation, body }, response) => {
      const sent = body as unknown as Body;
      if (/REFUND|VOID/.test(sent.transactionDetails?.transactionType ?? '')) asked.push(sent);
      const answer = answers[operation]?.(sent) ?? {};
      const { status, body: content } = { status: 200, body: answer, ...answer };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    });
    const { app, payments } = await startShop({ options: { ...accountAtUrl(gateway.url), background: false } });
    close = async () => {
      await app.close();
      await gateway.close();
    };
    return payments;
  }

  async function by3d(payments: PaymentService, amount: string, installmentCount = 1): Promise<string> {
    const transactionDetails = { amount, currencyCode: 949, installmentCount };
    const { conversationId } = await payments.init3d(sale(amount, { transactionDetails }));
    await payments.auth3d({ conversationId, fields: { conversationId } });
    return conversationId;
  }

  it.each<[reason: string, answer: (body: Body) => object]>([
    [
      'currency_mismatch',
      ({ conversationId }) => ({ ...paidMore, code: 'B0000', conversationId, orderId: 'ORD-X', currency: '392' }),
    ],
    ['conversation_mismatch', () => ({ code: 'B0000', resultCode: 'B0001', ...paidMore })],
    ['conversation_mismatch', () => ({ code: 'B0010', ...paidMore })],
    ['conversation_mismatch', () => ({ code: 'B0000', ...paidMore })],
  ])('never goes to the other one after a review by %s', async (reason, DoPayment) => {
    const payments = await shopAt({ DoPayment, CheckPayment: notFound });
    const { conversationId, ...paid } = await payments.doPayment(sale('10.00'));
    expect(paid).toMatchObject({ state: 'review', reason });
    await payments.resolve(conversationId, 'succeeded', 'the panel shows 10.00');
    expect(await payments.refundTotals(conversationId)).toMatchObject({ taken: '10.00' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'no_ids' });
    expect(asked).toEqual([]);
  });

  it.each([
    ['an indeterminate code', 200, 'B0096', paidWithoutIds],
    ['a server error', 500, 'B0000', paidWithoutIds],
    ['an unheard-of code', 200, 'X1', paidWithoutIds],
    // Then an operator settles it.
    ['an unheard-of code, where inquiries show no more than a code,', 200, 'X1', paidByNobody],
  ])('never goes to the other one after %s and an inquiry without ids', async (_what, status, code, CheckPayment) => {
    const DoPayment = () => ({ status, body: { code, ...paidMore } });
    const payments = await shopAt({ DoPayment, CheckPayment });
    const { conversationId } = await payments.doPayment(sale('10.00'));
    const { state } = await payments.inquire(conversationId);
    if (CheckPayment === paidByNobody) await payments.resolve(conversationId, 'succeeded', 'seen in the panel');
    else expect(state).toBe('succeeded');
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'no_ids' });
    expect(asked).toEqual([]);
  });

  it('never goes to the other one of two 3D payments whose bank results a buyer has swapped', async () => {
    const authorized = new Set<string>();
    const payments = await shopAt({
      Init3d,
      Auth3d({ session = '' }) {
        authorized.add(session);
        return { code: 'B0000', orderId: `ORD-${session}`, paymentId: `PAY-${session}` };
      },
      CheckPayment: (body) => (authorized.has(body.conversationId) ? paidWithoutIds(body) : notFound()),
    });
    const dear = (await payments.init3d(sale('1000.00'))).conversationId;
    const cheap = (await payments.init3d(sale('10.00'))).conversationId;
    await payments.auth3d({ conversationId: dear, fields: { conversationId: dear, session: cheap } });
    await payments.auth3d({ conversationId: cheap, fields: { conversationId: cheap, session: dear } });
    expect(await payments.find(cheap)).toMatchObject({ state: 'succeeded', paymentId: null });
    await expect(payments.void({ conversationId: cheap })).rejects.toMatchObject({ reason: 'no_ids' });
    expect(asked).toEqual([]);
  });

  it('is no more than was asked for, if an unbound answer shows more', async () => {
    const Auth3d = () => ({ code: 'B0000', ...FOREIGN, conversationId: undefined, paymentInfo: { amount: 1000 } });
    const payments = await shopAt({ Init3d, Auth3d, CheckPayment: paidWithoutIds });
    const conversationId = await by3d(payments, '10.00', 3);
    expect(await payments.refundTotals(conversationId)).toMatchObject({ taken: '10.00' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'no_ids' });
  });

  it('is refused where only an unbound answer shows an amount: nothing of this payment is proven', async () => {
    const Auth3d = () => ({ code: 'B0000', ...FOREIGN, conversationId: undefined, paymentInfo: { amount: 10 } });
    const payments = await shopAt({ Init3d, Auth3d, CheckPayment: notFound });
    const conversationId = await by3d(payments, '1000.00');
    expect(await payments.find(conversationId)).toMatchObject({ state: 'review', reason: 'amount_mismatch' });
    expect(await payments.refundTotals(conversationId)).toMatchObject({ taken: '0.00', refundable: '0.00' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
  });
});
