import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  InjectPaymentOperations,
  OnPayment,
  type PaymentEvent,
  PaymentModule,
  PaymentOperations,
  paymentOperationsToken,
  PaymentService,
  paymentToken,
  PaymentValidationError,
  SystemClock,
} from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { type Engine, ENGINES_IN_TURN } from './engines.js';
import { sale, simulatorOptions } from './merchant.js';

const BY = { by: 'ada@shop.example' };
const NOTE = 'as the panel says';

describe.each(ENGINES_IN_TURN)('PaymentOperations, on %s', (_name, open) => {
  let engine: Engine;
  let simulator: Simulator;
  let store: PaymentStore;
  let account: string;
  let app: INestApplicationContext;
  let payments: PaymentService;
  let operations: PaymentOperations;
  let told: [string, string][];

  beforeAll(async () => {
    engine = await open();
    simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
  }, 30_000);
  afterAll(async () => {
    await simulator.close();
    await engine.stop();
  });

  // Each test has an account of its own, whose lists begin empty.
  beforeEach(async () => {
    account = `t${randomUUID().slice(0, 8)}`;
    store = await engine.open(new SystemClock());
    told = [];
    class Orders {
      constructor(@InjectPaymentOperations(account) readonly desk: PaymentOperations) {}

      @OnPayment(['succeeded', 'expired'], { name: account })
      tell({ type, payment }: PaymentEvent<'succeeded' | 'expired'>): void {
        told.push([type, payment.conversationId]);
      }
    }
    const addresses = { returnUrl: 'https://shop.example/back', failUrl: 'https://shop.example/back' };
    const options = { ...simulatorOptions(simulator), ...addresses, store, background: false };
    const module = await Test.createTestingModule({
      imports: [PaymentModule.forRoot({ ...options, name: account, callback: false })],
      providers: [Orders],
    }).compile();
    app = await module.init();
    payments = app.get<PaymentService>(paymentToken(account));
    operations = app.get<PaymentOperations>(paymentOperationsToken(account));
    expect(app.get(Orders).desk).toBe(operations);
  });
  afterEach(() => app.close());

  const pay = async (amount?: string) => payments.doPayment(sale(amount));
  const lose = async () => {
    simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after' });
    return pay();
  };
  const openPage = async () => {
    const { reference, transactionDetails } = sale();
    return (await payments.startHosted({ reference, transactionDetails })).payment;
  };

  it('lists payments in pages, the newest first, by state and by reference', async () => {
    const made = [await pay(), await pay('10.51'), await pay(), await pay('20.51'), await pay()];
    const newest = made.reverse().map(({ conversationId }) => conversationId);
    const listed: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<PaymentOperations['list']>> = await operations.list({ after, limit: 2 });
      listed.push(...page.payments.map(({ conversationId }) => conversationId));
      after = page.next;
    } while (after !== null);
    expect(listed).toEqual(newest);
    expect((await operations.list({ limit: made.length })).next).toBeNull();
    const idsOf = async (query: Parameters<PaymentOperations['list']>[0]) =>
      (await operations.list(query)).payments.map(({ conversationId }) => conversationId);
    expect(await idsOf({ state: 'failed' })).toEqual([newest[1], newest[3]]);
    expect(await idsOf({ state: ['failed', 'succeeded'] })).toEqual(newest);
    expect(await idsOf({ state: 'review' })).toEqual([]);
    expect(await idsOf({ reference: made[1]!.reference! })).toEqual([newest[1]]);
    expect(await idsOf({ reference: 'no\u0000ne' })).toEqual([]);
  });

  it('finds a payment and a refund by their ids, lists refunds apart, and nothing of another account', async () => {
    const { conversationId } = await pay();
    const refund = await operations.refund({ conversationId, amount: '10.00', ...BY });
    expect(await operations.find(conversationId)).toMatchObject({ conversationId, state: 'succeeded' });
    expect(await operations.find(refund.refundId)).toEqual(refund);
    expect([await operations.find('none'), await operations.find('no\u0000ne')]).toEqual([null, null]);
    expect((await operations.list()).payments).toHaveLength(1);
    expect(await operations.listRefunds()).toEqual({ refunds: [refund], next: null });
    expect((await operations.listRefunds({ state: ['refunding', 'unknown'] })).refunds).toEqual([]);
    expect(await store.find('another', conversationId)).toBeNull();
  });

  it('counts payments, refunds and deliveries', async () => {
    const { conversationId } = await pay();
    const unknown = await lose();
    simulator.fail({ operation: 'refund', kind: 'close', at: 'after' });
    const open = await operations.refund({ conversationId, amount: '10.00', ...BY });
    const none = { count: 0, oldest: null };
    expect(await operations.counts()).toMatchObject({
      states: { succeeded: { count: 1 }, unknown: { count: 1, oldest: unknown.updatedAt }, review: none },
      refunds: { unknown: { count: 1, oldest: open.updatedAt }, refunding: none },
      deliveries: { open: 0, orphaned: 0, parked: 0, oldest: null },
      otherGateway: 0,
    });
  });

  it('tells what happened to a payment and its refunds in one order, and by whom', async () => {
    const { conversationId } = await lose();
    await operations.resolve(conversationId, 'succeeded', NOTE, BY);
    const asked = { conversationId, refundId: `PANEL${account}`, note: NOTE, ...BY };
    const { refundId } = await operations.recordRefund({ ...asked, amount: '1.00' });
    const nobodys = { at: expect.any(Date), by: null, note: null, refundId: null };
    const adas = { ...nobodys, ...BY, note: NOTE };
    expect(await operations.history(conversationId)).toEqual([
      { ...nobodys, state: 'charging', reason: null },
      { ...nobodys, state: 'unknown', reason: 'no_answer' },
      { ...adas, state: 'succeeded', reason: 'operator' },
      { ...adas, state: 'refunding', reason: null, refundId },
      { ...adas, state: 'succeeded', reason: 'recorded', refundId },
    ]);
    const later = await operations.recordRefund({ ...asked, refundId: `LATER${account}`, amount: '1.00' });
    for (const [lastRefunds, ids] of [
      [0, []],
      [1, [later.refundId]],
      [9, [refundId, later.refundId]],
    ] as const) {
      const told = (await operations.history(conversationId, { lastRefunds })).map((entry) => entry.refundId);
      expect([...new Set(told)]).toEqual([null, ...ids]);
    }
    await expect(operations.history('none')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  it('asks the gateway, and keeps who asked with what that settles', async () => {
    const { conversationId } = await lose();
    expect(await operations.inquire(conversationId, BY)).toMatchObject({ state: 'succeeded' });
    const { conversationId: again } = await operations.inquire(conversationId, { by: 'grace' });
    expect(again).toBe(conversationId);
    const history = await operations.history(conversationId);
    expect(history.map(({ state, by }) => [state, by])).toEqual([
      ['charging', null],
      ['unknown', null],
      ['succeeded', BY.by],
    ]);
    simulator.fail({ operation: 'refund', kind: 'close', at: 'after' });
    const { refundId } = await payments.refund({ conversationId, amount: '10.00', by: 'bob' });
    expect(await operations.inquireRefund(refundId, BY)).toMatchObject({ state: 'succeeded', ...BY });
  });

  it('gives up an open page in somebody’s name, and tells the shop', async () => {
    const { conversationId } = await openPage();
    expect(await operations.abandon(conversationId, BY)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect((await operations.history(conversationId)).at(-1)).toMatchObject({ state: 'expired', ...BY });
    await payments.reconcile();
    expect(told).toEqual([['payment.expired', conversationId]]);
  });

  it('gives money back, calls off and settles refunds in somebody’s name', async () => {
    const [first, second] = [await pay(), await pay()];
    const voided = await operations.void({ conversationId: first.conversationId, ...BY });
    expect(voided).toMatchObject({ kind: 'void', state: 'succeeded', ...BY });
    simulator.fail({ operation: 'refund', kind: 'close', at: 'after' });
    const { refundId } = await operations.refund({ conversationId: second.conversationId, ...BY });
    const options = { by: 'grace' };
    expect(await operations.resolveRefund(refundId, 'succeeded', NOTE, options)).toMatchObject({
      state: 'succeeded',
      by: 'grace',
    });
    expect(simulator.ledger.violations).toEqual([]);
  });

  it('shows parked deliveries in pages, and has one delivered again', async () => {
    await store.announce(account, [{ handlerId: 'mail', type: 'payment.succeeded' }]);
    const made = [await pay(), await pay()];
    await store.fanOut(account, 10);
    expect((await operations.counts()).deliveries).toMatchObject({ waiting: 4, open: 4, parked: 0 });
    const mine = { account, handlerId: 'mail', lease: 'L' };
    const types = ['payment.succeeded'] as const;
    for (const { event } of await store.leaseDeliveries({ ...mine, types, leaseMs: 60_000, limit: 9 })) {
      const failed = { attempts: 15, error: 'Error: no', parked: true, retryInMs: 0 };
      await store.postpone({ ...mine, eventId: event.eventId }, failed);
    }
    const { deliveries, next } = await operations.deliveries({ limit: 1 });
    expect(deliveries).toEqual([
      {
        handlerId: 'mail',
        eventId: expect.stringContaining(made[0]!.conversationId),
        type: 'payment.succeeded',
        conversationId: made[0]!.conversationId,
        attempts: 15,
        error: 'Error: no',
        at: made[0]!.updatedAt,
      },
    ]);
    const rest = await operations.deliveries({ after: next });
    expect(rest).toMatchObject({ deliveries: [{ conversationId: made[1]!.conversationId }], next: null });
    expect((await operations.counts()).deliveries).toMatchObject({ parked: 2, oldest: made[0]!.updatedAt });
    const { eventId } = deliveries[0]!;
    expect(await operations.replay('mail', eventId, BY)).toBe(true);
    expect(await operations.replay('mail', eventId, BY)).toBe(false);
    for (const odd of ['a\0b', ['mail'], 7, {}] as string[]) {
      expect(await operations.replay(odd, eventId, BY)).toBe(false);
      expect(await operations.replay('mail', odd, BY)).toBe(false);
    }
    expect((await operations.deliveries({ parked: false })).deliveries.map((one) => one.eventId)).toContain(eventId);
  });

  it('gives what was settled in a period, payments and refunds, the oldest first', async () => {
    const from = new Date(Date.now() - 60_000);
    const [paid, declined] = [await pay(), await pay('10.51')];
    await lose();
    const refund = await operations.refund({ conversationId: paid.conversationId, amount: '10.00', ...BY });
    const settled: unknown[] = [];
    for await (const one of operations.settled({ from, to: new Date(Date.now() + 60_000) })) settled.push(one);
    expect(settled).toEqual([paid, declined, refund]);
    for await (const one of operations.settled({ from: new Date(0), to: from })) expect(one).toBeUndefined();
  });
});

describe('PaymentOperations', () => {
  let app: INestApplicationContext;

  beforeAll(async () => {
    const options = { baseUrl: 'simulator:', callback: false } as const;
    app = await (await Test.createTestingModule({ imports: [PaymentModule.forRoot(options)] }).compile()).init();
  });
  afterAll(() => app.close());

  const placeOf = (place: string) => Buffer.from(place).toString('base64url');

  // Of what people and addresses bring.
  it.each<[string, string, (of: PaymentOperations) => Promise<unknown>]>([
    ['a state that there is not', 'state', (of) => of.list({ state: 'refunding' as never })],
    ['a refund’s state that there is not', 'state', (of) => of.listRefunds({ state: ['charging'] as never })],
    ['a limit of 0', 'limit', (of) => of.list({ limit: 0 })],
    ['a limit of many', 'limit', (of) => of.deliveries({ limit: 1_001 })],
    ['a limit of text', 'limit', (of) => of.list({ limit: '5' as never })],
    ['a page that there is not', 'after', (of) => of.list({ after: 'x' })],
    ['a page of a hostile text', 'after', (of) => of.listRefunds({ after: placeOf('[1,"\\u0000"]') })],
    ['a page at no time', 'after', (of) => of.list({ after: placeOf('[9007199254740991,"x"]') })],
    ['a page of another form', 'after', (of) => of.deliveries({ after: placeOf('{"a":1}') })],
    ['a period of text', 'from', (of) => of.settled({ from: '2026' as never, to: new Date() }).next()],
    ['a period of no date', 'to', (of) => of.settled({ from: new Date(), to: new Date(NaN) }).next()],
  ])('refuses %s with an error that says what to give', async (_what, path, call) => {
    await expectRefusal(call(app.get(PaymentOperations)), path);
  });

  const ACTS: Readonly<Record<string, (of: PaymentOperations, member: never) => Promise<unknown>>> = {
    inquire: (of, member) => of.inquire('P', member),
    inquireRefund: (of, member) => of.inquireRefund('P', member),
    abandon: (of, member) => of.abandon('P', member),
    resolve: (of, member) => of.resolve('P', 'failed', NOTE, member),
    resolveRefund: (of, member) => of.resolveRefund('P', 'failed', NOTE, member),
    refund: (of, member) => of.refund({ conversationId: 'P', ...(member as object) } as never),
    void: (of, member) => of.void({ conversationId: 'P', ...(member as object) } as never),
    recordRefund: (of, member) =>
      of.recordRefund({ conversationId: 'P', amount: '1.00', note: NOTE, ...(member as object) } as never),
    replay: (of, member) => of.replay('mail', 'E', member),
  };

  it.each(Object.keys(ACTS))('refuses %s without the name of who asks', async (act) => {
    for (const member of [undefined, {}, { by: ' ' }] as never[]) {
      await expectRefusal(ACTS[act]!(app.get(PaymentOperations), member), 'by');
    }
  });

  async function expectRefusal(call: Promise<unknown>, path: string): Promise<void> {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentValidationError);
    expect((error as PaymentValidationError).issues).toMatchObject([{ path }]);
  }
});
