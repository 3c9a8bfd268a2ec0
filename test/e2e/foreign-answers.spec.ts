import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Merchant, sale, startMerchant } from './merchant.js';

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
/** What an inquiry may say that names our payment, but shows no ids of the gateway. */
const paidWithoutIds = ({ conversationId }: Body) => ({
  responseCode: 'B0000',
  responseDescription: 'Approved',
  conversationId,
  transactionType: 'SALE',
  transactionStatus: 'SUCCESS',
});
const NOT_FOUND = { responseCode: 'B0100' };

describe('money back of a payment whose answer may be about another one', () => {
  let simulator: Simulator;
  let close: () => Promise<void>;
  /** The refunds and voids that the gateway was asked for. */
  let asked: Body[];

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  afterAll(() => simulator.close());
  afterEach(() => close());

  /** A shop at a gateway that gives these answers, and approves every refund. */
  async function shopAt(
    answers: Answers,
    moneyBack: (body: Body) => object = ({ conversationId }) => ({ code: '00', conversationId }),
  ): Promise<Merchant['payments']> {
    asked = [];
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const operation = request.url?.split('/').at(-1) ?? '';
        const type = body.transactionDetails?.transactionType;
        const isMoneyBack = type === 'REFUND' || type === 'VOID';
        if (isMoneyBack) asked.push(body);
        const answer = isMoneyBack ? moneyBack(body) : answers[operation]!(body);
        const { status, body: content } = { status: 200, body: answer, ...answer };
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { app, payments } = await startMerchant('fastify', simulator, { options: { baseUrl, background: false } });
    close = async () => {
      await app.close();
      await new Promise((closed) => server.close(closed));
    };
    return payments;
  }

  it.each<[string, (body: Body) => object]>([
    [
      'currency_mismatch',
      ({ conversationId }) => ({
        code: 'B0000',
        conversationId,
        orderId: 'ORD-X',
        paymentId: 'PAY-OTHER',
        paymentInfo: { amount: 500 },
        currency: '392',
      }),
    ],
    ...[{ code: 'B0000', resultCode: 'B0001' }, { code: 'B0010' }, { code: 'B0000' }].map(
      (codes): [string, (body: Body) => object] => [
        'conversation_mismatch',
        () => ({ ...codes, ...FOREIGN, paymentInfo: { amount: 900 } }),
      ],
    ),
  ])('never goes to the other one after a review by %s', async (reason, DoPayment) => {
    const payments = await shopAt({ DoPayment, CheckPayment: () => NOT_FOUND });
    const { conversationId, ...paid } = await payments.doPayment(sale('10.00'));
    expect(paid).toMatchObject({ state: 'review', reason });
    await payments.resolve(conversationId, 'succeeded', 'the panel shows 10.00');
    expect(await payments.refundTotals(conversationId)).toMatchObject({ taken: '10.00' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'no_ids' });
    expect(asked).toEqual([]);
  });

  it.each([
    ['an indeterminate code', 200, 'B0096'],
    ['a server error', 500, 'B0000'],
    ['an unheard-of code', 200, 'X1'],
  ])('never goes to the other one after %s and an inquiry without ids', async (_what, status, code) => {
    const payments = await shopAt({
      DoPayment: () => ({ status, body: { code, ...FOREIGN, paymentInfo: { amount: 900 } } }),
      CheckPayment: paidWithoutIds,
    });
    const { conversationId } = await payments.doPayment(sale('10.00'));
    expect(await payments.inquire(conversationId)).toMatchObject({ state: 'succeeded' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'no_ids' });
    expect(asked).toEqual([]);
  });

  it('never goes to the other one of two 3D payments whose bank results a buyer has swapped', async () => {
    const authorized = new Set<string>();
    const payments = await shopAt({
      Init3d: ({ conversationId }) => ({ code: 'B0000', conversationId, content: PAGE }),
      Auth3d({ session = '' }) {
        authorized.add(session);
        return { code: 'B0000', orderId: `ORD-${session}`, paymentId: `PAY-${session}` };
      },
      CheckPayment: (body) => (authorized.has(body.conversationId) ? paidWithoutIds(body) : NOT_FOUND),
    });
    const dear = (await payments.init3d(sale('1000.00'))).conversationId;
    const cheap = (await payments.init3d(sale('10.00'))).conversationId;
    await payments.auth3d({ conversationId: dear, fields: { conversationId: dear, session: cheap } });
    await payments.auth3d({ conversationId: cheap, fields: { conversationId: cheap, session: dear } });
    expect(await payments.find(cheap)).toMatchObject({ state: 'succeeded', paymentId: null });
    await expect(payments.void({ conversationId: cheap })).rejects.toMatchObject({ reason: 'no_ids' });
    expect(asked).toEqual([]);
  });

  it('gives back no more than was asked for, if an unbound answer shows more', async () => {
    const payments = await shopAt({
      Init3d: ({ conversationId }) => ({ code: 'B0000', conversationId, content: PAGE }),
      Auth3d: () => ({ code: 'B0000', orderId: 'ORD-OTHER', paymentId: 'PAY-OTHER', paymentInfo: { amount: 1000 } }),
      CheckPayment: paidWithoutIds,
    });
    const instalments = { transactionDetails: { amount: '10.00', currencyCode: 949, installmentCount: 3 } };
    const { conversationId } = await payments.init3d(sale('10.00', instalments));
    await payments.auth3d({ conversationId, fields: { conversationId } });
    expect(await payments.refundTotals(conversationId)).toMatchObject({ taken: '10.00' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'no_ids' });
  });

  it('is refused where only an unbound answer shows an amount: nothing of this payment is proven', async () => {
    const payments = await shopAt({
      Init3d: ({ conversationId }) => ({ code: 'B0000', conversationId, content: PAGE }),
      Auth3d: () => ({ code: 'B0000', orderId: 'ORD-OTHER', paymentId: 'PAY-OTHER', paymentInfo: { amount: 10 } }),
      CheckPayment: () => NOT_FOUND,
    });
    const { conversationId } = await payments.init3d(sale('1000.00'));
    await payments.auth3d({ conversationId, fields: { conversationId } });
    expect(await payments.find(conversationId)).toMatchObject({ state: 'review', reason: 'amount_mismatch' });
    expect(await payments.refundTotals(conversationId)).toMatchObject({ taken: '0.00', refundable: '0.00' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
  });

  it('is unknown if a decline names another refund', async () => {
    const payments = await shopAt(
      { DoPayment: ({ conversationId }) => ({ code: 'B0000', conversationId, orderId: 'O', paymentId: 'P' }) },
      () => ({ code: 'B0051', conversationId: FOREIGN.conversationId }),
    );
    const { conversationId } = await payments.doPayment(sale('10.00'));
    const given = await payments.refund({ conversationId, amount: '1' });
    expect(given).toMatchObject({ state: 'unknown', reason: 'conversation_mismatch' });
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ reason: 'in_progress' });
  });
});

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Body;
}
