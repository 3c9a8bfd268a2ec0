import { MemoryPaymentStore, PaymentOperations, type PaymentService } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { isOver } from '../operations/test-shop.js';
import { sale } from '../rigs/sale.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const MINUTE_MS = 60_000;
const ID = 'ABC00000000000000001';
const NOTE = 'seen in the panel';
const BY = { by: 'ada@shop.example' };
const RECORDED = { conversationId: ID, refundId: 'R-1', amount: '1.00', note: NOTE };

interface Shown {
  readonly payments: PaymentService;
  readonly staff: PaymentOperations;
}

let bins = 450_800;

/** What is known of a card is not asked for again. */
function anotherBin(): string {
  bins += 1;
  return String(bins);
}

/** Whether it begins a payment, something else, or completes what was begun. */
type Begins = 'a payment' | 'something' | 'nothing';

const METHODS: readonly [name: string, begins: Begins, call: (shown: Shown) => Promise<unknown>][] = [
  ['doPayment', 'a payment', ({ payments }) => payments.doPayment(sale())],
  ['init3d', 'a payment', ({ payments }) => payments.init3d(sale())],
  [
    'startHosted',
    'a payment',
    ({ payments }) => payments.startHosted({ transactionDetails: { amount: '1.00', currencyCode: 949 } }),
  ],
  ['checkBin', 'something', ({ payments }) => payments.checkBin(anotherBin())],
  ['refund', 'something', ({ payments }) => payments.refund({ conversationId: ID })],
  ['void', 'something', ({ payments }) => payments.void({ conversationId: ID })],
  ['recordRefund', 'something', ({ payments }) => payments.recordRefund(RECORDED)],
  ['reconcile', 'something', ({ payments }) => payments.reconcile()],
  ['auth3d', 'nothing', ({ payments }) => payments.auth3d({ conversationId: ID, fields: {} })],
  ['abandon', 'nothing', ({ payments }) => payments.abandon(ID)],
  ['inquire', 'nothing', ({ payments }) => payments.inquire(ID)],
  ['inquireRefund', 'nothing', ({ payments }) => payments.inquireRefund(ID)],
  ['resolve', 'nothing', ({ payments }) => payments.resolve(ID, 'failed', NOTE)],
  ['resolveRefund', 'nothing', ({ payments }) => payments.resolveRefund(ID, 'failed', NOTE)],
  ['refund by staff', 'something', ({ staff }) => staff.refund({ conversationId: ID, ...BY })],
  ['void by staff', 'something', ({ staff }) => staff.void({ conversationId: ID, ...BY })],
  ['recordRefund by staff', 'something', ({ staff }) => staff.recordRefund({ ...RECORDED, ...BY })],
  ['abandon by staff', 'nothing', ({ staff }) => staff.abandon(ID, BY)],
  ['inquire by staff', 'nothing', ({ staff }) => staff.inquire(ID, BY)],
  ['inquireRefund by staff', 'nothing', ({ staff }) => staff.inquireRefund(ID, BY)],
  ['resolve by staff', 'nothing', ({ staff }) => staff.resolve(ID, 'failed', NOTE, BY)],
  ['resolveRefund by staff', 'nothing', ({ staff }) => staff.resolveRefund(ID, 'failed', NOTE, BY)],
];

describe('a shutdown', () => {
  let simulator: Simulator;
  let shop: Shop;
  let shown: Shown;
  let handle: (call: StoreCall) => Promise<unknown>;
  /** Lets go what is held. */
  let release: () => void;

  beforeEach(async () => {
    release = () => undefined;
    handle = ({ proceed }) => proceed();
    simulator = await startTimelessGateway();
    const store = interceptCalls(new MemoryPaymentStore(), (call) => handle(call));
    shop = await startShop({ options: { ...accountAt(simulator), background: false, maxInFlight: 1, store } });
    shown = { payments: shop.payments, staff: shop.app.get(PaymentOperations) };
  });
  afterEach(async () => {
    simulator.reset();
    release();
    await shop.app.close();
    await simulator.close();
  });

  /**
   * Holds the next call of the store, or of the gateway, which alone is asked about a card.
   *
   * @returns what resolves when it is made
   */
  function hold(name: string): Promise<unknown> {
    if (name === 'checkBin') {
      const stall = simulator.fail({ operation: 'CheckBin', kind: 'stall' });
      release = () => stall.release();
      return stall.played;
    }
    const released = new Promise<void>((resolve) => (release = resolve));
    return new Promise<void>((begin) => {
      handle = async ({ proceed }) => {
        handle = (next) => next.proceed();
        begin();
        await released;
        return proceed();
      };
    });
  }

  const codeOf = (call: Promise<unknown>): Promise<string | null> =>
    call.then(
      () => null,
      ({ code }: { code: string }) => code,
    );

  it.each(METHODS)(
    'waits for %s, which begins %s, and refuses it from then on if that is new',
    async (name, begins, call) => {
      const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
      const paying = shown.payments.doPayment(sale());
      await stall.played;
      expect((await codeOf(call(shown))) === 'PAYMENT_OVERLOAD').toBe(begins === 'a payment');
      stall.release();
      await paying;

      const begun = hold(name);
      const running = codeOf(call(shown));
      await Promise.race([begun, running]);
      const closed = shop.app.close();
      expect(await isOver(closed)).toBe(false);
      expect(await codeOf(call(shown))).toBe(begins === 'nothing' ? 'PAYMENT_NOT_FOUND' : 'PAYMENT_SHUTDOWN');
      release();
      expect(await running).not.toBe('PAYMENT_SHUTDOWN');
      await closed;
      expect(await codeOf(call(shown))).toBe('PAYMENT_SHUTDOWN');
    },
    15_000,
  );
});

describe('a shutdown with work under way', () => {
  const clock = new TestClock();
  const store = new MemoryPaymentStore({ clock });
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startTimelessGateway({ clock: () => clock.now() });
  });
  afterEach(() => simulator.close());

  function start(ofStore: PaymentStore = store): Promise<Shop> {
    return startShop({ options: { ...accountAt(simulator), background: false, store: ofStore }, clock });
  }

  it('in the middle of a pass stops asking the gateway, and hands back what it leased', async () => {
    const [shop, other] = [await start(), await start()];
    const unknown = 20;
    for (let payments = 0; payments < unknown; payments += 1) await shop.payments.doPayment(sale('10.96'));
    await clock.advance(MINUTE_MS);
    const stall = simulator.fail({ operation: 'CheckPayment', kind: 'stall', times: unknown });
    const pass = shop.payments.reconcile();
    await stall.played;
    const closed = shop.app.close();
    stall.release();
    const asked = (await pass).settled;
    await closed;
    expect(asked).toBeLessThan(unknown);
    // The clock stands: nothing that was leased has run out.
    expect(await other.payments.reconcile()).toMatchObject({ settled: unknown - asked });
    await other.app.close();
  });

  it('writes what is owed', async () => {
    let failures = 1;
    const failing = interceptCalls(store, ({ method, proceed }) =>
      method === 'replace' && failures-- > 0 ? Promise.reject(new Error('disk full')) : proceed(),
    );
    const shop = await start(failing);
    const { conversationId, stored } = await shop.payments.doPayment(sale());
    await shop.app.close();
    expect([stored, (await store.find('default', conversationId))?.state]).toEqual([false, 'succeeded']);
  });
});
