import { MemoryPaymentStore, PaymentHostedError, PaymentNotSentError, PaymentStoreError } from 'nestjs-card-payment';
import type { FaultPlay, Simulator } from 'nestjs-card-payment/simulator';
import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { sample } from '../rigs/extent.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { startShop, type Shop } from '../rigs/shop.js';
import { closedPort } from '../rigs/sockets.js';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import { ROWS } from './reply-rows.js';

/** The page of the gateway's own is asked for as Init3d asks for the bank's, and fails for the same reasons. */
const OPENINGS = ROWS.filter(({ init3d }) => init3d !== undefined).map(({ fault, at, ...row }) => ({
  ...row,
  name: fault,
  at: at.at(-1)!,
}));
/** What says nothing of a charge says nothing of a page, either. */
const SILENT: readonly unknown[] = ['no_answer', 'server_error', 'unreadable'];
const SILENCES = sample(
  4,
  OPENINGS.filter(({ charge: [, reason], init3d }) => SILENT.includes(reason) && init3d !== null),
).concat(
  { ...OPENINGS[0]!, name: 'an approval of another payment', at: 'after', play: edit({ conversationId: 'ABC9' }) },
  { ...OPENINGS[0]!, name: '404 with HTML', play: { kind: 'status', status: 404, body: 'html' } },
);

function edit(changes: Readonly<Record<string, string>>): FaultPlay {
  return { kind: 'edit', edit: (fields) => void Object.assign(fields, changes) };
}

const SHORT_MS = 400;
let orders = 0;

function order() {
  orders += 1;
  return { reference: `page-${orders}`, transactionDetails: { amount: '149.90', currencyCode: 949 } };
}

type Handle = (call: StoreCall) => Promise<unknown>;

const soundly: Handle = (call) => call.proceed();
const broken = (): Promise<never> => Promise.reject(new Error('the store is down'));
const downAt =
  (methods: RegExp): Handle =>
  (call) =>
    methods.test(call.method) ? broken() : call.proceed();
/** The call is carried out, and its word is lost. */
const wordlessAt =
  (method: string): Handle =>
  async (call) => {
    const answer = await call.proceed();
    return call.method === method ? broken() : answer;
  };
/** The call is carried out once the client has given it up. */
const lateAt =
  (method: string): Handle =>
  (call) => {
    if (call.method !== method) return call.proceed();
    setImmediate(() => void call.proceed());
    return broken();
  };

describe('page', () => {
  let simulator: Simulator;
  let clock: SkippingClock;
  let shop: Shop;
  /** What becomes of calls of the store. */
  let handle = soundly;

  beforeAll(async () => {
    clock = new SkippingClock();
    simulator = await startTimelessGateway({ clock: () => clock.now() });
    shop = await open();
  });
  beforeEach(() => (handle = soundly));
  afterEach(() => simulator.reset());
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
  });

  function open(options = {}): Promise<Shop> {
    const store = interceptCalls(new MemoryPaymentStore({ clock }), (call) => handle(call));
    const own = { ...accountAt(simulator), store, background: false, timeoutMs: SHORT_MS, ...options };
    return startShop({ options: own, clock });
  }

  /** The order can be started again, and its page is the first that the buyer sees. */
  async function expectFree(sale: ReturnType<typeof order>): Promise<void> {
    const { conversationId, payment } = await shop.payments.startHosted(sale);
    expect(payment.state).toBe('pending');
    simulator.payAtPage(conversationId, { callback: 'none' });
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
    expect([simulator.ledger.charges.length, simulator.ledger.violations]).toEqual([1, []]);
  }

  describe('the request for the gateway’s own page', () => {
    it.each(OPENINGS)('$name: $init3d, and the order is free again', async ({ play, at, init3d }) => {
      const sale = order();
      simulator.fail({ operation: 'hostedPage', at, ...play });
      const started: unknown = await shop.payments.startHosted(sale).catch((error: unknown) => error);
      expect(simulator.ledger.calls('hostedPage')).toBe(1);
      if (init3d === null) return expect(started).toMatchObject({ payment: { state: 'pending' } });
      expect(started).toBeInstanceOf(PaymentHostedError);
      const { payment } = started as PaymentHostedError;
      expect(payment).toMatchObject({ state: 'failed', reason: init3d, stored: true });
      expect(await shop.payments.find(payment.conversationId)).toEqual(payment);
      await expectFree(sale);
    });

    it('is free again where it could not be sent', async () => {
      const unsent = await open({ baseUrl: `http://127.0.0.1:${await closedPort()}` });
      const sale = order();
      await expect(unsent.payments.startHosted(sale)).rejects.toBeInstanceOf(PaymentNotSentError);
      const failed = { state: 'failed', reason: 'not_sent' };
      expect(await unsent.payments.findByReference(sale.reference)).toMatchObject([failed]);
      // No `page_open`: the order is not held.
      await expect(unsent.payments.startHosted(sale)).rejects.toBeInstanceOf(PaymentNotSentError);
      await unsent.app.close();
    });
  });

  describe('the question whether the page was paid', () => {
    it.each(SILENCES)('$name: it stays open, and is found paid by the next', async ({ play, at }) => {
      const { conversationId, payment } = await shop.payments.startHosted(order());
      simulator.payAtPage(conversationId, { callback: 'none' });
      for (const ask of ['inquire', 'abandon'] as const) {
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
      for (const [ask, outcome] of [
        ['inquire', { state: 'pending' }],
        ['abandon', { state: 'expired', reason: 'abandoned' }],
      ] as const) {
        simulator.fail({ operation: 'CheckPayment', ...reply });
        expect(await shop.payments[ask](conversationId)).toMatchObject(outcome);
      }
      await expectFree(sale);
    });
  });

  describe('a store that fails', () => {
    it.each<[string, Handle, sent: number, kept: (string | null)[]]>([
      ['before the opening', downAt(/^(insert|replace|find)/), 0, ['not_sent']],
      ['with the word of the opening lost', wordlessAt('insert'), 0, ['not_sent']],
      ['with an opening that lands after it was given up', lateAt('insert'), 0, ['not_sent']],
      ['at the closing write, and nobody has seen the page', downAt(/^replace/), 1, [null]],
      ['with the word of the closing write lost', wordlessAt('replace'), 1, [null]],
    ])('%s: the order is free', async (what, fails, sent, kept) => {
      const sale = order();
      handle = fails;
      await expect(shop.payments.startHosted(sale)).rejects.toBeInstanceOf(PaymentStoreError);
      await new Promise(setImmediate);
      expect(simulator.requests).toHaveLength(sent);
      handle = soundly;
      if (what.startsWith('at the closing')) {
        await expect(shop.payments.startHosted(sale)).rejects.toMatchObject({ reason: 'page_open' });
        clock.aheadMs += 5 * 60_000;
      }
      await shop.payments.reconcile();
      const found = await shop.payments.findByReference(sale.reference);
      expect(found.map(({ reason }) => reason)).toEqual(kept);
      await expectFree(sale);
    });

    it.each(['inquire', 'abandon'] as const)('when %s settles: the outcome is told, and written later', async (ask) => {
      const { conversationId } = await shop.payments.startHosted(order());
      simulator.payAtPage(conversationId, { callback: 'none' });
      handle = downAt(/^replace/);
      expect(await shop.payments[ask](conversationId)).toMatchObject({ state: 'succeeded', stored: false });
      handle = soundly;
      expect(await shop.payments.reconcile()).toMatchObject({ written: 1 });
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
    });
  });
});
