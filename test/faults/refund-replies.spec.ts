import { MemoryPaymentStore, PaymentRefundError } from 'nestjs-card-payment';
import { type FaultMoment, type FaultPlay, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { ODD } from '../rigs/odd-answers.js';
import { CASES } from './reply-rows.js';
import { type GiveBack, GIVE_BACKS, REFUND_AMOUNT, type RefundAttempt, SALE_AMOUNT, Shop } from './shop.js';

/** The answers to refunds have no sign, so none is verified here. */
const REFUND_CASES = CASES.filter(({ charge: [, reason] }) => reason !== 'sign_mismatch');
const DECLINED = JSON.stringify({ code: 'B0013', message: 'Invalid amount', resultCode: 'B0013' });

let simulator: Simulator;
let patient: Shop;
/** For faults that only the deadline ends. */
let hurried: Shop;
/** Whether a real gateway's inquiry finds refunds by their own ids is not known (unverified). */
let inquiryKnowsRefunds: boolean;

async function openShops(knowsRefunds: boolean): Promise<void> {
  inquiryKnowsRefunds = knowsRefunds;
  const store = new MemoryPaymentStore();
  simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds });
  patient = await Shop.open(simulator, { store, timeoutMs: 60_000 });
  hurried = await Shop.open(simulator, { store, timeoutMs: 400 });
}

async function closeShops(): Promise<void> {
  await patient.close();
  await hurried.close();
  await simulator.close();
}

describe('refund replies', () => {
  afterEach(() => simulator.reset());

  const amountOf = (kind: GiveBack): string => (kind === 'void' ? SALE_AMOUNT : REFUND_AMOUNT);

  describe.each(GIVE_BACKS)('%s', (kind) => {
    beforeAll(() => openShops(true));
    afterAll(closeShops);

    it.each(REFUND_CASES)('$name: $charge.0, $charge.1', async ({ play, at, charge: [state, reason] }) => {
      const attempt = await meet(kind, at, play);
      const { refund, shop } = attempt;
      const { conversationId, refundId } = refund;
      const isGivenBack = at === 'after';
      expect([refund.state, refund.reason]).toEqual([state, reason]);
      expect(simulator.ledger.refundedTimes(refundId)).toBe(isGivenBack ? 1 : 0);
      if (state === 'unknown' || state === 'review') {
        // It counts as given, and nothing else is sent of this payment.
        const totals = await shop.payments.refundTotals(conversationId);
        expect(totals).toMatchObject({ refunded: '0.00', open: amountOf(kind) });
        await expect(shop.giveBack('refund', refund)).rejects.toThrow(PaymentRefundError);
        expectOneTransmission(kind, attempt);
      }
      if (state === 'failed') {
        expect((await shop.giveBack(kind, refund)).refund.state).toBe('succeeded');
        const { ledger } = simulator;
        expect([ledger.refundedAmount(conversationId), ledger.violations]).toEqual([amountOf(kind), []]);
      }

      // An inquiry that approves the refund's own id settles what the answer left open; nothing else does.
      if (state !== 'unknown') return;
      expect((await shop.payments.inquireRefund(refundId)).state).toBe(isGivenBack ? 'succeeded' : 'unknown');
      expectOneTransmission(kind, attempt);
    });

    it('is failed when the gateway declines it, and can be asked for again', async () => {
      const { refund, shop } = await meet(kind, 'before', { kind: 'reply', status: 200, body: DECLINED });
      expect([refund.state, refund.reason, refund.code]).toEqual(['failed', 'declined', 'B0013']);
      expect((await shop.giveBack(kind, refund)).refund.state).toBe('succeeded');
    });
  });

  describe.each(GIVE_BACKS)('%s, where inquiries know no refunds,', (kind) => {
    beforeAll(() => openShops(false));
    afterAll(closeShops);

    it.each<[string, FaultMoment, FaultPlay]>([
      ['no answer', 'before', { kind: 'reset' }],
      ['no answer', 'after', { kind: 'reset' }],
      ['503', 'after', { kind: 'status', status: 503 }],
      ['an unheard-of code', 'after', ODD['unheard-of-code']],
      ['HTML', 'after', ODD.html],
    ])('stays unknown after %s, %s the work, until a person settles it', async (_fault, at, play) => {
      const attempt = await meet(kind, at, play);
      const { refundId, conversationId } = attempt.refund;
      const { payments } = attempt.shop;
      for (let times = 0; times < 3; times += 1) {
        expect((await payments.inquireRefund(refundId)).state).toBe('unknown');
      }
      const truth = simulator.ledger.refundedTimes(refundId) === 1 ? 'succeeded' : 'failed';
      expect((await payments.resolveRefund(refundId, truth, 'seen in the panel')).state).toBe(truth);
      const { refunded } = await payments.refundTotals(conversationId);
      expect(Number(refunded)).toBe(Number(simulator.ledger.refundedAmount(conversationId)));
      expectOneTransmission(kind, attempt);
    });
  });
});

/** Gives money back of a new payment, in a request that meets the fault. */
async function meet(
  kind: GiveBack,
  at: FaultMoment,
  play: FaultPlay,
): Promise<RefundAttempt & { readonly shop: Shop }> {
  const shop = play.kind === 'stall' ? hurried : patient;
  const payment = await patient.paid();
  simulator.fail({ operation: kind, at, ...play });
  const attempt = await shop.giveBack(kind, payment);
  expect(attempt).toMatchObject({ thrown: null, refund: { kind, stored: true } });
  expect(await shop.payments.refunds(payment.conversationId)).toEqual([attempt.refund]);
  expect(await shop.payments.find(payment.conversationId)).toEqual(payment);
  expectOneTransmission(kind, attempt);
  return { ...attempt, shop };
}

function expectOneTransmission(kind: GiveBack, { refund }: RefundAttempt): void {
  const { ledger } = simulator;
  expect([ledger.calls(kind), ledger.violations]).toEqual([1, []]);
  expect(ledger.refundedTimes(refund.refundId)).toBeLessThanOrEqual(1);
}
