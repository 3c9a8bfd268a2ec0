import { type Payment, type PaymentOptions, type PaymentService, standardDialect } from 'nestjs-card-payment';
import { DECLINED, type HeldRequest, LOST, NOT_FOUND, NOT_PAID, NOT_SENT, PAID, paid, reply } from './fake-gateway.js';
import type { Transmission } from '../../lib/gateway/transport/attempt.js';
import { logLines } from './log-lines.js';
import { isOver, sale, TestShop } from './test-shop.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

const HOUR_MS = 3_600_000;

describe('ThreeDPayments', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let shop: TestShop;
  let payments: PaymentService;

  beforeEach(async () => {
    shop = new TestShop();
    ({ payments } = await shop.start());
  });
  afterEach(() => shop.gateway.close());

  async function startPayment(service = payments, input = sale()): Promise<string> {
    return (await service.init3d(input)).conversationId;
  }

  /** The bank sends the buyer back. */
  function comeBack(conversationId: string, service = payments): Promise<Payment> {
    return service.auth3d({ conversationId, fields: { Code: 'B0000', conversationId } });
  }

  interface Held extends HeldRequest {
    readonly conversationId: string;
    readonly completing: Promise<Payment>;
  }

  /** A payment whose buyer has come back, and whose Auth3d, or the inquiry after it, is at the gateway. */
  async function holdCallback(operation: 'Auth3d' | 'CheckPayment' = 'Auth3d'): Promise<Held> {
    const conversationId = await startPayment();
    const held = shop.gateway.hold(operation);
    const completing = comeBack(conversationId);
    await held.begun;
    return { ...held, conversationId, completing };
  }

  async function startOther(): Promise<PaymentService> {
    return (await shop.start()).payments;
  }

  function stored(conversationId: string): Promise<PaymentRecord | null> {
    return shop.store.find('default', conversationId);
  }

  describe('init3d', () => {
    it('keeps its key, even if it turns out that money moved for the expired one that had it before', async () => {
      const input = sale({ idempotencyKey: 'basket' });
      const expired = await startPayment(payments, input);
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      expect(await stored(expired)).toMatchObject({ state: 'expired', idempotencyKey: null });
      const conversationId = await startPayment(payments, input);
      expect(await payments.inquire(expired)).toMatchObject({ state: 'review' });
      expect(await shop.store.findByIdempotencyKey('default', 'payment', 'basket')).toMatchObject({ conversationId });
    });

    // That of a page which comes too late is in test/scripts/expected/three-d.txt.
    it('leaves the payment expired if it expired before a decline came', async () => {
      const held = shop.gateway.hold('Init3d');
      const starting = payments.init3d(sale());
      await held.begun;
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      held.answer(DECLINED);
      await expect(starting).rejects.toMatchObject({ code: 'PAYMENT_INIT3D', payment: { state: 'expired' } });
    });
  });

  describe('auth3d', () => {
    it('gives a second call the outcome of the first, while it is under way and afterwards', async () => {
      const { conversationId, completing, answer } = await holdCallback();
      const again = comeBack(conversationId);
      expect(await isOver(again)).toBe(false);
      answer(shop.gateway.approval({ operation: 'Auth3d', conversationId }));
      const payment = await completing;
      expect(payment.state).toBe('succeeded');
      expect([await again, await comeBack(conversationId)]).toEqual([payment, payment]);
    });

    it('is sent once by two instances that are called at the same moment', async () => {
      const both = [payments, await startOther()];
      const conversationId = await startPayment();
      const shown = await Promise.all(both.map((service) => comeBack(conversationId, service)));
      expect(shown.map(({ state }) => state).sort()).toEqual(['authorizing', 'succeeded']);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });
  });

  describe('an Auth3d that could not be sent', () => {
    it.each<[string, timeoutMs: number, tries: number]>([
      ['every two seconds for ten seconds within one deadline', 60_000, 5],
      ['only in the first half of a short deadline, to leave time for the answer', 5_000, 2],
    ])('is retried %s, after which the payment has failed', async (_when, deadlineMs, tries) => {
      const { payments } = await shop.start({ timeoutMs: deadlineMs });
      const conversationId = await startPayment(payments);
      await shop.clock.advance(60_000);
      const began = shop.clock.monotonic();
      const tried: number[][] = [];
      const refuse = (_request: unknown, timeoutMs: number) => {
        tried.push([shop.clock.monotonic() - began, timeoutMs]);
        return NOT_SENT;
      };
      shop.gateway.willAnswer('Auth3d', ...Array.from({ length: 20 }, () => refuse));
      const completing = comeBack(conversationId, payments);
      for (let seconds = 0; seconds < 2 * tries; seconds += 1) await shop.clock.advance(1_000);
      expect(await isOver(completing)).toBe(true);
      expect(await completing).toMatchObject({ state: 'failed', reason: 'not_sent' });
      const times = Array.from({ length: tries }, (_, index) => index * 2_000);
      expect(tried).toEqual(times.map((time) => [time, deadlineMs - time]));
    });

    it('is not retried after a try that took ten seconds', async () => {
      const { completing, answer } = await holdCallback();
      await shop.clock.advance(10_000);
      answer(NOT_SENT);
      expect(await isOver(completing)).toBe(true);
      expect(await completing).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });
  });

  describe('a payment whose approval by Auth3d is not bound to it', () => {
    const UNBOUND_APPROVAL = reply({ code: 'B0000', authCode: '004512', orderId: 'o-auth3d', message: 'Onaylandı' });
    const UNBOUND = { state: 'unknown', reason: 'unbound', code: 'B0000', settled: false };
    const SUCCEEDED = { state: 'succeeded', reason: null };
    const FAILED = { state: 'failed', reason: 'declined' };
    const REVIEW = { state: 'review', reason: 'amount_mismatch' };
    type Answer = Transmission | ((id: string) => Transmission);

    /** @param answer of the inquiries: at once, in the background eighteen seconds later, and at a call ten minutes later */
    async function complete(answer: Answer, authorized: Answer = UNBOUND_APPROVAL): Promise<Payment> {
      const conversationId = await startPayment();
      const inquired = typeof answer === 'function' ? answer(conversationId) : answer;
      shop.gateway.willAnswer('Auth3d', typeof authorized === 'function' ? authorized(conversationId) : authorized);
      shop.gateway.willAnswer('CheckPayment', inquired, inquired, inquired);
      const payment = await comeBack(conversationId);
      expect(await payments.find(conversationId)).toEqual(payment);
      expect(shop.gateway.requests.map(({ operation }) => operation).slice(0, 2)).toEqual(['Init3d', 'Auth3d']);
      return payment;
    }

    // Which answers are bound to the payment is in test/gateway/readings/expected/answers.txt.
    it.each<[string, Answer, atOnce: object, later: object]>([
      ['with its amount', paid({ amount: 149.9 }), SUCCEEDED, SUCCEEDED],
      ['with its conversationId', (conversationId) => paid({ conversationId }), SUCCEEDED, SUCCEEDED],
      ['with another amount', paid({ amount: 1 }), REVIEW, REVIEW],
      ['declined', NOT_PAID, UNBOUND, FAILED],
      ['not found', NOT_FOUND, UNBOUND, UNBOUND],
      ['not at all', LOST, UNBOUND, UNBOUND],
      ['with what may be about any payment', PAID, UNBOUND, UNBOUND],
    ])('is asked about at once and, if that says nothing, later: answered %s', async (_how, answer, atOnce, later) => {
      const { conversationId, ...payment } = await complete(answer);
      expect(payment).toMatchObject(atOnce);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
      if (atOnce === UNBOUND) {
        expect(payment).toMatchObject({ chargedAmount: null, orderId: 'o-auth3d' });
        const { dueAt } = (await stored(conversationId))!;
        expect(dueAt!.getTime() - shop.clock.now().getTime()).toBeLessThanOrEqual(18_000);
      }
      await shop.clock.advance(18_000);
      await payments.reconcile();
      expect(await payments.find(conversationId)).toMatchObject(later);
      await shop.clock.advance(600_000);
      expect(await payments.inquire(conversationId)).toMatchObject(later);
      if (later !== UNBOUND) return;
      // An answer that names it.
      await shop.clock.advance(2_000);
      expect(await payments.inquire(conversationId)).toMatchObject(SUCCEEDED);
    });

    it.each<[string, Answer, object]>([
      ['no details of the answer that may be of another', UNBOUND_APPROVAL, { authCode: null }],
      [
        'the details of an answer that has its conversationId alone',
        (conversationId) => reply({ code: 'B0000', conversationId, authCode: '004512', orderId: 'o-auth3d' }),
        { authCode: '004512' },
      ],
    ])('succeeds with one event and %s', async (_what, authorized, details) => {
      const inquired = paid({ amount: 149.9, orderId: 'o-inquiry' });
      const { conversationId, ...payment } = await complete(inquired, authorized);
      expect(payment).toMatchObject({ ...SUCCEEDED, version: 4, chargedAmount: '149.9' });
      expect(payment).toMatchObject({ orderId: 'o-inquiry', paymentId: null, ...details });
      expect(shop.gateway.sent('CheckPayment')).toMatchObject([{ conversationId }]);
      await payments.reconcile();
      expect(shop.journal).toEqual([`${conversationId}:4 succeeded`]);
    });

    it('is not settled by an inquiry that was made while Auth3d was under way', async () => {
      const { conversationId, completing, answer } = await holdCallback();
      shop.gateway.willAnswer('CheckPayment', PAID, NOT_FOUND);
      expect((await payments.inquire(conversationId)).state).toBe('authorizing');
      answer(UNBOUND_APPROVAL);
      expect(await completing).toMatchObject(UNBOUND);
    });

    it('is stored as unknown before the inquiry if the claim could expire meanwhile', async () => {
      const { conversationId, completing, answer } = await holdCallback();
      await shop.clock.advance(30_001);
      const inquiry = shop.gateway.hold('CheckPayment');
      answer(UNBOUND_APPROVAL);
      await inquiry.begun;
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      // Another instance inquires as well, and the answer is not bound to the payment either.
      await shop.clock.advance(300_000);
      shop.gateway.willAnswer('CheckPayment', PAID);
      await (await startOther()).reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      inquiry.answer(paid({ conversationId, amount: 149.9 }));
      expect(await completing).toMatchObject({ state: 'succeeded', orderId: 'o-auth3d' });
      // The inquiry did not repeat that id, which may be another payment's.
      expect(await stored(conversationId)).toMatchObject({ isUnproven: true });
    });

    it('goes to review by the answer to the inquiry even if the claim expired and an operator decided meanwhile', async () => {
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      const { conversationId, completing, answer } = await holdCallback('CheckPayment');
      const other = await startOther();
      await shop.clock.advance(100_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      await other.reconcile();
      await other.resolve(conversationId, 'failed', 'not in the panel', { force: true });
      answer(paid({ conversationId }));
      expect(await completing).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    });

    it('is unknown as unbound even if it was interrupted meanwhile', async () => {
      const { conversationId, completing, answer } = await holdCallback();
      await shop.clock.advance(300_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      await payments.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'interrupted' });
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      answer(UNBOUND_APPROVAL);
      expect(await completing).toMatchObject(UNBOUND);
      expect((await stored(conversationId))?.dueAt).toBeInstanceOf(Date);
      await shop.clock.advance(600_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      expect((await payments.inquire(conversationId)).state).toBe('unknown');
    });

    it.each([{}, { dialect: standardDialect({ signer: () => 's' }) }])(
      'succeeds without an inquiry with trustUnbound',
      async (options) => {
        const { payments } = await shop.start({ trustUnbound: true, ...options });
        shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
        expect(await comeBack(await startPayment(payments), payments)).toMatchObject(SUCCEEDED);
        expect(shop.gateway.sent('CheckPayment')).toEqual([]);
      },
    );
  });

  describe('beforeAuth3d', () => {
    async function complete(beforeAuth3d: PaymentOptions['beforeAuth3d'], seconds = 0): Promise<Payment> {
      const { payments } = await shop.start({ beforeAuth3d });
      const completing = comeBack(await startPayment(payments), payments);
      if (seconds > 0) {
        await shop.clock.advance(seconds * 1_000 - 1);
        expect(await isOver(completing)).toBe(false);
        await shop.clock.advance(1);
        expect(await isOver(completing)).toBe(true);
      }
      return completing;
    }

    it('lets the payment continue if it returns true, and is called once with the payment', async () => {
      const calls: Payment[] = [];
      const payment = await complete((shown) => (calls.push(shown), Promise.resolve(true)));
      expect(payment.state).toBe('succeeded');
      expect(calls).toMatchObject([{ conversationId: payment.conversationId, state: 'awaiting' }]);
    });

    const CARD = '4508034508034509';
    const fail = (): never => {
      throw new Error(`card ${CARD}`);
    };
    const hang = (): Promise<never> => new Promise(() => undefined);

    it.each<[string, answer: () => unknown, did: string | null, thrown?: string | null, seconds?: number]>([
      ['returns false', () => false, null],
      ['resolves to false', () => Promise.resolve(false), null],
      ['throws', fail, 'threw', 'Error: card'],
      ['rejects', () => Promise.reject(new Error(`card ${CARD}`)), 'threw', 'Error: card'],
      ['returns nothing', () => undefined, 'returned neither true nor false'],
      ['returns null', () => null, 'returned neither true nor false'],
      ['takes longer than twenty seconds', hang, 'gave no answer in 20 seconds', null, 20],
    ])('stops the payment if it %s', async (...row) => {
      const [, answer, did, thrown = null, seconds] = row;
      const payment = await complete(answer as () => boolean, seconds);
      expect(payment).toMatchObject({ state: 'failed', reason: 'vetoed' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
      expect(log.join()).not.toContain(CARD);
      const { conversationId, reference } = payment;
      const index = log.findIndex((line) => line.includes('beforeAuth3d'));
      if (did === null) return expect(index).toBe(-1);
      const start = `error Payment ${conversationId}: beforeAuth3d ${did}, which counts as no; nothing was sent`;
      const line = log[index] ?? '';
      if (thrown === null) expect(line).toBe(`${start}.`);
      else
        expect([line.startsWith(`${start}: ${thrown}, at `), /three-d\.spec\.ts(?:\?\d+)?:\d+:\d+/.test(line)]).toEqual(
          [true, true],
        );
      const error = thrown === null ? {} : { error: thrown };
      expect(records[index]).toMatchObject({ conversationId, reference, account: 'default', ...error });
    });
  });
});
