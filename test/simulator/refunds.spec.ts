import {
  MAGIC_AMOUNTS,
  MAGIC_REFUNDS,
  startSimulator,
  type RefundOperation,
  type Simulator,
} from '../../lib/simulator/index.js';
import { type Asked, fieldsOf, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

const NOON = new Date('2026-03-05T09:00:00Z');
const LAST_SECOND = new Date('2026-03-05T20:59:59Z');
const MIDNIGHT = new Date('2026-03-05T21:00:00Z');
const BACK = ['refund', 'void'] as const;

let simulator: Simulator;
let merchant: SimulatedMerchant;
let now: Date;

async function start(inquiryKnowsRefunds = false): Promise<void> {
  now = NOON;
  simulator = await startSimulator({ dialect: 'morpos', slowMs: 1, clock: () => now, inquiryKnowsRefunds });
  merchant = new SimulatedMerchant(simulator, () => now);
}

describe('refunds', () => {
  beforeEach(() => start());
  afterEach(() => simulator.close());

  it.each<[RefundOperation, string]>([
    ['refund', '1.00'],
    ['void', '60.00'],
  ])('a %s is answered as the public documentation shows it', async (kind, amount) => {
    now = new Date('2026-03-05T12:09:09Z');
    const { saleId, orderId, paymentId } = await pay();
    const conversationId = newConversationId();
    const response = await merchant.send(kind, { conversationId, orderId, paymentId, amount });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      '{"code":"00","message":"Onaylandı","resultCode":"00","resultDescription":"Onaylandı",' +
        `"responseDate":"05/03/2026 15:09:09","conversationId":"${conversationId}","orderId":"ORD000000001",` +
        '"paymentId":"7000000001","bankUniqueReferenceNumber":"606415000002"}',
    );
    const { ledger } = simulator;
    const [charge] = ledger.charges;
    expect(ledger.refunds).toEqual([{ conversationId, kind, charge, amount, currencyCode: 949, at: now }]);
    expect(charge?.conversationId).toBe(saleId);
    expect(ledger.refundedAmount(saleId)).toBe(amount);
    expect([ledger.refundedTimes(conversationId), ledger.calls(kind, conversationId)]).toEqual([1, 1]);
    expect(ledger.calls('DoPayment')).toBe(1);
  });

  it.each([
    ['60.00', '949', ['20.00', '39.99', '0.01']],
    ['0.30', '949', ['0.1', '0.20']],
    ['9007199254740993.15', '949', ['9007199254740993.14', '0.01']],
    ['1.005', '48', ['1.004', '0.001']],
    ['500', '392', ['499', '1']],
  ])('%s in %s can be given back in parts, to the last minor unit', async (amount, number, parts) => {
    const { saleId, ...ids } = await pay({ amount, currency: number });
    const back = { ...ids, currency: number.padStart(3, '0') };
    for (const part of parts) expect(await code('refund', { ...back, amount: part })).toBe('00');
    const { ledger } = simulator;
    expect([ledger.refundedAmount(saleId), ledger.refundedTotal(Number(number))]).toEqual([amount, amount]);
    // Each currency is summed on its own.
    expect([ledger.total(), ledger.refundedTotal()]).toEqual(number === '949' ? [amount, amount] : ['0.00', '0.00']);
    expect(ledger.violations).toEqual([]);

    expect(await code('refund', { ...back, amount: parts.at(-1) })).toBe('B0013');
    expect(ledger.refundedAmount(saleId)).toBe(amount);
    expect(ledger.violations).toMatchObject([{ kind: 'excessive-refund', operation: 'refund' }]);
  });

  const HALF = `10.${MAGIC_AMOUNTS.find(({ charged }) => charged === 'half')!.digits}`;

  /** What is asked for of one payment, one after the other: a refund, or a void where there is no amount. */
  it.each<{ rule: string; sale: string; steps: [amount: string | null, code: string][]; refunded: string | null }>([
    {
      rule: 'more than is left moves nothing, and what is left can still be refunded',
      sale: '60.00',
      steps: [
        ['60.01', 'B0013'],
        ['40.00', '00'],
        ['20.01', 'B0013'],
        ['20.00', '00'],
      ],
      refunded: '60.00',
    },
    {
      rule: 'what was taken counts, when that was less than the amount',
      sale: HALF,
      steps: [
        ['5.16', 'B0013'],
        ['5.15', '00'],
      ],
      refunded: '5.15',
    },
    {
      rule: 'there is no void after a refund, even of a part',
      sale: '60.00',
      steps: [
        ['0.01', '00'],
        [null, 'B0084'],
      ],
      refunded: '0.01',
    },
    {
      rule: 'there is one void, and no refund after it',
      sale: '60.00',
      steps: [
        [null, '00'],
        [null, 'B0084'],
        ['0.01', 'B0084'],
      ],
      refunded: '60.00',
    },
    {
      rule: 'a special amount decides only what the charge covers',
      sale: '10.00',
      steps: [['10.82', 'B0013']],
      refunded: '0.00',
    },
    {
      rule: 'a sale that was declined took nothing',
      sale: '10.51',
      steps: [
        ['10.51', 'B0028'],
        [null, 'B0028'],
      ],
      refunded: null,
    },
  ])('$rule', async ({ sale, steps, refunded }) => {
    const { saleId, ...ids } = await pay({ amount: sale });
    for (const [amount, expected] of steps) {
      const answered = amount === null ? code('void', ids) : code('refund', { ...ids, amount });
      expect([amount, await answered]).toEqual([amount, expected]);
    }
    expect(simulator.ledger.refundedAmount(saleId)).toBe(refunded);
    const excessive = steps.filter(([, expected]) => expected === 'B0013' || expected === 'B0084');
    expect(simulator.ledger.violations).toMatchObject(
      excessive.map(([amount]) => ({ kind: 'excessive-refund', operation: amount === null ? 'void' : 'refund' })),
    );
  });

  it('are declined when the payment is unknown, of another order or in another currency', async () => {
    const paid = await pay();
    const other = await pay();
    expect(await code('refund', { orderId: paid.orderId, paymentId: '7000000099' })).toBe('B0100');
    expect(await code('refund', { orderId: other.orderId, paymentId: paid.paymentId })).toBe('B0101');
    expect(await code('refund', { orderId: 'ORD000000099', paymentId: paid.paymentId })).toBe('B0101');
    expect(await code('void', { paymentId: '7000000099' })).toBe('B0100');
    for (const kind of BACK) expect(await code(kind, { ...paid, currency: '840' })).toBe('B0012');
    const { ledger } = simulator;
    expect([ledger.refunds, ledger.refundedTotal(), ledger.violations]).toEqual([[], '0.00', []]);
  });

  it('can be of a 3D payment once it is completed, on any later day', async () => {
    const conversationId = newConversationId();
    await merchant.send('Init3d', { conversationId });
    const { fields } = simulator.approve(conversationId);
    const ids = { orderId: fields.OrderId, paymentId: fields.PaymentId };
    expect(await code('refund', { ...ids, amount: '1.00' })).toBe('B0100');
    await merchant.auth3d(fields);
    now = new Date('2026-06-05T09:00:00Z');
    expect(await code('refund', ids)).toBe('00');
    expect(simulator.ledger.refundedAmount(conversationId)).toBe('60.00');
  });

  it.each([
    [LAST_SECOND, '00'],
    [MIDNIGHT, 'B0021'],
    [new Date('2027-03-05T09:00:00Z'), 'B0021'],
  ])('a void is possible until midnight in Istanbul; after it, a refund is (%j: %s)', async (at, expected) => {
    const { saleId, ...ids } = await pay();
    now = at;
    expect(await code('void', ids)).toBe(expected);
    if (expected === '00') return;
    expect(simulator.ledger.refundedAmount(saleId)).toBe('0.00');
    expect(simulator.ledger.violations).toEqual([]);
    expect(await code('refund', ids)).toBe('00');
  });

  it('are forgotten on reset', async () => {
    const { saleId, ...ids } = await pay();
    const conversationId = newConversationId();
    await code('refund', { ...ids, conversationId });
    simulator.reset();
    expect(simulator.ledger.refunds).toEqual([]);
    expect(simulator.ledger.decision(conversationId)).toBeUndefined();
    expect(await code('refund', ids)).toBe('B0100');
    const again = await pay({ conversationId: saleId });
    expect(await code('refund', { ...again, conversationId })).toBe('00');
    expect(simulator.ledger.violations).toEqual([]);
  });

  describe.each(BACK)('a %s', (kind) => {
    it.each(MAGIC_REFUNDS)('plays xx.$digits: $meaning', async (magic) => {
      const amount = `10.${magic.digits}`;
      // The sale is approved.
      const { saleId, ...ids } = await pay({ amount });
      const conversationId = newConversationId();
      const answer = await merchant.played(kind, { ...ids, conversationId, amount }, magic.pace);
      if (magic.pace === 'never') expect(answer).toBeNull();
      else {
        expect(answer).toMatchObject({ code: magic.code, resultCode: magic.code });
        expect(answer?.conversationId).toBe(conversationId);
        expect(answer?.paymentInfo).toBeUndefined();
      }
      const { ledger } = simulator;
      expect(ledger.refundedTimes(conversationId)).toBe(magic.givesBack ? 1 : 0);
      expect(ledger.refundedAmount(saleId)).toBe(magic.givesBack ? amount : '0.00');
    });
  });

  it('an inquiry goes on to say that a sale was approved, and knows no refund by its own id', async () => {
    for (const kind of BACK) {
      const { saleId, ...ids } = await pay();
      const conversationId = newConversationId();
      const before = await merchant.ask('CheckPayment', { conversationId: saleId });
      expect(before).toMatchObject({ responseCode: 'B0000', transactionType: 'SALE', paymentInfo: { amount: 60 } });
      expect(await code(kind, { ...ids, conversationId })).toBe('00');
      expect(await merchant.ask('CheckPayment', { conversationId: saleId })).toEqual(before);
      const unknown = { responseCode: 'B0029', responseDescription: 'Original not found' };
      expect(await merchant.ask('CheckPayment', { conversationId })).toEqual(unknown);
    }
  });

  describe('an inquiry that knows refunds', () => {
    beforeEach(async () => {
      await simulator.close();
      await start(true);
    });

    it.each<[RefundOperation, string, string]>([
      ['refund', '1.50', '"amount":1.50'],
      ['void', '12.30', '"amount":12.30'],
    ])('tells what a %s gave back, and how', async (kind, amount, digits) => {
      const { orderId, paymentId } = await pay({ amount: '12.30' });
      const conversationId = newConversationId();
      await code(kind, { orderId, paymentId, conversationId, amount });
      const response = await merchant.send('CheckPayment', { conversationId });
      expect(await response.clone().text()).toContain(digits);
      expect(await fieldsOf(response)).toEqual({
        responseCode: 'B0000',
        responseDescription: 'Approved',
        transactionStatus: 'SUCCESS',
        transactionType: kind.toUpperCase(),
        paymentInfo: { amount: Number(amount), currency: '949' },
        orderId,
        paymentId,
      });
    });

    it.each(MAGIC_REFUNDS.filter(({ pace }) => pace !== 'never'))(
      'after xx.$digits ($meaning) tells $inquiry',
      async (magic) => {
        const conversationId = newConversationId();
        await code('refund', { ...(await pay()), conversationId, amount: `10.${magic.digits}` });
        const answer = await merchant.ask('CheckPayment', { conversationId });
        expect(answer.responseCode).toBe(magic.inquiry ?? 'B0029');
        expect(Boolean(answer.paymentInfo)).toBe(magic.givesBack);
      },
    );

    it('does not find a refund that was not asked for', async () => {
      const asked = { conversationId: newConversationId() };
      expect(await merchant.ask('CheckPayment', asked)).toMatchObject({ responseCode: 'B0029' });
    });
  });
});

/** Makes a direct payment. @returns its ids */
async function pay(sale: Asked = {}) {
  const { conversationId, orderId, paymentId } = await merchant.ask('DoPayment', sale);
  return { saleId: conversationId as string, orderId: orderId as string, paymentId: paymentId as string };
}

async function code(kind: RefundOperation, asked: Asked): Promise<unknown> {
  return (await merchant.ask(kind, asked)).code;
}
