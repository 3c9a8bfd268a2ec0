import { createHash } from 'node:crypto';
import {
  type Payment,
  type PaymentOptions,
  type PaymentRecord,
  type PaymentService,
  standardDialect,
} from 'nestjs-card-payment';
import { DECLINED, LOST, NOT_FOUND, NOT_PAID, NOT_SENT, PAID, paid, reply, UNDECIDED } from './fake-gateway.js';
import type { Transmission } from '../../lib/gateway/transport/transmission.js';
import { logLines } from './log-lines.js';
import { isOver, sale, TestShop } from './test-shop.js';

const HOUR_MS = 3_600_000;

describe('a 3D payment', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let shop: TestShop;
  let payments: PaymentService;

  beforeEach(async () => {
    shop = new TestShop();
    ({ payments } = await shop.start());
  });
  afterEach(() => shop.gateway.close());

  async function atTheBank(service = payments, input = sale()): Promise<string> {
    return (await service.init3d(input)).conversationId;
  }

  function stored(conversationId: string): Promise<PaymentRecord | null> {
    return shop.store.find('default', conversationId);
  }

  function idOf({ conversationId }: Payment): Pick<Payment, 'conversationId'> {
    return { conversationId };
  }

  describe('that is started', () => {
    it('gives the page and waits for the buyer, with nothing of the page or the token kept', async () => {
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

    it('expires when the option says', async () => {
      const { payments } = await shop.start({ sessionTtlMs: 90_000 });
      const { conversationId, expiresAt } = await payments.init3d(sale());
      expect(expiresAt).toEqual(new Date(shop.clock.now().getTime() + 90_000));
      expect(await stored(conversationId)).toMatchObject({ expiresAt, dueAt: expiresAt });
    });

    it('has no token where the return addresses have no place for one', async () => {
      const urls = { returnUrl: 'https://shop.example/back', failUrl: 'https://shop.example/back' };
      const conversationId = await atTheBank(payments, sale(urls));
      expect((await stored(conversationId))?.tokenHash).toBeNull();
      const { state } = await payments.auth3d(back(conversationId));
      expect(state).toBe('succeeded');
    });

    it.each(['returnUrl', 'failUrl'])(
      'has one where a %s of the host’s own leaves the other address ours',
      async (own) => {
        const conversationId = await atTheBank(payments, sale({ [own]: 'https://shop.example/back' }));
        expect((await stored(conversationId))?.tokenHash).toMatch(/^[0-9a-f]{64}$/);
      },
    );

    it.each([
      ['declined', DECLINED, { state: 'failed', reason: 'declined', code: 'B0051' }],
      ['refused', reply({ code: 'B0003' }, 401), { state: 'failed', reason: 'refused' }],
      ['not answered', LOST, { state: 'failed', reason: 'no_answer' }],
      ['answered without a page', reply({ code: 'B0000' }), { state: 'failed', reason: 'unreadable' }],
    ])('but %s has failed, since no money can move', async (_how, answer, payment) => {
      shop.gateway.willAnswer('Init3d', answer);
      const input = sale();
      await expect(payments.init3d(input)).rejects.toMatchObject({ code: 'PAYMENT_INIT3D', payment });
      expect(await payments.findByReference(input.reference!)).toMatchObject([payment]);
    });

    it('but never left says so, and may be tried again under the same key', async () => {
      shop.gateway.willAnswer('Init3d', NOT_SENT);
      const input = sale({ idempotencyKey: 'basket' });
      await expect(payments.init3d(input)).rejects.toMatchObject({
        code: 'PAYMENT_NOT_SENT',
        payment: { state: 'failed', reason: 'not_sent' },
      });
      expect((await payments.init3d(input)).payment.state).toBe('awaiting');
    });

    it.each([
      ['refused', reply({ code: 'B0003' }, 401)],
      ['declined', DECLINED],
      ['not answered', LOST],
      ['answered without a page', reply({ code: 'B0000' })],
    ])('but %s may be tried again under the same key: no money can move', async (_how, answer) => {
      shop.gateway.willAnswer('Init3d', answer);
      const input = sale({ idempotencyKey: 'basket' });
      await expect(payments.init3d(input)).rejects.toMatchObject({ code: 'PAYMENT_INIT3D' });
      const { payment } = await payments.init3d(input);
      expect(payment.state).toBe('awaiting');
      expect(await shop.store.findByIdempotencyKey('default', 'basket')).toMatchObject(idOf(payment));
    });

    it('gives its key back where it ends before Auth3d: expired, vetoed, the order paid otherwise', async () => {
      const { payments } = await shop.start({ beforeAuth3d: ({ reference }) => reference !== 'vetoed' });
      const input = (reference: string) => sale({ reference, idempotencyKey: reference });
      const ids = new Map<string, string>();
      for (const order of ['expired', 'vetoed', 'paid']) ids.set(order, await atTheBank(payments, input(order)));
      await payments.doPayment(sale({ reference: 'paid' }));
      await payments.auth3d(back(ids.get('vetoed')!));
      await payments.auth3d(back(ids.get('paid')!));
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      const ends = await Promise.all([...ids.values()].map((id) => stored(id)));
      expect(ends.map((record) => [record?.state, record?.reason, record?.idempotencyKey])).toEqual([
        ['expired', null, null],
        ['failed', 'vetoed', null],
        ['failed', 'reference_taken', null],
      ]);
      // Should money have moved after all, the key is the new payment's still.
      const again = await payments.init3d(input('expired'));
      expect(await payments.inquire(ids.get('expired')!)).toMatchObject({ state: 'review' });
      expect(await shop.store.findByIdempotencyKey('default', 'expired')).toMatchObject(idOf(again.payment));
    });

    it('keeps its key once Auth3d was called, whatever came of it', async () => {
      for (const [key, answer] of [
        ['declined', DECLINED],
        ['lost', LOST],
        ['refused', reply({}, 401)],
      ] as const) {
        const conversationId = await atTheBank(payments, sale({ idempotencyKey: key }));
        shop.gateway.willAnswer('Auth3d', answer);
        await payments.auth3d(back(conversationId));
        expect(await shop.store.findByIdempotencyKey('default', key)).toMatchObject({ conversationId });
      }
    });

    it.each(['conversationId', 'idempotencyKey'] as const)('twice under one %s is refused', async (key) => {
      const input = sale({ [key]: 'ABC00000000000000009' });
      const { payment } = await payments.init3d(input);
      await expect(payments.init3d(input)).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        message: expect.stringContaining(key) as string,
        payment,
      });
      expect(shop.gateway.requests).toHaveLength(1);
    });

    it('for an order that is paid fails before the buyer is sent to the bank', async () => {
      const order = sale();
      await payments.doPayment(order);
      await expect(payments.init3d({ ...order, idempotencyKey: 'second' })).rejects.toMatchObject({
        code: 'PAYMENT_INIT3D',
        payment: { state: 'failed', reason: 'reference_taken' },
      });
      expect(shop.gateway.sent('Init3d')).toEqual([]);
      expect(await shop.store.findByIdempotencyKey('default', 'second')).toBeNull();
      expect((await payments.init3d({ ...order, allowRepeat: true })).payment.state).toBe('awaiting');
    });

    it('for an order whose payment failed, or was meant to be repeated, goes to the bank', async () => {
      const order = sale();
      shop.gateway.willAnswer('DoPayment', DECLINED);
      await payments.doPayment(order);
      await payments.doPayment({ ...order, allowRepeat: true });
      expect((await payments.init3d(order)).payment.state).toBe('awaiting');
    });

    it('but answered when it had expired is not shown to the buyer', async () => {
      const held = shop.gateway.hold('Init3d');
      const starting = payments.init3d(sale());
      await held.begun;
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      held.answer(reply({ code: 'B0000', htmlForm: 'PGh0bWw+PC9odG1sPg==' }));
      await expect(starting).rejects.toMatchObject({ code: 'PAYMENT_INIT3D', payment: { state: 'expired' } });
    });

    it('but declined when it had expired stays expired', async () => {
      const held = shop.gateway.hold('Init3d');
      const starting = payments.init3d(sale());
      await held.begun;
      await shop.clock.advance(HOUR_MS);
      await payments.reconcile();
      held.answer(DECLINED);
      await expect(starting).rejects.toMatchObject({ code: 'PAYMENT_INIT3D', payment: { state: 'expired' } });
    });

    it('but expired while the store looked for others of its order stays expired', async () => {
      const order = sale();
      await payments.doPayment(order);
      const find = shop.store.findByReference.bind(shop.store);
      shop.store.findByReference = async (...given) => {
        await shop.clock.advance(HOUR_MS);
        await payments.reconcile();
        return find(...given);
      };
      await expect(payments.init3d(order)).rejects.toMatchObject({
        code: 'PAYMENT_INIT3D',
        payment: { state: 'expired' },
      });
    });

    it('is refused where the store says that a key is taken, and nobody has it', async () => {
      shop.store.insert = () => Promise.resolve('idempotencyKey');
      await expect(payments.init3d(sale())).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: expect.stringContaining('while opening the payment') as string,
      });
      expect(shop.gateway.requests).toEqual([]);
    });
  });

  describe('whose buyer comes back', () => {
    it('is claimed in the store before Auth3d leaves, and is then as it was answered', async () => {
      const conversationId = await atTheBank();
      let seen: PaymentRecord | null = null;
      shop.gateway.willAnswer('Auth3d', async () => ((seen = await stored(conversationId)), DECLINED));
      const payment = await payments.auth3d(back(conversationId));
      expect(seen).toMatchObject({ state: 'authorizing', dueAt: expect.any(Date) });
      expect(payment).toMatchObject({ state: 'failed', reason: 'declined', code: 'B0051' });
      expect(shop.gateway.sent('Auth3d')).toMatchObject([back(conversationId)]);
    });

    it('any number of times is sent one Auth3d, and everyone gets its outcome', async () => {
      const conversationId = await atTheBank();
      const copies = Array.from({ length: 10 }, () => payments.auth3d(back(conversationId)));
      const states = (await Promise.all(copies)).map(({ state }) => state);
      expect(new Set(states)).toEqual(new Set(['succeeded']));
      expect((await payments.auth3d(back(conversationId))).state).toBe('succeeded');
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('at two instances is sent one Auth3d; the other reports it as under way', async () => {
      const other = (await shop.start()).payments;
      const conversationId = await atTheBank();
      const held = shop.gateway.hold('Auth3d');
      const first = payments.auth3d(back(conversationId));
      await held.begun;
      expect((await other.auth3d(back(conversationId))).state).toBe('authorizing');
      held.answer(shop.gateway.approval({ operation: 'Auth3d', conversationId }));
      expect((await first).state).toBe('succeeded');
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('at two instances at the same moment is claimed by one of them, and sent once', async () => {
      const other = (await shop.start()).payments;
      const conversationId = await atTheBank();
      const both = await Promise.all([payments, other].map((service) => service.auth3d(back(conversationId))));
      expect(both.map(({ state }) => state).sort()).toEqual(['authorizing', 'succeeded']);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('beside a forged copy is completed, and the copy refused', async () => {
      const conversationId = await atTheBank();
      const forged = { conversationId, fields: { conversationId: 'ANOTHER' } };
      const [wrong, right] = await Promise.allSettled([payments.auth3d(forged), payments.auth3d(back(conversationId))]);
      expect(wrong).toMatchObject({ status: 'rejected', reason: { refusal: 'foreign_payment' } });
      expect(right).toMatchObject({ value: { state: 'succeeded' } });
    });

    it('too late finds it expired, and nothing is sent', async () => {
      const conversationId = await atTheBank();
      await shop.clock.advance(HOUR_MS);
      expect((await payments.auth3d(back(conversationId))).state).toBe('expired');
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });

    it('too late, at two instances, finds it expired at both', async () => {
      const other = (await shop.start()).payments;
      const conversationId = await atTheBank();
      await shop.clock.advance(HOUR_MS);
      const both = await Promise.all([payments, other].map((service) => service.auth3d(back(conversationId))));
      expect(both.map(({ state }) => state)).toEqual(['expired', 'expired']);
    });

    it('and whose Auth3d gets no answer is unknown, and not asked about at once', async () => {
      const conversationId = await atTheBank();
      shop.gateway.willAnswer('Auth3d', LOST);
      const payment = await payments.auth3d(back(conversationId));
      expect(payment).toMatchObject({ state: 'unknown', reason: 'no_answer' });
      expect(shop.gateway.sent('CheckPayment')).toEqual([]);
    });

    it('when the order was paid otherwise has nothing charged', async () => {
      const order = sale();
      const conversationId = await atTheBank(payments, order);
      await payments.doPayment(order);
      const payment = await payments.auth3d(back(conversationId));
      expect(payment).toMatchObject({ state: 'failed', reason: 'reference_taken' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });

    it('cannot complete a direct payment, or one whose page was not given', async () => {
      const direct = await payments.doPayment(sale());
      const held = shop.gateway.hold('Init3d');
      const starting = payments.init3d(sale({ conversationId: 'ABC00000000000000009' }));
      await held.begun;
      for (const conversationId of [direct.conversationId, 'ABC00000000000000009']) {
        await expect(payments.auth3d(back(conversationId))).rejects.toMatchObject({
          code: 'PAYMENT_STATE',
          message: expect.stringContaining('cannot be completed by Auth3d') as string,
        });
      }
      held.answer(LOST);
      await expect(starting).rejects.toMatchObject({ code: 'PAYMENT_INIT3D' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });
  });

  describe('whose Auth3d provably does not leave', () => {
    /** When it was tried, in milliseconds from the first time on, and how long each had. */
    async function tries(options: PaymentOptions, seconds: number): Promise<[tried: number[][], payment: unknown]> {
      const { payments } = await shop.start(options);
      const conversationId = await atTheBank(payments);
      const began = shop.clock.monotonic();
      const tried: number[][] = [];
      const refuse = (_request: unknown, timeoutMs: number) => {
        tried.push([shop.clock.monotonic() - began, timeoutMs]);
        return NOT_SENT;
      };
      shop.gateway.willAnswer('Auth3d', ...Array.from({ length: 20 }, () => refuse));
      const completing = payments.auth3d(back(conversationId));
      for (let passed = 0; passed < seconds; passed += 1) await shop.clock.advance(1_000);
      return [tried, (await isOver(completing)) ? await completing : 'still tried'];
    }

    it('is tried every two seconds, within one deadline, until ten seconds of it are used, and has failed then', async () => {
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

    it('is tried in the first half of a short deadline alone: the answer needs time, too', async () => {
      const [tried, payment] = await tries({ timeoutMs: 5_000 }, 10);
      expect(tried).toEqual([
        [0, 5_000],
        [2_000, 3_000],
      ]);
      expect(payment).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });

    it('is not tried again after a try that took ten seconds', async () => {
      const conversationId = await atTheBank();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(back(conversationId));
      await held.begun;
      await shop.clock.advance(10_000);
      held.answer(NOT_SENT);
      expect(await isOver(completing)).toBe(true);
      expect(await completing).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });

    it('succeeds when a later try leaves', async () => {
      const conversationId = await atTheBank();
      shop.gateway.willAnswer('Auth3d', NOT_SENT);
      const completing = payments.auth3d(back(conversationId));
      await shop.clock.advance(2_000);
      expect((await completing).state).toBe('succeeded');
    });

    it('is not tried once its answer could come after the claim', async () => {
      const conversationId = await atTheBank();
      const { store, clock } = shop;
      const replace = store.replace.bind(store);
      store.replace = async (record, ...given) => {
        const outcome = await replace(record, ...given);
        const claim = record.state === 'authorizing' ? record.dueAt!.getTime() - clock.now().getTime() : 0;
        // A minute is what the gateway may take.
        if (claim > 0) await clock.advance(claim - 60_000 + 1);
        return outcome;
      };
      expect(await payments.auth3d(back(conversationId))).toMatchObject({
        state: 'failed',
        reason: 'not_sent',
      });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
    });
  });

  describe('whose Auth3d approves without naming it', () => {
    const BARE = reply({ code: 'B0000', authCode: '004512', orderId: 'o-auth3d', message: 'Onaylandı' });
    const UNBOUND = { state: 'unknown', reason: 'unbound', code: 'B0000', settled: false };

    async function completed(...answers: Transmission[]): Promise<Payment> {
      const conversationId = await atTheBank();
      shop.gateway.willAnswer('Auth3d', BARE);
      shop.gateway.willAnswer('CheckPayment', ...answers);
      const payment = await payments.auth3d(back(conversationId));
      expect(await payments.find(conversationId)).toEqual(payment);
      expect(shop.gateway.requests.map(({ operation }) => operation).slice(0, 2)).toEqual(['Init3d', 'Auth3d']);
      return payment;
    }

    it('has succeeded when the gateway confirms it at once: one event, and the details of both answers', async () => {
      const payment = await completed(reply({ responseCode: 'B0000', amount: 149.9, orderId: 'o-inquiry' }));
      expect(payment).toMatchObject({ state: 'succeeded', reason: null, version: 4, chargedAmount: '149.9' });
      expect(payment).toMatchObject({ authCode: '004512', orderId: 'o-inquiry', message: 'Onaylandı' });
      expect(shop.gateway.sent('CheckPayment')).toMatchObject([{ conversationId: payment.conversationId }]);
      await payments.reconcile();
      expect(shop.journal).toEqual([`${payment.conversationId}:4 succeeded`]);
    });

    it.each([
      ['declined', NOT_PAID],
      ['not found', NOT_FOUND],
      ['nothing clear', UNDECIDED],
      ['another payment', reply({ responseCode: 'B0000', conversationId: 'ANOTHER' })],
    ])('is unknown when the gateway says %s, and is asked about again', async (_what, answer) => {
      const payment = await completed(answer);
      expect(payment).toMatchObject({ ...UNBOUND, chargedAmount: null, orderId: 'o-auth3d' });
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
      expect(await completed(answer)).toMatchObject(UNBOUND);
      expect(shop.gateway.sent('Auth3d')).toHaveLength(1);
    });

    it('is for a person to look at when the gateway says paid, but with another amount', async () => {
      const payment = await completed(reply({ responseCode: 'B0000', amount: 1 }));
      expect(payment).toMatchObject({ state: 'review', reason: 'amount_mismatch' });
    });

    it('has failed when a later inquiry says declined, but not when it says that there is no such payment', async () => {
      const declined = await completed(UNDECIDED);
      shop.gateway.willAnswer('CheckPayment', NOT_PAID);
      expect(await payments.inquire(declined.conversationId)).toMatchObject({ state: 'failed', reason: 'declined' });

      const missing = await atTheBank();
      shop.gateway.willAnswer('Auth3d', BARE);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND, NOT_FOUND, NOT_FOUND);
      await payments.auth3d(back(missing));
      expect(await payments.inquire(missing)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      await shop.clock.advance(600_000);
      expect(await payments.inquire(missing)).toMatchObject({ state: 'unknown', reason: 'unbound' });
    });

    it.each([
      ['that shows its amount', paid({ amount: 149.9 }), 'succeeded'],
      ['that shows its id', null, 'succeeded'],
      ['of a code and a text', PAID, 'unknown'],
      ['of a code and a status', reply({ responseCode: 'B0000', transactionStatus: 'SUCCESS' }), 'unknown'],
      ['of a code', reply({ responseCode: 'B0000' }), 'unknown'],
    ])('is confirmed by an answer %s: %s', async (_what, answer, state) => {
      const conversationId = await atTheBank();
      const inquired = answer ?? paid({ conversationId });
      shop.gateway.willAnswer('Auth3d', BARE);
      shop.gateway.willAnswer('CheckPayment', inquired, inquired, inquired);
      expect((await payments.auth3d(back(conversationId))).state).toBe(state);
      // Nor later: not by the background work, not by an operator who asks.
      await shop.clock.advance(18_000);
      await payments.reconcile();
      expect((await payments.inquire(conversationId)).state).toBe(state);
    });

    it('is no proof of what Auth3d will say, where someone asks while it is under way', async () => {
      const conversationId = await atTheBank();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(back(conversationId));
      await held.begun;
      shop.gateway.willAnswer('CheckPayment', PAID, NOT_FOUND);
      expect((await payments.inquire(conversationId)).state).toBe('authorizing');
      held.answer(BARE);
      expect(await completing).toMatchObject(UNBOUND);
    });

    it('is written before the gateway is asked where the claim could run out meanwhile', async () => {
      const conversationId = await atTheBank();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(back(conversationId));
      await held.begun;
      await shop.clock.advance(30_001);
      const asked = shop.gateway.hold('CheckPayment');
      held.answer(BARE);
      await asked.begun;
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      // Another instance asks, too, and its answer names nothing.
      await shop.clock.advance(300_000);
      shop.gateway.willAnswer('CheckPayment', PAID);
      await (await shop.start()).payments.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      asked.answer(paid({ conversationId }));
      expect(await completing).toMatchObject({ state: 'succeeded', orderId: 'o-auth3d' });
    });

    it('is not asked about once more where another instance has settled it meanwhile', async () => {
      const conversationId = await atTheBank();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(back(conversationId));
      await held.begun;
      const other = (await shop.start()).payments;
      await shop.clock.advance(300_000);
      await other.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'succeeded' });
      held.answer(BARE);
      expect((await completing).state).toBe('succeeded');
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(1);
    });

    it('is settled by the answer though the claim ran out, and a person decided, while the gateway was asked', async () => {
      const conversationId = await atTheBank();
      const asked = shop.gateway.hold('CheckPayment');
      shop.gateway.willAnswer('Auth3d', BARE);
      const completing = payments.auth3d(back(conversationId));
      await asked.begun;
      const other = (await shop.start()).payments;
      await shop.clock.advance(100_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      await other.reconcile();
      await other.resolve(conversationId, 'failed', 'not in the panel', { force: true });
      asked.answer(paid({ conversationId }));
      expect(await completing).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    });

    it('is remembered as such where the payment counted as interrupted meanwhile', async () => {
      const conversationId = await atTheBank();
      const held = shop.gateway.hold('Auth3d');
      const completing = payments.auth3d(back(conversationId));
      await held.begun;
      await shop.clock.advance(300_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      await payments.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'unknown', reason: 'interrupted' });
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      held.answer(BARE);
      expect(await completing).toMatchObject(UNBOUND);
      expect((await stored(conversationId))?.dueAt).toBeInstanceOf(Date);
      await shop.clock.advance(600_000);
      shop.gateway.willAnswer('CheckPayment', NOT_FOUND);
      expect((await payments.inquire(conversationId)).state).toBe('unknown');
    });

    it('is unknown, and settled by another process, when this one dies while it asks', async () => {
      const conversationId = await atTheBank();
      shop.gateway.willAnswer('Auth3d', BARE);
      const held = shop.gateway.hold('CheckPayment');
      const completing = payments.auth3d(back(conversationId));
      await held.begun;
      expect(await stored(conversationId)).toMatchObject({ state: 'authorizing' });
      const other = (await shop.start()).payments;
      await shop.clock.advance(300_000);
      await other.reconcile();
      expect(await stored(conversationId)).toMatchObject({ state: 'succeeded', version: 5 });
      held.answer(PAID);
      expect(await completing).toMatchObject({ state: 'succeeded', version: 5 });
    });

    it('is owed to a store that fails, with the outcome that the inquiry gave', async () => {
      const conversationId = await atTheBank();
      const replace = shop.store.replace.bind(shop.store);
      shop.gateway.willAnswer('Auth3d', BARE);
      shop.gateway.willAnswer('CheckPayment', () => {
        shop.store.replace = () => Promise.reject(new Error('down'));
        return paid({ conversationId });
      });
      expect(await payments.auth3d(back(conversationId))).toMatchObject({ state: 'succeeded', stored: false });
      shop.store.replace = replace;
      await payments.reconcile();
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
    });

    it('is for a person to look at where the gateway cannot be asked', async () => {
      const { payments } = await shop.start({ dialect: standardDialect({ signer: () => 's' }) });
      const conversationId = await atTheBank(payments);
      shop.gateway.willAnswer('Auth3d', BARE);
      const payment = await payments.auth3d(back(conversationId));
      expect(payment).toMatchObject({ state: 'review', reason: 'unbound', code: 'B0000' });
      expect(await payments.resolve(conversationId, 'succeeded', 'seen at the bank')).toMatchObject({
        state: 'succeeded',
        reason: 'operator',
      });
    });

    it.each([undefined, standardDialect({ signer: () => 's' })])('is believed with trustUnbound', async (dialect) => {
      const { payments } = await shop.start({ trustUnbound: true, ...(dialect && { dialect }) });
      const conversationId = await atTheBank(payments);
      shop.gateway.willAnswer('Auth3d', BARE);
      expect(await payments.auth3d(back(conversationId))).toMatchObject({ state: 'succeeded', reason: null });
      expect(shop.gateway.sent('CheckPayment')).toEqual([]);
    });

    it('is nothing of a direct payment’s: one request has one answer', async () => {
      shop.gateway.willAnswer('DoPayment', BARE);
      expect((await payments.doPayment(sale())).state).toBe('succeeded');
    });
  });

  describe('that the merchant may still stop', () => {
    async function completed(beforeAuth3d: PaymentOptions['beforeAuth3d']): Promise<Payment> {
      const { payments } = await shop.start({ beforeAuth3d });
      return payments.auth3d(back(await atTheBank(payments)));
    }

    it('goes on after a yes, which is asked once and shown the payment', async () => {
      const asked: Payment[] = [];
      const payment = await completed((shown) => (asked.push(shown), Promise.resolve(true)));
      expect(payment.state).toBe('succeeded');
      expect(asked).toMatchObject([{ conversationId: payment.conversationId, state: 'awaiting' }]);
    });

    it.each<[string, () => boolean | Promise<boolean>]>([
      ['no', () => false],
      ['a promise of no', () => Promise.resolve(false)],
      [
        'a throw',
        () => {
          throw new Error('card 4508034508034509');
        },
      ],
      ['a rejection', () => Promise.reject(new Error('card 4508034508034509'))],
    ])('is not sent after %s', async (_what, answer) => {
      expect(await completed(answer)).toMatchObject({ state: 'failed', reason: 'vetoed' });
      expect(shop.gateway.sent('Auth3d')).toEqual([]);
      expect(log.join()).not.toContain('4508034508034509');
    });

    it('says in the log that it threw', async () => {
      const { conversationId, reference } = await completed(() => Promise.reject(new Error('no')));
      const line = `error Payment ${conversationId}: beforeAuth3d threw, which counts as no; nothing was sent: Error: no, at `;
      const index = log.findIndex((one) => one.startsWith(line));
      expect(log[index]).toContain('three-d-flow.spec.ts:');
      expect(records[index]).toMatchObject({ conversationId, reference, account: 'default', error: 'Error: no' });
    });

    it('says in the log that it returned nothing', async () => {
      const { conversationId, state } = await completed((() => undefined) as unknown as () => boolean);
      expect(state).toBe('failed');
      expect(log).toContain(
        `error Payment ${conversationId}: beforeAuth3d returned neither true nor false, which counts as no; nothing was sent.`,
      );
    });

    it('is not sent after twenty seconds without an answer, and the log says so', async () => {
      const { payments } = await shop.start({ beforeAuth3d: () => new Promise(() => undefined) });
      const conversationId = await atTheBank(payments);
      const completing = payments.auth3d(back(conversationId));
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

  it('whose claim the store does not take is not sent, and can be completed later', async () => {
    const conversationId = await atTheBank();
    const replace = shop.store.replace.bind(shop.store);
    shop.store.replace = () => Promise.reject(new Error('down'));
    await expect(payments.auth3d(back(conversationId))).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
    expect(shop.gateway.sent('Auth3d')).toEqual([]);
    shop.store.replace = replace;
    const completing = payments.auth3d(back(conversationId));
    expect(await isOver(completing)).toBe(true);
    expect((await completing).state).toBe('succeeded');
  });
});

/** What the bank sends with the buyer. */
function back(conversationId: string): { conversationId: string; fields: Record<string, string> } {
  return { conversationId, fields: { Code: 'B0000', conversationId } };
}
