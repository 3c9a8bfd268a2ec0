import {
  MAGIC_AMOUNTS,
  MAGIC_REFUNDS,
  REFUSAL_CODES,
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../lib/simulator/index.js';
import { until } from '../services/until.js';
import {
  fieldsOf,
  newConversationId,
  SimulatedMerchant,
  type TestRefund,
  type TestSale,
} from './simulated-merchant.js';

const NOON = new Date('2026-03-05T09:00:00Z');
const LAST_SECOND = new Date('2026-03-05T20:59:59Z');
const MIDNIGHT = new Date('2026-03-05T21:00:00Z');

let simulator: Simulator;
let merchant: SimulatedMerchant;
let now: Date;

async function start(options: SimulatorOptions = {}): Promise<void> {
  now = NOON;
  simulator = await startSimulator({ dialect: 'morpos', slowMs: 1, clock: () => now, ...options });
  merchant = new SimulatedMerchant(simulator, () => now);
}

describe('refunds', () => {
  beforeEach(() => start());
  afterEach(() => simulator.close());

  describe('a refund', () => {
    it('is answered as the public documentation shows it', async () => {
      now = new Date('2026-03-05T12:09:09Z');
      const { saleId, orderId, paymentId } = await pay({ amount: '60.00' });
      const conversationId = newConversationId();
      const response = await merchant.refund({ conversationId, orderId, paymentId, amount: '1.00' });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(
        '{"code":"00","message":"Onaylandı","resultCode":"00","resultDescription":"Onaylandı",' +
          `"responseDate":"05/03/2026 15:09:09","conversationId":"${conversationId}","orderId":"ORD000000001",` +
          '"paymentId":"7000000001","bankUniqueReferenceNumber":"606415000002"}',
      );
      const [charge] = simulator.ledger.charges;
      expect(simulator.ledger.refunds).toEqual([
        { conversationId, kind: 'refund', charge, amount: '1.00', currencyCode: 949, at: now },
      ]);
      expect(charge?.conversationId).toBe(saleId);
      expect(simulator.ledger.calls('refund', conversationId)).toBe(1);
      expect(simulator.ledger.calls('DoPayment')).toBe(1);
    });

    it.each([
      ['60.00', 949, '949', ['20.00', '39.99', '0.01']],
      ['0.30', 949, '949', ['0.1', '0.20']],
      ['9007199254740993.15', 949, '949', ['9007199254740993.14', '0.01']],
      ['1.005', 48, '048', ['1.004', '0.001']],
      ['500', 392, '392', ['499', '1']],
    ])('of %s in %i can be in parts, to the last minor unit', async (amount, currencyCode, currency, parts) => {
      const { saleId, ...ids } = await paidIn(currencyCode, amount);
      const smallest = parts.at(-1)!;
      for (const part of parts) expect(await refund({ ...ids, currency, amount: part })).toBe('00');
      expect(simulator.ledger.refundedAmount(saleId)).toBe(amount);
      expect(simulator.ledger.refundedTotal(currencyCode)).toBe(amount);
      expect(simulator.ledger.violations).toEqual([]);

      expect(await refund({ ...ids, currency, amount: smallest })).toBe('B0013');
      expect(simulator.ledger.refundedAmount(saleId)).toBe(amount);
      expect(simulator.ledger.violations).toMatchObject([{ kind: 'excessive-refund', operation: 'refund' }]);
    });

    /** A payment in a currency: it is signed with its number. */
    async function paidIn(currencyCode: number, amount: string) {
      if (currencyCode === 949) return pay({ amount });
      const conversationId = newConversationId();
      const { merchantId, apiKey } = simulator.credentials;
      const urls = ['https://shop.example/return', 'https://shop.example/fail'];
      const signed = [conversationId, merchantId, ...urls, 'CARDPAYMENT', 'tr', 'CARD', 'SALE', 'False', '1', amount];
      const sign = merchant.sign([...signed, String(currencyCode), '', apiKey]);
      return pay({ conversationId, amount, change: { sign, transactionDetails: { currencyCode } } });
    }

    it('of more than is left moves nothing, and what is left can still be refunded', async () => {
      const { saleId, ...ids } = await pay({ amount: '60.00' });
      expect(await refund({ ...ids, amount: '60.01' })).toBe('B0013');
      expect(await refund({ ...ids, amount: '40.00' })).toBe('00');
      expect(await refund({ ...ids, amount: '20.01' })).toBe('B0013');
      expect(simulator.ledger.refundedAmount(saleId)).toBe('40.00');
      expect(await refund({ ...ids, amount: '20.00' })).toBe('00');
      expect(simulator.ledger.violations).toHaveLength(2);
    });

    it('is of what was taken, when that was less than the amount', async () => {
      const half = MAGIC_AMOUNTS.find(({ charged }) => charged === 'half')!;
      const ids = await pay({ amount: `10.${half.digits}` });
      expect(await refund({ ...ids, amount: '5.16' })).toBe('B0013');
      expect(await refund({ ...ids, amount: '5.15' })).toBe('00');
    });

    it('can be of a 3D payment, on any later day', async () => {
      const conversationId = newConversationId();
      await merchant.init3d({ conversationId });
      const { fields } = simulator.approve(conversationId);
      const ids = { orderId: fields.OrderId, paymentId: fields.PaymentId };
      expect(await refund({ ...ids, amount: '1.00' })).toBe('B0100');
      await merchant.auth3d(fields);
      now = new Date('2026-06-05T09:00:00Z');
      expect(await refund({ ...ids, amount: '60.00' })).toBe('00');
      expect(simulator.ledger.refundedAmount(conversationId)).toBe('60.00');
    });

    it('is declined when the payment is unknown, not charged, of another order or in another currency', async () => {
      const paid = await pay();
      const other = await pay();
      const declined = await pay({ amount: '10.51' });
      expect(await refund({ orderId: paid.orderId, paymentId: '7000000099' })).toBe('B0100');
      expect(await refund({ orderId: other.orderId, paymentId: paid.paymentId })).toBe('B0101');
      expect(await refund({ orderId: 'ORD000000099', paymentId: paid.paymentId })).toBe('B0101');
      expect(await refund({ ...declined, amount: '10.51' })).toBe('B0028');
      expect(await refund({ ...paid, currency: '840' })).toBe('B0012');
      expect(await cancel({ paymentId: '7000000099' })).toBe('B0100');
      expect(await cancel({ paymentId: declined.paymentId })).toBe('B0028');
      expect(await cancel({ paymentId: paid.paymentId, currency: '840' })).toBe('B0012');
      expect(simulator.ledger.refunds).toEqual([]);
      expect(simulator.ledger.refundedTotal()).toBe('0.00');
      expect(simulator.ledger.refundedAmount(declined.saleId)).toBeNull();
      expect(simulator.ledger.violations).toEqual([]);
    });

    it('is refused with a conversationId that was used, and moves nothing', async () => {
      const { saleId, ...ids } = await pay();
      const waiting = newConversationId();
      await merchant.init3d({ conversationId: waiting });
      const refundId = newConversationId();
      expect(await refund({ ...ids, conversationId: refundId, amount: '1.00' })).toBe('00');
      const declinedId = newConversationId();
      expect(await refund({ ...ids, conversationId: declinedId, amount: '60.00' })).toBe('B0013');
      for (const conversationId of [saleId, waiting, refundId, declinedId]) {
        const response = await merchant.refund({ ...ids, conversationId, amount: '1.00' });
        expect([response.status, (await fieldsOf(response)).Code]).toEqual([400, REFUSAL_CODES.repeated]);
        const { Code } = await fieldsOf(merchant.void({ ...ids, conversationId }));
        expect(Code).toBe(REFUSAL_CODES.repeated);
      }
      for (const conversationId of [refundId, declinedId]) {
        expect((await fieldsOf(merchant.doPayment({ conversationId }))).Code).toBe(REFUSAL_CODES.repeated);
        expect((await fieldsOf(merchant.init3d({ conversationId }))).Code).toBe(REFUSAL_CODES.repeated);
      }
      expect(simulator.ledger.refundedAmount(saleId)).toBe('1.00');
      expect([simulator.ledger.refundedTimes(refundId), simulator.ledger.refundedTimes(declinedId)]).toEqual([1, 0]);
      expect(simulator.ledger.charges).toHaveLength(1);
      const repeated = simulator.ledger.violations.filter(({ kind }) => kind === 'repeated-call');
      expect(repeated.map(({ operation, conversationId }) => [operation, conversationId])).toEqual([
        ['refund', refundId],
        ['refund', declinedId],
      ]);
    });

    it('is forgotten on reset', async () => {
      const { saleId, ...ids } = await pay();
      const conversationId = newConversationId();
      await refund({ ...ids, conversationId });
      simulator.reset();
      expect(simulator.ledger.refunds).toEqual([]);
      expect(simulator.ledger.decision(conversationId)).toBeUndefined();
      expect(await refund(ids)).toBe('B0100');
      const again = await pay({ conversationId: saleId });
      expect(await refund({ ...again, conversationId })).toBe('00');
      expect(simulator.ledger.violations).toEqual([]);
    });
  });

  describe('a void', () => {
    it('gives back all, and is answered like a refund', async () => {
      const { saleId, orderId, paymentId } = await pay({ amount: '60.00' });
      const conversationId = newConversationId();
      expect(await fieldsOf(merchant.void({ conversationId, paymentId }))).toEqual({
        code: '00',
        message: 'Onaylandı',
        resultCode: '00',
        resultDescription: 'Onaylandı',
        responseDate: '05/03/2026 12:00:00',
        conversationId,
        orderId,
        paymentId,
        bankUniqueReferenceNumber: '606412000002',
      });
      expect(simulator.ledger.refunds).toMatchObject([{ conversationId, kind: 'void', amount: '60.00' }]);
      expect(simulator.ledger.refundedAmount(saleId)).toBe('60.00');
      expect(simulator.ledger.refundedTimes(conversationId)).toBe(1);
      expect(simulator.ledger.calls('void', conversationId)).toBe(1);
    });

    it('is declined after a refund, even of a part', async () => {
      const { saleId, ...ids } = await pay({ amount: '60.00' });
      await refund({ ...ids, amount: '0.01' });
      expect(await cancel(ids)).toBe('B0084');
      expect(simulator.ledger.refundedAmount(saleId)).toBe('0.01');
      expect(simulator.ledger.violations).toMatchObject([{ kind: 'excessive-refund', operation: 'void' }]);
    });

    it('happens once, and nothing is refunded after it', async () => {
      const { saleId, ...ids } = await pay({ amount: '60.00' });
      expect([await cancel(ids), await cancel(ids), await refund({ ...ids, amount: '0.01' })]).toEqual([
        '00',
        'B0084',
        'B0084',
      ]);
      expect(simulator.ledger.refundedAmount(saleId)).toBe('60.00');
    });

    it('is possible until midnight in Istanbul; after it, a refund is', async () => {
      const [first, second] = [await pay(), await pay()];
      now = LAST_SECOND;
      expect(await cancel(first)).toBe('00');
      now = MIDNIGHT;
      expect(await cancel(second)).toBe('B0021');
      expect(simulator.ledger.refundedAmount(second.saleId)).toBe('0.00');
      expect(simulator.ledger.violations).toEqual([]);
      expect(await refund(second)).toBe('00');
    });

    it('is declined on the same day of another year', async () => {
      const ids = await pay();
      now = new Date('2027-03-05T09:00:00Z');
      expect(await cancel(ids)).toBe('B0021');
    });
  });

  describe('amounts with a special answer', () => {
    const operations = ['refund', 'void'] as const;

    it('leave the sale approved', async () => {
      for (const { digits } of MAGIC_REFUNDS) {
        expect(await fieldsOf(merchant.doPayment({ amount: `10.${digits}` }))).toMatchObject({ code: 'B0000' });
      }
    });

    describe.each(operations)('%s', (operation) => {
      it.each(MAGIC_REFUNDS.filter(({ pace }) => pace !== 'never'))('plays xx.$digits: $meaning', async (magic) => {
        const amount = `10.${magic.digits}`;
        const { saleId, ...ids } = await pay({ amount });
        const conversationId = newConversationId();
        const answer = await fieldsOf(merchant[operation]({ ...ids, conversationId, amount }));
        expect(answer).toMatchObject({ code: magic.code, resultCode: magic.code });
        expect(answer.conversationId === conversationId).toBe(magic.wrong !== 'conversationId');
        expect(answer.paymentInfo).toEqual(magic.wrong === 'amount' ? { amount: 10.87 } : undefined);
        expect(simulator.ledger.refundedAmount(saleId)).toBe(magic.givesBack ? amount : '0.00');
      });

      it.each(MAGIC_REFUNDS.filter(({ pace }) => pace === 'never'))('plays xx.$digits: $meaning', async (magic) => {
        const { saleId, ...ids } = await pay({ amount: `10.${magic.digits}` });
        const conversationId = newConversationId();
        const text = { refund: merchant.refundText, void: merchant.voidText }[operation];
        const body = text.call(merchant, { ...ids, conversationId, amount: `10.${magic.digits}` });
        const client = new AbortController();
        const url = `${simulator.url}/v1/Payment/DoPayment`;
        const answer = fetch(url, { method: 'POST', headers: merchant.headers(), body, signal: client.signal });
        await until(() => simulator.ledger.calls(operation, conversationId) > 0);
        client.abort();
        await expect(answer).rejects.toThrow();
        expect(simulator.ledger.refundedTimes(conversationId)).toBe(magic.givesBack ? 1 : 0);
        expect(simulator.ledger.refundedAmount(saleId)).toBe(magic.givesBack ? `10.${magic.digits}` : '0.00');
      });
    });

    it('decide only what the charge covers', async () => {
      const ids = await pay({ amount: '10.00' });
      expect(await refund({ ...ids, amount: '10.82' })).toBe('B0013');
    });
  });

  describe('inquiry', () => {
    it('goes on to say that a sale was approved, after a refund or a void', async () => {
      const [refunded, voided] = [await pay({ amount: '60.00' }), await pay({ amount: '60.00' })];
      const before = await fieldsOf(merchant.checkPayment(refunded.saleId));
      expect([await refund({ ...refunded, amount: '60.00' }), await cancel(voided)]).toEqual(['00', '00']);
      expect(await fieldsOf(merchant.checkPayment(refunded.saleId))).toEqual(before);
      expect(await fieldsOf(merchant.checkPayment(voided.saleId))).toMatchObject({
        responseCode: 'B0000',
        transactionStatus: 'SUCCESS',
        transactionType: 'SALE',
        paymentInfo: { amount: 60 },
      });
    });

    it('does not know a refund by its own id, unless it is told to', async () => {
      const ids = await pay();
      const conversationId = newConversationId();
      await refund({ ...ids, conversationId });
      expect(await fieldsOf(merchant.checkPayment(conversationId))).toEqual({
        responseCode: 'B0029',
        responseDescription: 'Original not found',
      });
    });

    describe('that knows refunds', () => {
      beforeEach(async () => {
        await simulator.close();
        await start({ inquiryKnowsRefunds: true });
      });

      it('tells what was given back, and how', async () => {
        const [first, second] = [await pay({ amount: '60.00' }), await pay({ amount: '12.30' })];
        const [refundId, voidId] = [newConversationId(), newConversationId()];
        await refund({ ...first, conversationId: refundId, amount: '1.50' });
        await cancel({ ...second, conversationId: voidId });
        const response = await merchant.checkPayment(refundId);
        expect(await response.clone().text()).toContain('"amount":1.50');
        expect(await fieldsOf(response)).toEqual({
          responseCode: 'B0000',
          responseDescription: 'Approved',
          transactionStatus: 'SUCCESS',
          transactionType: 'REFUND',
          paymentInfo: { amount: 1.5, currency: '949' },
          orderId: first.orderId,
          paymentId: first.paymentId,
        });
        expect(await fieldsOf(merchant.checkPayment(voidId))).toMatchObject({
          responseCode: 'B0000',
          transactionStatus: 'SUCCESS',
          transactionType: 'VOID',
          paymentInfo: { amount: 12.3, currency: '949' },
          paymentId: second.paymentId,
        });
      });

      it.each(MAGIC_REFUNDS.filter(({ pace }) => pace !== 'never'))(
        'after xx.$digits ($meaning) tells $inquiry',
        async (magic) => {
          const conversationId = newConversationId();
          await refund({ ...(await pay()), conversationId, amount: `10.${magic.digits}` });
          const answer = await fieldsOf(merchant.checkPayment(conversationId));
          expect(answer.responseCode).toBe(magic.inquiry ?? 'B0029');
          expect(Boolean(answer.paymentInfo)).toBe(magic.givesBack);
        },
      );

      it('does not find a refund that was not asked for', async () => {
        expect(await fieldsOf(merchant.checkPayment(newConversationId()))).toMatchObject({ responseCode: 'B0029' });
      });
    });
  });

  describe('request checks', () => {
    let ids: TestRefund;
    beforeEach(async () => {
      ids = await pay({ amount: '60.00' });
    });
    afterEach(() => expect(simulator.ledger.refunds).toEqual([]));

    it.each<['refund' | 'void', string, Record<string, unknown>]>([
      ['refund', 'merchantId', { merchantId: '1' }],
      ['refund', 'language', { language: null }],
      ['refund', 'sign', { sign: '' }],
      ['refund', 'orderId', { orderId: null }],
      ['refund', 'paymentId', { paymentId: 7000000001 }],
      ['refund', 'transactionDetails.currencyCode', { transactionDetails: { currencyCode: 949 } }],
      ['refund', 'transactionDetails.currencyCode', { transactionDetails: { currencyCode: '48' } }],
      ['refund', 'transactionDetails.currencyCode', { transactionDetails: { currencyCode: '001' } }],
      ['refund', 'transactionDetails.amount', { transactionDetails: { amount: '1.00' } }],
      ['refund', 'transactionDetails.amount', { transactionDetails: { amount: 0 } }],
      ['refund', 'transactionDetails.amount', { transactionDetails: { amount: null } }],
      ['refund', 'transactionDetails.amount has more decimals', { transactionDetails: { amount: 1.005 } }],
      ['refund', 'transactionDetails.currency is not a field', { transactionDetails: { currency: '949' } }],
      ['refund', 'cardDetails is not a field', { cardDetails: {} }],
      ['void', 'paymentId', { paymentId: '' }],
      ['void', 'orderId is not a field', { orderId: 'ORD000000001' }],
      ['void', 'transactionDetails.currency', { transactionDetails: { currency: null } }],
      ['void', 'transactionDetails.currency', { transactionDetails: { currency: 949 } }],
      ['void', 'transactionDetails.amount is not a field', { transactionDetails: { amount: 60 } }],
    ])('refuse a %s with a wrong %s: %j', async (operation, problem, change) => {
      const response = await merchant[operation]({ ...ids, change });
      expect(response.status).toBe(400);
      const answer = await fieldsOf(response);
      expect(answer.Code).toBe(REFUSAL_CODES.fields);
      expect(JSON.stringify(answer.validationResults)).toContain(`"${problem}`);
    });

    it.each(['refund', 'void'] as const)(
      'want a good sign, a good id, good headers and the scope of a %s',
      async (name) => {
        const headers = merchant.headers();
        const { Code: unsigned } = await fieldsOf(merchant[name]({ ...ids, change: { sign: 'WRONG' } }));
        expect(unsigned).toBe(REFUSAL_CODES.sign);
        const { Code: badId } = await fieldsOf(merchant[name]({ ...ids, conversationId: 'short' }));
        expect(badId).toBe(REFUSAL_CODES.conversationId);
        const changes: Record<string, string>[] = [{ 'x-ClientSecret': 'wrong' }, { 'x-Scope': 'pf_read' }];
        for (const change of changes) {
          expect((await merchant[name](ids, { ...headers, ...change })).status).toBe(401);
        }
      },
    );

    it('sign the digits of the amount that were sent', async () => {
      const text = merchant.refundText({ ...ids, amount: '1.00' }).replace('1.00', '1.0');
      expect((await fieldsOf(merchant.post('DoPayment', text))).Code).toBe(REFUSAL_CODES.sign);
    });

    it.each(['refund', 'Void', 'REVERSAL'])('take a transactionType of %s for a sale', async (transactionType) => {
      const { validationResults } = await fieldsOf(
        merchant.refund({ ...ids, change: { transactionDetails: { transactionType } } }),
      );
      expect(JSON.stringify(validationResults)).toContain('cardDetails must be an object');
      expect(simulator.requests.at(-1)?.operation).toBe('DoPayment');
    });

    it('take both for a sale in the standard dialect', async () => {
      const standard = await startSimulator();
      const shop = new SimulatedMerchant(standard);
      for (const response of [await shop.refund(), await shop.void()]) {
        expect(response.status).toBe(400);
        expect(JSON.stringify(await fieldsOf(response))).toContain('cardDetails must be an object');
      }
      expect(standard.requests.map(({ operation }) => operation)).toEqual(['DoPayment', 'DoPayment']);
      await standard.close();
    });
  });
});

/** Makes a direct payment. @returns its ids */
async function pay(sale: TestSale = {}) {
  const { conversationId, orderId, paymentId } = await fieldsOf(merchant.doPayment(sale));
  return { saleId: conversationId as string, orderId: orderId as string, paymentId: paymentId as string };
}

/** @returns the code of the answer */
async function refund(asked: TestRefund): Promise<unknown> {
  return (await fieldsOf(merchant.refund(asked))).code;
}

async function cancel(asked: TestRefund): Promise<unknown> {
  return (await fieldsOf(merchant.void(asked))).code;
}
