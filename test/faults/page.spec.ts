import { MemoryPaymentStore, PaymentStoreError } from 'nestjs-card-payment';
import type { FaultMoment, FaultPlay, Simulator } from 'nestjs-card-payment/simulator';
import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { sample } from '../rigs/extent.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { startShop, type Shop } from '../rigs/shop.js';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import { ROWS } from './reply-rows.js';

/** What says nothing of a charge says nothing of a page, either. */
const SILENT: readonly unknown[] = ['no_answer', 'server_error', 'unreadable'];
const SILENCES: readonly [fault: string, at: FaultMoment, play: FaultPlay][] = [
  ...sample(
    4,
    ROWS.filter(({ charge: [, reason], begin }) => SILENT.includes(reason) && begin),
  ).map(({ fault, at, play }): [string, FaultMoment, FaultPlay] => [fault, at.at(-1)!, play]),
  ['an approval of another payment', 'after', edit({ conversationId: 'ABC9' })],
  ['404 with HTML', 'after', { kind: 'status', status: 404, body: 'html' }],
];

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

// The request for the page meets the faults of the other requests in replies, connections, hosts and store.
describe('page', () => {
  let simulator: Simulator;
  let clock: SkippingClock;
  let shop: Shop;
  /** What becomes of calls of the store. */
  let handle = soundly;

  beforeAll(async () => {
    clock = new SkippingClock();
    simulator = await startTimelessGateway({ clock: () => clock.now() });
    const store = interceptCalls(new MemoryPaymentStore({ clock }), (call) => handle(call));
    const options = { ...accountAt(simulator), store, background: false, timeoutMs: SHORT_MS };
    shop = await startShop({ options, clock });
  });
  beforeEach(() => (handle = soundly));
  afterEach(() => simulator.reset());
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
  });

  /** The order can be started again, and its page is the first that the buyer sees. */
  async function expectFree(sale: ReturnType<typeof order>): Promise<void> {
    const { conversationId, payment } = await shop.payments.startHosted(sale);
    expect(payment.state).toBe('pending');
    simulator.payAtPage(conversationId, { callback: 'none' });
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
    expect([simulator.ledger.charges.length, simulator.ledger.violations]).toEqual([1, []]);
  }

  describe('the question whether the page was paid', () => {
    it.each(SILENCES)('%s: it stays open, and is found paid by the next', async (_fault, at, play) => {
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
  });

  describe('a store that fails', () => {
    it.each<[string, Handle, isHeld: boolean]>([
      ['at the closing write, and nobody has seen the page', downAt(/^replace/), true],
      ['with the word of the closing write lost', wordlessAt('replace'), false],
    ])('%s: the order is free', async (_what, fails, isHeld) => {
      const sale = order();
      handle = fails;
      await expect(shop.payments.startHosted(sale)).rejects.toBeInstanceOf(PaymentStoreError);
      await new Promise(setImmediate);
      expect(simulator.requests).toHaveLength(1);
      handle = soundly;
      if (isHeld) {
        await expect(shop.payments.startHosted(sale)).rejects.toMatchObject({ reason: 'page_open' });
        clock.aheadMs += 5 * 60_000;
      }
      await shop.payments.reconcile();
      const found = await shop.payments.findByReference(sale.reference);
      expect(found.map(({ reason }) => reason)).toEqual([null]);
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
