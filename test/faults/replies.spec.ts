import { MemoryPaymentStore, type Payment, type PaymentReason, type Refund } from 'nestjs-card-payment';
import { type FaultMoment, type FaultPlay, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { ODD } from '../rigs/odd-answers.js';
import { CASES } from './reply-rows.js';
import {
  amountOf,
  type Attempt,
  GIVE_BACKS,
  goodEndOf,
  isGiveBack,
  isRefund,
  MOVES,
  type Operation,
  Shop,
  startErrorOf,
  STARTS,
  type Subject,
} from './shop.js';

let simulator: Simulator;
/** No case waits for its limits, unless what it tests is broken. */
let longLimits: Shop;
/** For faults that only the deadline ends. */
let shortLimits: Shop;

/** @param inquiryKnowsRefunds whether a real gateway's inquiry finds refunds by their own ids is not known (unverified) */
async function openShops(inquiryKnowsRefunds: boolean): Promise<void> {
  const store = new MemoryPaymentStore();
  simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds });
  longLimits = await Shop.open(simulator, { store, timeoutMs: 15_000, verifySign: true });
  shortLimits = await Shop.open(simulator, { store, timeoutMs: 400, verifySign: true });
}

async function closeShops(): Promise<void> {
  await longLimits.close();
  await shortLimits.close();
  await simulator.close();
}

describe('replies', () => {
  beforeAll(() => openShops(true));
  afterEach(() => simulator.reset());
  afterAll(closeShops);

  describe.each(MOVES)('%s', (operation) => {
    // The answers to refunds have no sign.
    const cases = CASES.filter(({ charge: [, reason] }) => !(isGiveBack(operation) && reason === 'sign_mismatch'));

    it.each(cases)('$name: $charge.0, $charge.1', async ({ play, at, charge: [state, reason] }) => {
      const { record, subject, shop } = await meet(operation, at, play);
      const hasMoved = at === 'after';
      expect([record.state, record.reason]).toEqual([state, reason]);
      expect(shop.moved(record)).toBe(hasMoved ? 1 : 0);
      await expectHeldOrFree(shop, subject, record);

      // An inquiry settles what the answer left open, when the gateway knows of it; otherwise it stays unknown.
      if (state !== 'unknown') return;
      expect((await shop.inquire(record)).state).toBe(hasMoved ? 'succeeded' : 'unknown');
      expectOneTransmission(operation, record);
    });
  });

  describe('B0000 to Auth3d that does not name the payment', () => {
    let asking: Shop;
    beforeAll(async () => {
      asking = await Shop.open(simulator, { timeoutMs: 400 });
    });
    afterAll(() => asking.close());
    beforeEach(() => simulator.fail({ operation: 'Auth3d', ...ODD['bare-code'] }));

    // That an inquiry confirms it at once is in test/e2e/unbound-approvals.spec.ts.
    it.each<[string, FaultPlay]>([
      ['reset', { kind: 'reset' }],
      ['stalled', { kind: 'stall' }],
      ['half an answer', { kind: 'half-reply' }],
      ['502', { kind: 'status', status: 502 }],
      ['401, as where the scope does not suffice', { kind: 'status', status: 401 }],
      ['HTML', ODD.html],
    ])('stays unknown when the inquiry is met by %s, and is settled by the next', async (_fault, play) => {
      simulator.fail({ operation: 'CheckPayment', ...play });
      const { record } = await asking.call(await asking.prepare('Auth3d'));
      expect([record.state, record.reason]).toEqual(['unknown', 'unbound']);
      expect(await asking.kept(record)).toEqual([record]);
      expect((await asking.inquire(record)).state).toBe('succeeded');
      expectOneTransmission('Auth3d', record);
    });
  });

  describe.each(STARTS)('%s', (operation) => {
    it.each(CASES.filter(({ begin }) => begin !== undefined))('$name: $begin', async ({ play, at, begin }) => {
      await expectStart(await meet(operation, at, play), begin ?? null);
    });

    async function expectStart({ record, thrown, page, subject, shop }: Met, reason: PaymentReason | null) {
      expect([record.state, record.reason, thrown, page !== null]).toEqual(
        reason === null ? [goodEndOf(operation), null, null, true] : ['failed', reason, startErrorOf(operation), false],
      );
      expect(simulator.ledger.charges).toEqual([]);
      // The order is free again.
      if (reason !== null) expect((await shop.call(subject)).record.state).toBe(goodEndOf(operation));
    }
  });

  it.each(['page-not-base64', 'page-not-html', 'page-missing', 'page-twice'] as const)('Init3d: %s', async (name) => {
    const { record, thrown, page } = await meet('Init3d', 'after', ODD[name]);
    expect([record.state, record.reason, thrown, page]).toEqual(['failed', 'unreadable', 'PaymentInit3dError', null]);
  });
});

describe.each(GIVE_BACKS)('%s, where inquiries know no refunds,', (operation) => {
  beforeAll(() => openShops(false));
  afterEach(() => simulator.reset());
  afterAll(closeShops);

  it.each<[string, FaultMoment, FaultPlay]>([
    ['no answer', 'before', { kind: 'reset' }],
    ['no answer', 'after', { kind: 'reset' }],
    ['503', 'after', { kind: 'status', status: 503 }],
    ['an unheard-of code', 'after', ODD['unheard-of-code']],
    ['HTML', 'after', ODD.html],
  ])('stays unknown after %s, %s the work, until a person settles it', async (_fault, at, play) => {
    const { record, shop } = await meet(operation, at, play);
    const { payments } = shop;
    for (let times = 0; times < 3; times += 1) expect((await shop.inquire(record)).state).toBe('unknown');
    const truth = shop.moved(record) === 1 ? 'succeeded' : 'failed';
    expect((await payments.resolveRefund((record as Refund).refundId, truth, 'seen in the panel')).state).toBe(truth);
    const { refunded } = await payments.refundTotals(record.conversationId);
    expect(Number(refunded)).toBe(Number(simulator.ledger.refundedAmount(record.conversationId)));
    expectOneTransmission(operation, record);
  });
});

interface Met extends Attempt {
  readonly subject: Subject;
  readonly shop: Shop;
}

/** Calls the operation, whose request meets the fault. */
async function meet(operation: Operation, at: FaultMoment, play: FaultPlay): Promise<Met> {
  const shop = play.kind === 'stall' ? shortLimits : longLimits;
  const subject = await longLimits.prepare(operation);
  simulator.fail({ operation, at, ...play });
  const attempt = await shop.call(subject);
  const { record, thrown } = attempt;
  expect(await shop.kept(record)).toEqual([record]);
  if (isGiveBack(operation)) {
    expect([thrown, record]).toMatchObject([null, { kind: operation, stored: true }]);
    expect(await shop.payments.find(record.conversationId)).toEqual(subject.payment);
  }
  expectOneTransmission(operation, record);
  return { ...attempt, subject, shop };
}

/** Nothing else is sent of the order, or of the payment, while money may have moved; and nothing is in the way if not. */
async function expectHeldOrFree(shop: Shop, subject: Subject, record: Payment | Refund): Promise<void> {
  const { operation } = subject;
  const { ledger } = simulator;
  const again = isGiveBack(operation) ? subject : { ...subject, operation: 'DoPayment' as const };
  if (record.state === 'failed') {
    expect((await shop.call(again)).record.state).toBe('succeeded');
    if (isRefund(record)) expect(ledger.refundedAmount(record.conversationId)).toBe(amountOf(operation));
    expect(ledger.violations).toEqual([]);
  } else if (record.state !== 'succeeded') {
    const sent = simulator.requests.length;
    const code = isRefund(record) ? 'PAYMENT_REFUND' : 'PAYMENT_DUPLICATE';
    await expect(shop.call(isRefund(record) ? { ...subject, operation: 'refund' } : again)).rejects.toMatchObject({
      code,
    });
    expect(simulator.requests).toHaveLength(sent);
    // It counts as given.
    const counted = { refunded: '0.00', open: amountOf(operation) };
    if (isRefund(record)) expect(await shop.payments.refundTotals(record.conversationId)).toMatchObject(counted);
  }
}

function expectOneTransmission(operation: Operation, record: Payment | Refund): void {
  const { ledger } = simulator;
  expect([ledger.calls(operation), ledger.violations]).toEqual([1, []]);
  expect(longLimits.moved(record)).toBeLessThanOrEqual(1);
}
