import { MemoryPaymentStore, type Payment, PaymentStoreError, type Refund } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import { type GiveBack, GIVE_BACKS, REFUND_AMOUNT, SALE_AMOUNT, Shop } from './shop.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

const DOWN = /^(insert|replace|find)/;

let simulator: Simulator;
let shop: Shop;
let payment: Payment;
/** What becomes of calls of the store. */
let handle: (call: StoreCall) => Promise<unknown>;

const soundly = (call: StoreCall): Promise<unknown> => call.proceed();
const downly = (call: StoreCall): Promise<unknown> => (DOWN.test(call.method) ? broken() : call.proceed());
const broken = (): Promise<never> => Promise.reject(new Error('the store is down'));

describe('refund store', () => {
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    handle = soundly;
    const store = interceptCalls(new MemoryPaymentStore(), (call) => handle(call));
    shop = await Shop.open(simulator, { store });
    payment = await shop.paid();
  });
  afterEach(async () => {
    handle = soundly;
    await shop.close();
    await simulator.close();
  });

  const sent = (kind: GiveBack): number => simulator.ledger.calls(kind);
  const isOpening = ({ method, args }: StoreCall): boolean =>
    method === 'insert' && (args[0] as PaymentRecord).state === 'refunding';

  /** Nothing was sent, and the whole payment can still be given back. */
  async function expectFree(kind: GiveBack, idempotencyKey: string): Promise<void> {
    const { conversationId } = payment;
    expect([sent(kind), simulator.ledger.refunds]).toEqual([0, []]);
    const before = await shop.payments.refunds(conversationId);
    expect(before.map(({ state, reason }) => [state, reason])).toEqual(before.map(() => ['failed', 'not_sent']));
    expect(await shop.payments.refundTotals(conversationId)).toMatchObject({ open: '0.00', refundable: SALE_AMOUNT });
    expect((await shop.giveBack(kind, payment, { idempotencyKey })).refund.state).toBe('succeeded');
    expect([sent(kind), simulator.ledger.violations]).toEqual([1, []]);
  }

  /**
   * Asks for a refund whose opening does not come through in time, so that the call throws.
   * @returns what writes the opening after all
   */
  async function giveUpOpening(ask: () => Promise<unknown>): Promise<() => Promise<unknown>> {
    let land: () => Promise<unknown> = () => Promise.resolve();
    handle = (call) => {
      if (!isOpening(call)) return call.proceed();
      land = call.proceed;
      return broken();
    };
    await expect(ask()).rejects.toThrow(PaymentStoreError);
    return () => land();
  }

  describe.each(GIVE_BACKS)('%s', (kind) => {
    const idempotencyKey = 'the key of the page';
    const ask = (): Promise<{ refund: Refund }> => shop.giveBack(kind, payment, { idempotencyKey });

    it('throws and sends nothing when the store is down before it', async () => {
      handle = downly;
      await expect(ask()).rejects.toThrow(PaymentStoreError);
      handle = soundly;
      await shop.payments.reconcile();
      await expectFree(kind, idempotencyKey);
    });

    it('throws and sends nothing when the opening was written and the word of it is lost', async () => {
      handle = async (call) => {
        const answer = await call.proceed();
        return isOpening(call) ? broken() : answer;
      };
      await expect(ask()).rejects.toThrow(PaymentStoreError);
      handle = soundly;
      await shop.payments.reconcile();
      expect(await shop.payments.refunds(payment.conversationId)).toHaveLength(1);
      await expectFree(kind, idempotencyKey);
    });

    it('throws and sends nothing when the opening is written after it was given up', async () => {
      const land = await giveUpOpening(ask);
      handle = soundly;
      await shop.payments.reconcile();
      await land();
      await expectFree(kind, idempotencyKey);
    });

    it('is fenced when the opening is written before the store can be asked again', async () => {
      const land = await giveUpOpening(ask);
      await land();
      handle = soundly;
      await shop.payments.reconcile();
      await expectFree(kind, idempotencyKey);
    });

    it('throws, sends nothing and tells no handler when what was given back cannot be read again under the lock', async () => {
      let isOpened = false;
      const events: unknown[] = [];
      handle = async (call) => {
        if (isOpened && call.method === 'findRefunds') return broken();
        isOpened ||= isOpening(call);
        if (call.method === 'replace') events.push(call.args[2]);
        return call.proceed();
      };
      await expect(ask()).rejects.toThrow(PaymentStoreError);
      // The caller has the answer: a handler of refund.failed would take it for that of another refund.
      expect(events).toEqual([undefined]);
      handle = soundly;
      await expectFree(kind, idempotencyKey);
    });

    it('throws and sends nothing when the store is down from the opening on, and is ended later', async () => {
      let isOpened = false;
      handle = async (call) => {
        if (isOpened) return downly(call);
        isOpened = isOpening(call);
        return call.proceed();
      };
      await expect(ask()).rejects.toThrow(PaymentStoreError);
      handle = soundly;
      expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
      await expectFree(kind, idempotencyKey);
    });

    it.each(['down', 'hanging'] as const)(
      'returns the outcome and writes it later when the store is %s after sending',
      async (state) => {
        const fault = simulator.fail({ operation: kind, at: 'before', kind: 'stall' });
        const asking = ask();
        await fault.played;
        handle = (call) =>
          DOWN.test(call.method) && state === 'hanging' ? new Promise(() => undefined) : downly(call);
        fault.release();
        const { refund } = await asking;
        expect([refund.state, refund.stored]).toEqual(['succeeded', false]);

        handle = soundly;
        const amount = kind === 'void' ? SALE_AMOUNT : REFUND_AMOUNT;
        expect(await shop.payments.refundTotals(payment.conversationId)).toMatchObject({ open: amount });
        await expect(shop.giveBack('refund', payment)).rejects.toMatchObject({ reason: 'in_progress' });
        expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
        const { refundId, code } = refund;
        const written = { refundId, code, state: 'succeeded', stored: true };
        expect(await shop.payments.refunds(payment.conversationId)).toMatchObject([written]);
        expect((await ask()).refund).toMatchObject(written);
        expect([sent(kind), simulator.ledger.violations]).toEqual([1, []]);
        expect(simulator.ledger.refundedAmount(payment.conversationId)).toBe(amount);
      },
    );
  });

  it('recordRefund throws when the store is down, and is recorded once when it is asked again', async () => {
    const { conversationId } = payment;
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
