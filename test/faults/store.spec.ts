import { MemoryPaymentStore, type Payment, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import {
  amountOf,
  GIVE_BACKS,
  goodEndOf,
  isGiveBack,
  isRefund,
  MOVES,
  type Operation,
  OPERATIONS,
  REFUND_AMOUNT,
  SALE_AMOUNT,
  Shop,
  type Subject,
} from './shop.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

const DOWN = /^(insert|replace|find)/;
const MORE = { idempotencyKey: 'the key of the page' };

type Handle = (call: StoreCall) => Promise<unknown>;

let simulator: Simulator;
let shop: Shop;
/** What becomes of calls of the store. */
let handle: Handle;

const soundly: Handle = (call) => call.proceed();
const broken = (): Promise<never> => Promise.reject(new Error('the store is down'));
const downly: Handle = (call) => (DOWN.test(call.method) ? broken() : call.proceed());
const hanging: Handle = (call) => (DOWN.test(call.method) ? new Promise(() => undefined) : call.proceed());

/** The write before sending: the opening, or the claim of an Auth3d. */
function isOpening({ method, args }: StoreCall): boolean {
  return method === 'insert' || (method === 'replace' && (args[0] as PaymentRecord).state === 'authorizing');
}

describe('store', () => {
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    handle = soundly;
    const store = interceptCalls(new MemoryPaymentStore(), (call) => handle(call));
    shop = await Shop.open(simulator, { store });
  });
  afterEach(async () => {
    handle = soundly;
    await shop.close();
    await simulator.close();
  });

  /** The call throws, and nothing of it was sent. */
  async function expectRefused(subject: Subject): Promise<void> {
    const { length } = simulator.requests;
    await expect(shop.call(subject, MORE)).rejects.toThrow(PaymentStoreError);
    expect(simulator.requests).toHaveLength(length);
  }

  /** Nothing was sent, and the same can be asked for again, which is sent once. */
  async function expectFree(subject: Subject): Promise<void> {
    const { operation, payment, order } = subject;
    expect(simulator.ledger.calls(operation)).toBe(0);
    const { conversationId = '' } = payment ?? {};
    const left = isGiveBack(operation)
      ? await shop.payments.refunds(conversationId)
      : (await shop.payments.findByReference(order.reference!)).filter((one) => one.conversationId !== conversationId);
    expect(left.map(({ state, reason }) => [state, reason])).toEqual(left.map(() => ['failed', 'not_sent']));
    const refundable = { open: '0.00', refundable: SALE_AMOUNT };
    if (isGiveBack(operation)) expect(await shop.payments.refundTotals(conversationId)).toMatchObject(refundable);
    const { record } = await shop.call(subject, MORE);
    expect(record.state).toBe(goodEndOf(operation));
    expect([simulator.ledger.calls(operation), simulator.ledger.violations]).toEqual([1, []]);
  }

  describe.each(OPERATIONS)('%s throws and sends nothing', (operation) => {
    it('when the store is down before it', async () => {
      const subject = await shop.prepare(operation);
      handle = downly;
      await expectRefused(subject);
      handle = soundly;
      await shop.payments.reconcile();
      await expectFree(subject);
    });

    it.each([
      ['was written, and the word of it is lost', 'before'],
      ['is written before the store can be asked again', 'meanwhile'],
      ['is written after it was given up', 'after'],
    ])('when its opening or claim %s', async (_what, when) => {
      const subject = await shop.prepare(operation);
      let land: () => Promise<unknown> = () => Promise.resolve();
      handle = async (call) => {
        if (!isOpening(call)) return call.proceed();
        land = call.proceed;
        if (when === 'before') await land();
        return broken();
      };
      await expectRefused(subject);
      if (when === 'meanwhile') await land();
      handle = soundly;
      await shop.payments.reconcile();
      if (when === 'after') await land();
      if (isGiveBack(operation) && when === 'before')
        expect(await shop.payments.refunds(subject.payment!.conversationId)).toHaveLength(1);
      await expectFree(subject);
    });
  });

  describe.each(GIVE_BACKS)('%s throws, sends nothing', (operation) => {
    it('and tells no handler when what was given back cannot be read again under the lock', async () => {
      const subject = await shop.prepare(operation);
      let isOpened = false;
      const events: unknown[] = [];
      handle = async (call) => {
        if (isOpened && call.method === 'findRefunds') return broken();
        isOpened ||= isOpening(call);
        if (call.method === 'replace') events.push(call.args[2]);
        return call.proceed();
      };
      await expectRefused(subject);
      // The caller has the answer: a handler of refund.failed would take it for that of another refund.
      expect(events).toEqual([undefined]);
      handle = soundly;
      await expectFree(subject);
    });

    it('and is ended later when the store is down from the opening on', async () => {
      const subject = await shop.prepare(operation);
      let isOpened = false;
      handle = async (call) => {
        if (isOpened) return downly(call);
        isOpened = isOpening(call);
        return call.proceed();
      };
      await expectRefused(subject);
      handle = soundly;
      expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
      await expectFree(subject);
    });
  });

  describe.each(MOVES)('%s returns the outcome, and writes it later,', (operation) => {
    it.each([
      ['down', downly],
      ['hanging', hanging],
    ])('when the store is %s after sending', async (_how, failing) => {
      const subject = await shop.prepare(operation);
      const { record } = await failMeanwhile(operation, failing, () => shop.call(subject, MORE));
      expect([record.state, record.stored]).toEqual(['succeeded', false]);

      handle = soundly;
      const { conversationId } = record;
      const amount = amountOf(operation);
      if (isRefund(record)) {
        expect(await shop.payments.refundTotals(conversationId)).toMatchObject({ open: amount });
        const more = shop.call({ ...subject, operation: 'refund' });
        await expect(more).rejects.toMatchObject({ reason: 'in_progress' });
      }
      expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
      const { state, code } = record;
      const written = { state, code, stored: true, ...(isRefund(record) && { refundId: record.refundId }) };
      expect(await shop.kept(record)).toMatchObject([written]);
      if (isRefund(record)) {
        expect((await shop.call(subject, MORE)).record).toMatchObject(written);
        expect(simulator.ledger.refundedAmount(conversationId)).toBe(amount);
      }
      expect([simulator.ledger.calls(operation), simulator.ledger.violations]).toEqual([1, []]);
    });
  });

  it('Init3d throws when the store is down after sending: the buyer is not sent to the bank, and no money can move', async () => {
    const subject = await shop.prepare('Init3d');
    await expect(failMeanwhile('Init3d', downly, () => shop.call(subject))).rejects.toThrow(PaymentStoreError);
    handle = soundly;
    const [payment] = await shop.payments.findByReference(subject.order.reference!);
    expect(payment?.state).toBe('initiating');
    await expect(shop.complete((payment as Payment).conversationId)).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    expect(simulator.ledger.calls('Auth3d')).toBe(0);
  });

  it('recordRefund throws when the store is down, and is recorded once when it is asked again', async () => {
    const { conversationId } = await shop.paid();
    const input = {
      conversationId,
      amount: REFUND_AMOUNT,
      idempotencyKey: 'from the panel',
      note: 'made in the panel',
    };
    handle = downly;
    await expect(shop.payments.recordRefund(input)).rejects.toThrow(PaymentStoreError);
    handle = soundly;
    await shop.payments.reconcile();
    await shop.payments.recordRefund(input);
    await shop.payments.recordRefund(input);
    expect(await shop.payments.refundTotals(conversationId)).toMatchObject({ refunded: REFUND_AMOUNT });
    expect(simulator.requests.filter(({ operation }) => operation !== 'DoPayment')).toEqual([]);
  });
});

/** The store fails while the gateway works. */
async function failMeanwhile<T>(operation: Operation, failing: Handle, run: () => Promise<T>): Promise<T> {
  const fault = simulator.fail({ operation, at: 'before', kind: 'stall' });
  const call = run();
  await fault.played;
  handle = failing;
  fault.release();
  return call;
}
