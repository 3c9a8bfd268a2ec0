import { createHash } from 'node:crypto';
import { type Payment, type PaymentOptions, type PaymentService, standardDialect } from 'nestjs-card-payment';
import { DECLINED, LOST, NOT_FOUND, NOT_PAID, NOT_SENT, PAID, paid, reply, UNDECIDED } from './fake-gateway.js';
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

  function stored(conversationId: string): Promise<PaymentRecord | null> {
    return shop.store.find('default', conversationId);
  }

  function idOf({ conversationId }: Payment): Pick<Payment, 'conversationId'> {
    return { conversationId };
  }

  describe('init3d', () => {
    it('returns the page of the bank, and stores neither the page nor the token', async () => {
      const { html, content, expiresAt, payment } = await payments.init3d(sale());
      expect(html).toBe('<html><body>bank</body></html>');
      expect(Buffer.from(content, 'base64').toString()).toBe(html);
      expect(payment).toMatchObject({ state: 'awaiting', kind: '3d', settled: false });
      expect(expiresAt.getTime() - shop.clock.now().getTime()).toBe(HOUR_MS);

      const { returnUrl, failUrl } = shop.gateway.sent('Init3d')[0]!.fields;
      const [, token] = /^https:\/\/shop\.example\/payments\/([\w-]+)\/return$/.exec(String(returnUrl))!;
      expect(failUrl).toBe(`https://shop.example/payments/${token}/fail`);
      const record = await stored(payment.conversationId);
      expect(record?.tokenHash).toBe(createHash('sha256').update(token!).digest('hex'));
      const kept = JSON.stringify([record, await shop.store.history('default', payment.conversationId)]);
      expect(kept).not.toContain(token);
      expect(kept).not.toContain(html);
      expect(kept).not.toContain(content);
    });

    it('expires the session after sessionTtlMs', async () => {
      const { payments } = await shop.start({ sessionTtlMs: 90_000 });
      const { conversationId, expiresAt } = await payments.init3d(sale());
      expect(expiresAt).toEqual(new Date(shop.clock.now().getTime() + 90_000));
      expect(await stored(conversationId)).toMatchObject({ expiresAt, dueAt: expiresAt });
    });

    it('creates no token if the return URLs have no placeholder for it', async () => {
      const urls = { returnUrl: 'https://shop.example/back', failUrl: 'https://shop.example/back' };
      const conversationId = await startPayment(payments, sale(urls));
      expect((await stored(conversationId))?.tokenHash).toBeNull();
      const { state } = await payments.auth3d(callbackOf(conversationId));
      expect(state).toBe('succeeded');
    });

    it.each(['returnUrl', 'failUrl'])('creates a token if the host gives only the %s', async (own) => {
      const conversationId = await startPayment(payments, sale({ [own]: 'https://shop.example/back' }));
      expect((await stored(conversationId))?.tokenHash).toMatch(/^[0-9a-f]{64}$/);
    });

    it.each([
      ['declined', DECLINED, { state: 'failed', reason: 'declined', code: 'B0051' }],
      ['refused', reply({ code: 'B0003' }, 401), { state: 'failed', reason: 'refused' }],
      ['not answered', LOST, { state: 'failed', reason: 'no_answer' }],
      ['answered without a page', reply({ code: 'B0000' }), { state: 'failed', reason: 'unreadable' }],
    ])(
      'that is %s fails, since no money can move, and may be retried under the same key',
      async (_how, answer, failed) => {
        shop.gateway.willAnswer('Init3d', answer);
        const input = sale({ idempotencyKey: 'basket' });
        await expect(payments.init3d(input)).rejects.toMatchObject({ code: 'PAYMENT_INIT3D', payment: failed });
        expect(await payments.findByReference(input.reference!)).toMatchObject([failed]);
        const { payment } = await payments.init3d(input);
        expect(payment.state).toBe('awaiting');
        expect(await shop.store.findByIdempotencyKey('default', 'payment', 'basket')).toMatchObject(idOf(payment));
      },
    );

    it('that was never sent throws PAYMENT_NOT_SENT, and may be retried under the same key', async () => {
      shop.gateway.willAnswer('Init3d', NOT_SENT);
      const input = sale({ idempotencyKey: 'basket' });
      await expect(payments.init3d(input)).rejects.toMatchObject({
        code: 'PAYMENT_NOT_SENT',
        payment: { state: 'failed', reason: 'not_sent' },
      });
      expect((await payments.init3d(input)).payment.state).toBe('awaiting');
    });

    it('may be retried under the same key if the payment ended before Auth3d: expired, vetoed, or order paid', async () => {
      const { payments } = await shop.start({ beforeAuth3d: ({ reference }) => reference !== 'vetoed' });
      const input = (reference: string) => sale({ reference, idempotencyKey: reference });
      const ids = new Map<string, string>();
      for (const order of ['expired', 'vetoed', 'paid']) ids.set(order, await startPayment(payments, input(order)));
      await payments.doPayment(sale({ reference: 'paid' }));
      await payments.auth3d(callbackOf(ids.get('vetoed')!));
      await payments.auth3d(callbackOf(ids.get('paid')!));
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      const ends = await Promise.all([...ids.values()].map((id) => stored(id)));
      expect(ends.map((record) => [record?.state, record?.reason, record?.idempotencyKey])).toEqual([
        ['expired', null, null],
        ['failed', 'vetoed', null],
        ['failed', 'reference_taken', null],
      ]);
      // The new payment keeps the key, even if it turns out that money moved for the expired one.
      const again = await payments.init3d(input('expired'));
      expect(await payments.inquire(ids.get('expired')!)).toMatchObject({ state: 'review' });
      expect(await shop.store.findByIdempotencyKey('default', 'payment', 'expired')).toMatchObject(idOf(again.payment));
    });

    it('may not be retried under the same key after Auth3d was sent, whatever its outcome', async () => {
      for (const [key, answer] of [
        ['declined', DECLINED],
        ['lost', LOST],
        ['refused', reply({}, 401)],
      ] as const) {
        const conversationId = await startPayment(payments, sale({ idempotencyKey: key }));
        shop.gateway.willAnswer('Auth3d', answer);
        await payments.auth3d(callbackOf(conversationId));
        expect(await shop.store.findByIdempotencyKey('default', 'payment', key)).toMatchObject({ conversationId });
      }
    });

    it.each(['conversationId', 'idempotencyKey'] as const)(
      'is refused with a %s that another payment has',
      async (key) => {
        const input = sale({ [key]: 'ABC00000000000000009' });
        const { payment } = await payments.init3d(input);
        await expect(payments.init3d(input)).rejects.toMatchObject({
          code: 'PAYMENT_DUPLICATE',
          message: expect.stringContaining(key) as string,
          payment,
        });
        expect(shop.gateway.requests).toHaveLength(1);
      },
    );

    it('records and sends nothing for an order that is already paid', async () => {
      const order = sale();
      const paid = await payments.doPayment(order);
      await expect(payments.init3d({ ...order, idempotencyKey: 'second' })).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        key: 'reference',
        payment: paid,
      });
      expect(shop.gateway.sent('Init3d')).toEqual([]);
      expect(await payments.findByReference(order.reference!)).toEqual([paid]);
      expect((await payments.init3d({ ...order, allowRepeat: true })).payment.state).toBe('awaiting');
    });

    it('is sent for an order whose other payments failed or allowed a repeat', async () => {
      const order = sale();
      shop.gateway.willAnswer('DoPayment', DECLINED);
      await payments.doPayment(order);
      await payments.doPayment({ ...order, allowRepeat: true });
      expect((await payments.init3d(order)).payment.state).toBe('awaiting');
    });

    it.each([
      ['the page', reply({ code: 'B0000', htmlForm: 'PGh0bWw+PC9odG1sPg==' })],
      ['a decline', DECLINED],
    ])('leaves the payment expired if it expired before %s came', async (_what, answer) => {
      const held = shop.gateway.hold('Init3d');
      const starting = payments.init3d(sale());
      await held.begun;
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      held.answer(answer);
      await expect(starting).rejects.toMatchObject({ code: 'PAYMENT_INIT3D', payment: { state: 'expired' } });
    });

    it('throws PAYMENT_STORE if the store reports a key as taken that no payment has', async () => {
      shop.store.insert = () => Promise.resolve('idempotencyKey');
      await expect(payments.init3d(sale())).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: expect.stringContaining('while opening the payment') as string,
      });
      expect(shop.gateway.requests).toEqual([]);
    });
  });

  describe('auth3d', () => {
    it('claims the payment in the store before it sends Auth3d, and returns the outcome', async () => {
      const conversationId = await startPayment();
      let seen: PaymentRecord | null = null;
      shop.gateway.willAnswer('Auth3d', async () => ((seen = await stored(conversationId)), DECLINED));
      const payment = await payments.auth3d(callbackOf(conversationId));
      expect(seen).toMatchObject({ state: 'authorizing', dueAt: expect.any(Date) });
      expect(payment).toMatchObject({ state: 'failed', reason: 'declined', code: 'B0051' });
      expect(shop.gateway.sent('Auth3d')).toMatchObject([callbackOf(conversationId)]);
    });

    it('sends one Auth3d however often it is called, and every call returns the outcome', async () => {
      const conversationId = await startPayment();
      const copies = Array.from({ length: 10 }, () => payments.auth3d(callbackOf(conversationId)));
      const states = (await Promise.all(copies)).map(({ state }) => state);
      expect(new Set(states)).toEqual(new Set(['succeeded']));
      expect((await payments.auth3d(callbackOf(conversationId))).state).toBe('succeeded');
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('sends one Auth3d from two instances, and the second returns the payment as authorizing', async () => {
      const other = (await shop.start()).payments;
      const conversationId = await startPayment();
      const held = shop.gateway.hold('Auth3d');
      const first = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      expect((await other.auth3d(callbackOf(conversationId))).state).toBe('authorizing');
      held.answer(shop.gateway.approval({ operation: 'Auth3d', conversationId }));
      expect((await first).state).toBe('succeeded');
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('sends one Auth3d when two instances are called at the same moment', async () => {
      const other = (await shop.start()).payments;
      const conversationId = await startPayment();
      const both = await Promise.all([payments, other].map((service) => service.auth3d(callbackOf(conversationId))));
      expect(both.map(({ state }) => state).sort()).toEqual(['authorizing', 'succeeded']);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('refuses a forged callback, and completes the payment with the genuine one at the same time', async () => {
      const conversationId = await startPayment();
      const forged = { conversationId, fields: { conversationId: 'ANOTHER' } };
      const [wrong, right] = await Promise.allSettled([
        payments.auth3d(forged),
        payments.auth3d(callbackOf(conversationId)),
      ]);
      expect(wrong).toMatchObject({ status: 'rejected', reason: { refusal: 'foreign_payment' } });
      expect(right).toMatchObject({ value: { state: 'succeeded' } });
    });

    it('sends nothing for a callback after the session has expired', async () => {
      const conversationId = await startPayment();
      await shop.clock.advance(HOUR_MS);
      expect((await payments.auth3d(callbackOf(conversationId))).state).toBe('expired');
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });

    it('returns the payment as expired from both instances after the session has expired', async () => {
      const other = (await shop.start()).payments;
      const conversationId = await startPayment();
      await shop.clock.advance(HOUR_MS);
      const both = await Promise.all([payments, other].map((service) => service.auth3d(callbackOf(conversationId))));
      expect(both.map(({ state }) => state)).toEqual(['expired', 'expired']);
    });

    it('leaves the payment unknown if Auth3d gets no answer, and does not inquire at once', async () => {
      const conversationId = await startPayment();
      shop.gateway.willAnswer('Auth3d', LOST);
      const payment = await payments.auth3d(callbackOf(conversationId));
      expect(payment).toMatchObject({ state: 'unknown', reason: 'no_answer' });
      expect(shop.gateway.sent('CheckPayment')).toEqual([]);
    });

    it('sends nothing if another payment has paid the order', async () => {
      const order = sale();
      const conversationId = await startPayment(payments, order);
      await payments.doPayment(order);
      const payment = await payments.auth3d(callbackOf(conversationId));
      expect(payment).toMatchObject({ state: 'failed', reason: 'reference_taken' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });

    it('is claimed once more if whoever held the order has let go of it in between', async () => {
      const order = sale();
      const conversationId = await startPayment(payments, order);
      const held = shop.gateway.hold('DoPayment');
      const other = payments.doPayment(order);
      await held.begun;
      const { store } = shop;
      const look = store.findByReferenceLock.bind(store);
      store.findByReferenceLock = async (...given) => {
        held.answer(DECLINED);
        await other;
        return look(...given);
      };
      expect(await payments.auth3d(callbackOf(conversationId))).toMatchObject({ state: 'succeeded' });
    });

    it('refuses a direct payment, and a 3D payment whose Init3d is still unanswered', async () => {
      const direct = await payments.doPayment(sale());
      const held = shop.gateway.hold('Init3d');
      const starting = payments.init3d(sale({ conversationId: 'ABC00000000000000009' }));
      await held.begun;
      for (const conversationId of [direct.conversationId, 'ABC00000000000000009']) {
        await expect(payments.auth3d(callbackOf(conversationId))).rejects.toMatchObject({
          code: 'PAYMENT_STATE',
          message: expect.stringContaining('cannot be completed by Auth3d') as string,
        });
      }
      held.answer(LOST);
      await expect(starting).rejects.toMatchObject({ code: 'PAYMENT_INIT3D' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });
  });

  describe('an Auth3d that could not be sent', () => {
    /** The time of each try, in milliseconds since the first, with its timeout. */
    async function tries(options: PaymentOptions, seconds: number): Promise<[tried: number[][], payment: unknown]> {
      const { payments } = await shop.start(options);
      const conversationId = await startPayment(payments);
      const began = shop.clock.monotonic();
      const tried: number[][] = [];
      const refuse = (_request: unknown, timeoutMs: number) => {
        tried.push([shop.clock.monotonic() - began, timeoutMs]);
        return NOT_SENT;
      };
      shop.gateway.willAnswer('Auth3d', ...Array.from({ length: 20 }, () => refuse));
      const completing = payments.auth3d(callbackOf(conversationId));
      for (let passed = 0; passed < seconds; passed += 1) await shop.clock.advance(1_000);
      return [tried, (await isOver(completing)) ? await completing : 'still tried'];
    }

    it('is retried every two seconds for ten seconds within one deadline, after which the payment has failed', async () => {
      const [tried, payment] = await tries({}, 30);
      expect(tried).toEqual([
        [0, 60_000],
        [2_000, 58_000],
        [4_000, 56_000],
        [6_000, 54_000],
        [8_000, 52_000],
      ]);
      expect(payment).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });

    it('is retried only in the first half of a short deadline, to leave time for the answer', async () => {
      const [tried, payment] = await tries({ timeoutMs: 5_000 }, 10);
      expect(tried).toEqual([
        [0, 5_000],
        [2_000, 3_000],
      ]);
      expect(payment).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });

    it('is not retried after a try that took ten seconds', async () => {
      const conversationId = await startPayment();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      await shop.clock.advance(10_000);
      held.answer(NOT_SENT);
      expect(await isOver(completing)).toBe(true);
      expect(await completing).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });

    it('succeeds with a later try', async () => {
      const conversationId = await startPayment();
      shop.gateway.willAnswer('Auth3d', NOT_SENT);
      const completing = payments.auth3d(callbackOf(conversationId));
      await shop.clock.advance(2_000);
      expect((await completing).state).toBe('succeeded');
    });

    it('is not tried if its answer could come after the claim has expired', async () => {
      const conversationId = await startPayment();
      const { store, clock } = shop;
      const replace = store.replace.bind(store);
      store.replace = async (record, ...given) => {
        const outcome = await replace(record, ...given);
        const claim = record.state === 'authorizing' ? record.dueAt!.getTime() - clock.now().getTime() : 0;
        // The gateway may take a minute.
        if (claim > 0) await clock.advance(claim - 60_000 + 1);
        return outcome;
      };
      expect(await payments.auth3d(callbackOf(conversationId))).toMatchObject({
        state: 'failed',
        reason: 'not_sent',
      });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });
  });

  describe('a payment whose approval by Auth3d is not bound to it', () => {
    const UNBOUND_APPROVAL = reply({ code: 'B0000', authCode: '004512', orderId: 'o-auth3d', message: 'Onaylandı' });
    const UNKNOWN_UNBOUND = { state: 'unknown', reason: 'unbound', code: 'B0000', settled: false };

    async function complete(...answers: Transmission[]): Promise<Payment> {
      const conversationId = await startPayment();
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      shop.gateway.willAnswer('CheckPayment', ...answers);
      const payment = await payments.auth3d(callbackOf(conversationId));
      expect(await payments.find(conversationId)).toEqual(payment);
      expect(shop.gateway.requests.map(({ operation }) => operation).slice(0, 2)).toEqual(['Init3d', 'Auth3d']);
      return payment;
    }

    it('succeeds when an inquiry confirms it at once, with one event and no details of the answer that may be of another', async () => {
      const payment = await complete(paid({ amount: 149.9, orderId: 'o-inquiry' }));
      expect(payment).toMatchObject({ state: 'succeeded', reason: null, version: 4, chargedAmount: '149.9' });
      expect(payment).toMatchObject({ authCode: null, orderId: 'o-inquiry', paymentId: null });
      expect(shop.gateway.sent('CheckPayment')).toMatchObject([{ conversationId: payment.conversationId }]);
      await payments.reconcile();
      expect(shop.journal).toEqual([`${payment.conversationId}:4 succeeded`]);
    });

    it.each([
      ['declined', NOT_PAID],
      ['not found', NOT_FOUND],
      ['undecided', UNDECIDED],
      ['paid for another payment', paid({ conversationId: 'ANOTHER' })],
    ])('is unknown when the inquiry says %s, and is inquired about again', async (_what, answer) => {
      const payment = await complete(answer);
      expect(payment).toMatchObject({ ...UNKNOWN_UNBOUND, chargedAmount: null, orderId: 'o-auth3d' });
      const dueAt = (await stored(payment.conversationId))!.dueAt!;
      expect(dueAt.getTime() - shop.clock.now().getTime()).toBeLessThanOrEqual(18_000);
      await shop.clock.advance(18_000);
      await payments.reconcile();
      expect(await payments.find(payment.conversationId)).toMatchObject({ state: 'succeeded', reason: null });
    });

    it.each([
      ['gives no answer', LOST],
      ['cannot be reached', NOT_SENT],
    ])('is unknown when the gateway %s', async (_what, answer) => {
      expect(await complete(answer)).toMatchObject(UNKNOWN_UNBOUND);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('goes to review when the gateway says that it was paid with another amount', async () => {
      const payment = await complete(paid({ amount: 1 }));
      expect(payment).toMatchObject({ state: 'review', reason: 'amount_mismatch' });
    });

    it('fails when a later inquiry says declined, but not when it says not found', async () => {
      const declined = await complete(UNDECIDED);
      shop.gateway.willAnswer('CheckPayment', NOT_PAID);
      expect(await payments.inquire(declined.conversationId)).toMatchObject({ state: 'failed', reason: 'declined' });

      const missing = await startPayment();
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND, NOT_FOUND, NOT_FOUND);
      await payments.auth3d(callbackOf(missing));
      expect(await payments.inquire(missing)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      await shop.clock.advance(600_000);
      expect(await payments.inquire(missing)).toMatchObject({ state: 'unknown', reason: 'unbound' });
    });

    it.each([
      ['with its amount', paid({ amount: 149.9 }), 'succeeded'],
      ['with its conversationId', null, 'succeeded'],
      ['with only a code and a text', PAID, 'unknown'],
      ['with only a code and a status', reply({ responseCode: 'B0000', transactionStatus: 'SUCCESS' }), 'unknown'],
      ['with only a code', reply({ responseCode: 'B0000' }), 'unknown'],
      ['with an echo of its amount', reply({ responseCode: 'B0000', amount: 149.9 }), 'unknown'],
      ['with another text', paid({ amount: 149.9, responseDescription: 'Awaiting 3D verification' }), 'unknown'],
    ])('that is inquired about and answered %s is %s', async (_what, answer, state) => {
      const conversationId = await startPayment();
      const inquired = answer ?? paid({ conversationId });
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      shop.gateway.willAnswer('CheckPayment', inquired, inquired, inquired);
      expect((await payments.auth3d(callbackOf(conversationId))).state).toBe(state);
      // The same answer changes nothing later, whether the background work or an operator inquires.
      await shop.clock.advance(18_000);
      await payments.reconcile();
      expect((await payments.inquire(conversationId)).state).toBe(state);
    });

    it('is not settled by an inquiry that was made while Auth3d was under way', async () => {
      const conversationId = await startPayment();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      shop.gateway.willAnswer('CheckPayment', PAID, NOT_FOUND);
      expect((await payments.inquire(conversationId)).state).toBe('authorizing');
      held.answer(UNBOUND_APPROVAL);
      expect(await completing).toMatchObject(UNKNOWN_UNBOUND);
    });

    it('is stored as unknown before the inquiry if the claim could expire meanwhile', async () => {
      const conversationId = await startPayment();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      await shop.clock.advance(30_001);
      const inquiry = shop.gateway.hold('CheckPayment');
      held.answer(UNBOUND_APPROVAL);
      await inquiry.begun;
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      // Another instance inquires as well, and the answer is not bound to the payment either.
      await shop.clock.advance(300_000);
      shop.gateway.willAnswer('CheckPayment', PAID);
      await (await shop.start()).payments.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      inquiry.answer(paid({ conversationId }));
      expect(await completing).toMatchObject({ state: 'succeeded', orderId: 'o-auth3d' });
    });

    it('is not inquired about again if another instance has settled it meanwhile', async () => {
      const conversationId = await startPayment();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      const other = (await shop.start()).payments;
      await shop.clock.advance(300_000);
      await other.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'succeeded' });
      held.answer(UNBOUND_APPROVAL);
      expect((await completing).state).toBe('succeeded');
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(1);
    });

    it('goes to review by the answer to the inquiry even if the claim expired and an operator decided meanwhile', async () => {
      const conversationId = await startPayment();
      const inquiry = shop.gateway.hold('CheckPayment');
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      const completing = payments.auth3d(callbackOf(conversationId));
      await inquiry.begun;
      const other = (await shop.start()).payments;
      await shop.clock.advance(100_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      await other.reconcile();
      await other.resolve(conversationId, 'failed', 'not in the panel', { force: true });
      inquiry.answer(paid({ conversationId }));
      expect(await completing).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    });

    it('is unknown as unbound even if it was interrupted meanwhile', async () => {
      const conversationId = await startPayment();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      await shop.clock.advance(300_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      await payments.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'interrupted' });
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      held.answer(UNBOUND_APPROVAL);
      expect(await completing).toMatchObject(UNKNOWN_UNBOUND);
      expect((await stored(conversationId))?.dueAt).toBeInstanceOf(Date);
      await shop.clock.advance(600_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      expect((await payments.inquire(conversationId)).state).toBe('unknown');
    });

    it('is settled by another process when this one hangs in the inquiry', async () => {
      const conversationId = await startPayment();
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      const held = shop.gateway.hold('CheckPayment');
      const completing = payments.auth3d(callbackOf(conversationId));
      await held.begun;
      expect(await stored(conversationId)).toMatchObject({ state: 'authorizing' });
      const other = (await shop.start()).payments;
      await shop.clock.advance(300_000);
      await other.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'succeeded', version: 5 });
      held.answer(PAID);
      expect(await completing).toMatchObject({ state: 'succeeded', version: 5 });
    });

    it('keeps the outcome of the inquiry as an owed write when the store fails', async () => {
      const conversationId = await startPayment();
      const replace = shop.store.replace.bind(shop.store);
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      shop.gateway.willAnswer('CheckPayment', () => {
        shop.store.replace = () => Promise.reject(new Error('down'));
        return paid({ conversationId });
      });
      expect(await payments.auth3d(callbackOf(conversationId))).toMatchObject({ state: 'succeeded', stored: false });
      shop.store.replace = replace;
      await payments.reconcile();
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
    });

    it('goes to review if the dialect has no CheckPayment', async () => {
      const { payments } = await shop.start({ dialect: standardDialect({ signer: () => 's' }) });
      const conversationId = await startPayment(payments);
      shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
      const payment = await payments.auth3d(callbackOf(conversationId));
      expect(payment).toMatchObject({ state: 'review', reason: 'unbound', code: 'B0000' });
      expect(await payments.resolve(conversationId, 'succeeded', 'seen at the bank')).toMatchObject({
        state: 'succeeded',
        reason: 'operator',
      });
    });

    it.each([undefined, standardDialect({ signer: () => 's' })])(
      'succeeds without an inquiry with trustUnbound',
      async (dialect) => {
        const { payments } = await shop.start({ trustUnbound: true, ...(dialect && { dialect }) });
        const conversationId = await startPayment(payments);
        shop.gateway.willAnswer('Auth3d', UNBOUND_APPROVAL);
        expect(await payments.auth3d(callbackOf(conversationId))).toMatchObject({ state: 'succeeded', reason: null });
        expect(shop.gateway.sent('CheckPayment')).toEqual([]);
      },
    );

    it('differs from a direct payment, which succeeds, since its one request has one answer', async () => {
      shop.gateway.willAnswer('DoPayment', UNBOUND_APPROVAL);
      expect((await payments.doPayment(sale())).state).toBe('succeeded');
    });
  });

  describe('beforeAuth3d', () => {
    async function complete(beforeAuth3d: PaymentOptions['beforeAuth3d']): Promise<Payment> {
      const { payments } = await shop.start({ beforeAuth3d });
      return payments.auth3d(callbackOf(await startPayment(payments)));
    }

    it('lets the payment continue if it returns true, and is called once with the payment', async () => {
      const calls: Payment[] = [];
      const payment = await complete((shown) => (calls.push(shown), Promise.resolve(true)));
      expect(payment.state).toBe('succeeded');
      expect(calls).toMatchObject([{ conversationId: payment.conversationId, state: 'awaiting' }]);
    });

    it.each<[string, () => boolean | Promise<boolean>]>([
      ['returns false', () => false],
      ['resolves to false', () => Promise.resolve(false)],
      [
        'throws',
        () => {
          throw new Error('card 4508034508034509');
        },
      ],
      ['rejects', () => Promise.reject(new Error('card 4508034508034509'))],
    ])('stops the payment if it %s', async (_what, answer) => {
      expect(await complete(answer)).toMatchObject({ state: 'failed', reason: 'vetoed' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
      expect(log.join()).not.toContain('4508034508034509');
    });

    it('is logged if it throws', async () => {
      const { conversationId, reference } = await complete(() => Promise.reject(new Error('no')));
      const line = `error Payment ${conversationId}: beforeAuth3d threw, which counts as no; nothing was sent: Error: no, at `;
      const index = log.findIndex((one) => one.startsWith(line));
      expect(log[index]).toContain('three-d.spec.ts:');
      expect(records[index]).toMatchObject({ conversationId, reference, account: 'default', error: 'Error: no' });
    });

    it('is logged if it returns nothing', async () => {
      const { conversationId, state } = await complete((() => undefined) as unknown as () => boolean);
      expect(state).toBe('failed');
      expect(log).toContain(
        `error Payment ${conversationId}: beforeAuth3d returned neither true nor false, which counts as no; nothing was sent.`,
      );
    });

    it('stops the payment if it takes longer than twenty seconds, which is logged', async () => {
      const { payments } = await shop.start({ beforeAuth3d: () => new Promise(() => undefined) });
      const conversationId = await startPayment(payments);
      const completing = payments.auth3d(callbackOf(conversationId));
      await shop.clock.advance(19_999);
      expect(await isOver(completing)).toBe(false);
      await shop.clock.advance(1);
      expect(await isOver(completing)).toBe(true);
      expect(await completing).toMatchObject({ state: 'failed', reason: 'vetoed' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
      expect(log).toContain(
        `error Payment ${conversationId}: beforeAuth3d gave no answer in 20 seconds, which counts as no; nothing was sent.`,
      );
    });
  });

  it('auth3d sends nothing if the store fails to write the claim, and can be repeated later', async () => {
    const conversationId = await startPayment();
    const replace = shop.store.replace.bind(shop.store);
    shop.store.replace = () => Promise.reject(new Error('down'));
    await expect(payments.auth3d(callbackOf(conversationId))).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
    expect(shop.gateway.sent('Auth3d')).toEqual([]);
    shop.store.replace = replace;
    const completing = payments.auth3d(callbackOf(conversationId));
    expect(await isOver(completing)).toBe(true);
    expect((await completing).state).toBe('succeeded');
  });
});

/** The callback that the bank sends with the buyer. */
function callbackOf(conversationId: string): { conversationId: string; fields: Record<string, string> } {
  return { conversationId, fields: { Code: 'B0000', conversationId } };
}
