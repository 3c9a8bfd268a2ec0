import { MemoryPaymentStore, PaymentHostedError, PaymentNotSentError, PaymentStoreError } from 'nestjs-card-payment';
import type { FaultMoment, FaultPlay, Simulator } from 'nestjs-card-payment/simulator';
import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { ODD } from '../rigs/odd-answers.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { startShop, type Shop } from '../rigs/shop.js';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import { closedPort } from '../rigs/sockets.js';

/** What fails where the gateway's own page is asked for, and why the payment has failed then. */
const PAGE_FAULTS: readonly (readonly [fault: string, play: FaultPlay, reason: string])[] = [
  ['reset', { kind: 'reset' }, 'no_answer'],
  ['closed', { kind: 'close' }, 'no_answer'],
  ['half an answer', { kind: 'half-reply' }, 'no_answer'],
  ['stalled until the deadline', { kind: 'stall' }, 'no_answer'],
  ['500', { kind: 'status', status: 500 }, 'server_error'],
  ['502 with HTML', { kind: 'status', status: 502, body: 'html' }, 'server_error'],
  ['503, empty', { kind: 'status', status: 503, body: 'empty' }, 'server_error'],
  ['302', { kind: 'status', status: 302 }, 'refused'],
  ['400', { kind: 'status', status: 400 }, 'refused'],
  ['401, empty', { kind: 'status', status: 401, body: 'empty' }, 'refused'],
  ['409 with HTML', { kind: 'status', status: 409, body: 'html' }, 'refused'],
  ['429', { kind: 'status', status: 429 }, 'refused'],
  ['HTML', ODD.html, 'unreadable'],
  ['null', ODD.null, 'unreadable'],
  ['an array', ODD.array, 'unreadable'],
  ['cut JSON', ODD['cut-json'], 'unreadable'],
  ['the answer below __proto__', ODD.proto, 'unreadable'],
  ['another payment’s id', edit({ conversationId: 'ABC99999999999999999' }), 'conversation_mismatch'],
  ['a decline', edit({ code: 'B0051', resultCode: 'B0051' }), 'declined'],
  ['an indeterminate code', edit({ code: 'B0096', resultCode: 'B0096' }), 'unrecognised_code'],
];

/** What fails where the gateway is asked whether a page was paid: none of these says anything. */
const SILENCES = PAGE_FAULTS.filter(([fault]) => !['a decline', '400', 'another payment’s id'].includes(fault)).concat([
  ['an approval of another payment', edit({ conversationId: 'ABC99999999999999999' }), ''],
  ['404 with HTML', { kind: 'status', status: 404, body: 'html' }, ''],
]);

function edit(changes: Readonly<Record<string, string>>): FaultPlay {
  return { kind: 'edit', edit: (fields) => void Object.assign(fields, changes) };
}

const SHORT_MS = 400;
let orders = 0;

function order() {
  orders += 1;
  return { reference: `page-${orders}`, transactionDetails: { amount: '149.90', currencyCode: 949 } };
}

let simulator: Simulator;
let clock: SkippingClock;
let shop: Shop;
/** What becomes of calls of the store. */
let handle: (call: StoreCall) => Promise<unknown>;

const soundly = (call: StoreCall): Promise<unknown> => call.proceed();
const broken = (): Promise<never> => Promise.reject(new Error('the store is down'));
const downly = (call: StoreCall): Promise<unknown> =>
  /^(insert|replace|find)/.test(call.method) ? broken() : call.proceed();

describe('page', () => {
  beforeAll(async () => {
    clock = new SkippingClock();
    simulator = await startTimelessGateway({ clock: () => clock.now() });
    handle = soundly;
    shop = await open();
  });
  afterEach(() => {
    handle = soundly;
    simulator.reset();
  });
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
  });

  describe('the request for the gateway’s own page', () => {
    it.each(PAGE_FAULTS)('%s: the order is free again', async (_fault, play, reason) => {
      const sale = order();
      simulator.fail({ operation: 'hostedPage', at: isAnswer(play) ? 'after' : 'before', ...play });
      const error = await rejection(shop.payments.startHosted(sale));
      expect(error).toBeInstanceOf(PaymentHostedError);
      const { payment } = error as PaymentHostedError;
      expect(payment).toMatchObject({ state: 'failed', reason, stored: true });
      expect(await shop.payments.find(payment.conversationId)).toEqual(payment);
      expect(simulator.ledger.calls('hostedPage')).toBe(1);
      await expectFree(sale);
    });

    it('is free again where the page was opened, and the answer was lost', async () => {
      const sale = order();
      simulator.fail({ operation: 'hostedPage', at: 'after', kind: 'reset' });
      expect(await rejection(shop.payments.startHosted(sale))).toBeInstanceOf(PaymentHostedError);
      await expectFree(sale);
    });

    it('is free again where it could not be sent', async () => {
      const unsent = await open({ baseUrl: `http://127.0.0.1:${await closedPort()}` });
      const error = await rejection(unsent.payments.startHosted(order()));
      expect(error).toBeInstanceOf(PaymentNotSentError);
      const { reference } = (error as PaymentNotSentError).payment;
      expect(await unsent.payments.findByReference(reference!)).toMatchObject([
        { state: 'failed', reason: 'not_sent' },
      ]);
      // No `page_open`: the order is not held.
      expect(await rejection(unsent.payments.startHosted({ ...order(), reference: reference! }))).toBeInstanceOf(
        PaymentNotSentError,
      );
      await unsent.app.close();
    });
  });

  describe('the question whether the page was paid', () => {
    it.each(SILENCES)('%s: it stays open, and is found paid by the next', async (_fault, play) => {
      const { conversationId, payment } = await shop.payments.startHosted(order());
      simulator.payAtPage(conversationId, { callback: 'none' });
      for (const ask of ['inquire', 'abandon'] as const) {
        const at: FaultMoment = isAnswer(play) ? 'after' : 'before';
        simulator.fail({ operation: 'CheckPayment', at, ...play });
        expect(await shop.payments[ask](conversationId)).toMatchObject({ state: 'pending', version: payment.version });
      }
      expect(await shop.payments.find(conversationId)).toEqual(payment);
      // The gateway is asked every two seconds at most.
      clock.aheadMs += 2_000;
      expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'succeeded' });
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it.each([400, 404, 422])('%d with a code is an answer: abandon ends an unpaid page by it', async (status) => {
      const sale = order();
      const { conversationId } = await shop.payments.startHosted(sale);
      const headers = { 'content-type': 'application/json' };
      const reply = { kind: 'reply', status, headers, body: '{"responseCode":"B0029"}' } as const;
      const fault = { operation: 'CheckPayment', ...reply } as const;
      simulator.fail(fault);
      expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
      simulator.fail(fault);
      expect(await shop.payments.abandon(conversationId)).toMatchObject({ state: 'expired', reason: 'abandoned' });
      await expectFree(sale);
    });
  });

  describe('a store that fails', () => {
    it('before the opening: nothing is sent, and the order is free', async () => {
      const sale = order();
      handle = downly;
      expect(await rejection(shop.payments.startHosted(sale))).toBeInstanceOf(PaymentStoreError);
      expect(simulator.requests).toEqual([]);
      handle = soundly;
      await shop.payments.reconcile();
      await expectFree(sale);
    });

    it('with the word of the opening lost: nothing is sent, and the order is free', async () => {
      const sale = order();
      handle = async (call) => {
        const answer = await call.proceed();
        return call.method === 'insert' ? broken() : answer;
      };
      expect(await rejection(shop.payments.startHosted(sale))).toBeInstanceOf(PaymentStoreError);
      expect(simulator.requests).toEqual([]);
      handle = soundly;
      await shop.payments.reconcile();
      await expectFree(sale);
    });

    it('with an opening that lands after it was given up: nothing is sent, and the order is free', async () => {
      const sale = order();
      let land: (() => Promise<unknown>) | undefined;
      handle = (call) => {
        if (call.method !== 'insert') return call.proceed();
        land ??= call.proceed;
        return broken();
      };
      expect(await rejection(shop.payments.startHosted(sale))).toBeInstanceOf(PaymentStoreError);
      await land?.();
      handle = soundly;
      expect(simulator.requests).toEqual([]);
      await shop.payments.reconcile();
      await expectFree(sale);
    });

    it('at the closing write: nobody has seen the page, and the order is free once its opening has run out', async () => {
      const sale = order();
      handle = (call) => (call.method === 'replace' ? broken() : call.proceed());
      expect(await rejection(shop.payments.startHosted(sale))).toBeInstanceOf(PaymentStoreError);
      handle = soundly;
      expect(await rejection(shop.payments.startHosted(sale))).toMatchObject({ reason: 'page_open' });
      clock.aheadMs += 5 * 60_000;
      await shop.payments.reconcile();
      expect(await shop.payments.findByReference(sale.reference)).toMatchObject([{ state: 'expired' }]);
      await expectFree(sale);
    });

    it('with the word of the closing write lost: starting again gives the page that was opened', async () => {
      const sale = order();
      handle = async (call) => {
        const answer = await call.proceed();
        return call.method === 'replace' ? broken() : answer;
      };
      expect(await rejection(shop.payments.startHosted(sale))).toBeInstanceOf(PaymentStoreError);
      handle = soundly;
      await shop.payments.reconcile();
      expect(await shop.payments.findByReference(sale.reference)).toMatchObject([{ state: 'pending' }]);
      await expectFree(sale);
      expect(simulator.ledger.calls('hostedPage')).toBe(1);
    });

    it.each(['inquire', 'abandon'] as const)('when %s settles: the outcome is told, and written later', async (ask) => {
      const { conversationId } = await shop.payments.startHosted(order());
      simulator.payAtPage(conversationId, { callback: 'none' });
      handle = (call) => (call.method === 'replace' ? broken() : call.proceed());
      expect(await shop.payments[ask](conversationId)).toMatchObject({ state: 'succeeded', stored: false });
      handle = soundly;
      expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
    });
  });
});

function open(options = {}): Promise<Shop> {
  const store = interceptCalls(new MemoryPaymentStore({ clock }), (call) => handle(call));
  return startShop({
    options: { ...accountAt(simulator), store, background: false, timeoutMs: SHORT_MS, ...options },
    clock,
  });
}

async function rejection(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
}

/** The order can be started again, and its page is the first that the buyer sees. */
async function expectFree(sale: ReturnType<typeof order>): Promise<void> {
  const { conversationId, payment } = await shop.payments.startHosted(sale);
  expect(payment.state).toBe('pending');
  simulator.payAtPage(conversationId, { callback: 'none' });
  expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
  expect([simulator.ledger.charges.length, simulator.ledger.violations]).toEqual([1, []]);
}

/** An answer can be changed only after the work. */
function isAnswer({ kind }: FaultPlay): boolean {
  return !['reset', 'close', 'half-reply', 'stall', 'status'].includes(kind);
}
