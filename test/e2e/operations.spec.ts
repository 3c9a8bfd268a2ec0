import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  InjectPaymentOperations,
  MemoryPaymentStore,
  OnPayment,
  type PaymentEvent,
  PaymentModule,
  PaymentOperations,
  PaymentService,
  type PaymentSimulator,
  paymentSimulatorToken,
  paymentToken,
  PaymentValidationError,
} from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { sale } from './merchant.js';

const BY = { by: 'ada@shop.example' };
const NOTE = 'as the panel says';

class Orders {
  readonly told: string[] = [];

  constructor(@InjectPaymentOperations('eu') readonly operations: PaymentOperations) {}

  @OnPayment('expired', { name: 'eu' })
  expired({ payment }: PaymentEvent<'expired'>): void {
    this.told.push(payment.conversationId);
  }
}

// Lists, histories and parked deliveries, and who did what, are in test/desk/expected; what was settled in a period, in
// test/cli/expected/export.txt.
describe('PaymentOperations', () => {
  const store = new MemoryPaymentStore();
  let app: INestApplicationContext;
  let payments: PaymentService;
  let operations: PaymentOperations;
  let simulator: PaymentSimulator;

  beforeAll(async () => {
    const addresses = { returnUrl: 'http://localhost/back', failUrl: 'http://localhost/back' };
    const options = {
      name: 'eu',
      baseUrl: 'simulator:',
      callback: false as const,
      background: false,
      store,
      ...addresses,
    };
    const builder = Test.createTestingModule({ imports: [PaymentModule.forRoot(options)], providers: [Orders] });
    app = await (await builder.setLogger(loggerInto([])).compile()).init();
    payments = app.get<PaymentService>(paymentToken('eu'));
    ({ operations } = app.get(Orders));
    simulator = app.get<PaymentSimulator>(paymentSimulatorToken('eu'));
  });
  afterAll(() => app.close());

  it('counts payments, refunds and deliveries', async () => {
    const { conversationId } = await payments.doPayment(sale());
    for (const operation of ['DoPayment', 'refund'] as const) simulator.fail({ operation, kind: 'close', at: 'after' });
    const unknown = await payments.doPayment(sale());
    const open = await operations.refund({ conversationId, amount: '10.00', ...BY });
    await store.announce('eu', [{ handlerId: 'mail', type: 'payment.succeeded' }]);
    await store.fanOut('eu', 10);
    const none = { count: 0, oldest: null };
    expect(await operations.counts()).toMatchObject({
      states: { succeeded: { count: 1 }, unknown: { count: 1, oldest: unknown.updatedAt }, review: none },
      refunds: { unknown: { count: 1, oldest: open.updatedAt }, refunding: none },
      deliveries: { waiting: 3, open: 1, orphaned: 0, parked: 0, oldest: null },
      otherGateway: 0,
    });
  });

  it('finds a payment and a refund by their ids and by when they were settled, and lists refunds apart', async () => {
    const from = new Date(Date.now() - 60_000);
    const payment = await payments.doPayment(sale());
    const { conversationId, reference } = payment;
    const refund = await operations.refund({ conversationId, amount: '10.00', ...BY });
    expect(await operations.find(conversationId)).toMatchObject({ conversationId, state: 'succeeded' });
    expect(await operations.find(refund.refundId)).toEqual(refund);
    expect([await operations.find('none'), await operations.find('no\u0000ne')]).toEqual([null, null]);
    expect((await operations.list({ reference: reference! })).payments).toHaveLength(1);
    expect((await operations.list({ reference: 'no\u0000ne' })).payments).toEqual([]);
    expect(await operations.listRefunds({ state: 'succeeded' })).toEqual({ refunds: [refund], next: null });
    expect((await operations.listRefunds({ state: ['refunding', 'review'] })).refunds).toEqual([]);
    const settled: unknown[] = [];
    for await (const one of operations.settled({ from, to: new Date(Date.now() + 60_000) })) settled.push(one);
    expect(settled.slice(-2)).toEqual([payment, refund]);
    for await (const one of operations.settled({ from: new Date(0), to: from })) expect(one).toBeUndefined();
  });

  it('gives up an open page in somebody’s name, and tells the shop', async () => {
    const { reference, transactionDetails } = sale();
    const { conversationId } = await payments.startHosted({ reference, transactionDetails });
    expect(await operations.abandon(conversationId, BY)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect((await operations.history(conversationId)).at(-1)).toMatchObject({ state: 'expired', ...BY });
    await payments.reconcile();
    expect(app.get(Orders).told).toEqual([conversationId]);
  });

  it('shows parked events in pages, and has one delivered again once', async () => {
    const mine = { account: 'eu', handlerId: 'mail', lease: 'L' };
    await store.announce('eu', [{ handlerId: 'mail', type: 'payment.succeeded' }]);
    for (let count = 0; count < 2; count += 1) await payments.doPayment(sale());
    await store.fanOut('eu', 10);
    const due = { ...mine, types: ['payment.succeeded'] as const, leaseMs: 60_000, limit: 9 };
    const ids = (await store.leaseDeliveries(due)).map(({ event }) => event.eventId);
    const failed = { attempts: 15, error: 'Error: no', parked: true, retryInMs: 0 };
    for (const eventId of ids) await store.postpone({ ...mine, eventId }, failed);
    const { deliveries, next } = await operations.deliveries({ limit: 1 });
    expect(deliveries).toMatchObject([
      { handlerId: 'mail', type: 'payment.succeeded', attempts: 15, error: 'Error: no' },
    ]);
    const { eventId, at } = deliveries[0]!;
    const others = (await operations.deliveries({ after: next })).deliveries.map((one) => one.eventId);
    expect([eventId, ...others].sort()).toEqual(ids.sort());
    expect((await operations.counts()).deliveries).toMatchObject({ parked: ids.length, oldest: at });
    expect(await operations.replay('mail', eventId, BY)).toBe(true);
    expect(await operations.replay('mail', eventId, BY)).toBe(false);
  });

  /** Has the next inquiry say that the refund was made. */
  function showRefunded(refundId: string): void {
    const paid = { responseCode: 'B0000', responseDescription: 'Approved', transactionStatus: 'SUCCESS' };
    const body = JSON.stringify({ ...paid, transactionType: 'REFUND', conversationId: refundId });
    simulator.fail({ operation: 'CheckPayment', kind: 'reply', status: 200, body });
  }

  it('shows the changes of several refunds in the order in which they happened', async () => {
    const { conversationId } = await payments.doPayment(sale());
    simulator.fail({ operation: 'refund', kind: 'reply', status: 403, body: '{"code":"X1234"}' });
    const { refundId } = await operations.refund({ conversationId, amount: '10.00', ...BY });
    await operations.recordRefund({ conversationId, amount: '5.00', refundId: 'PANEL', note: NOTE, ...BY });
    showRefunded(refundId);
    await operations.inquireRefund(refundId, BY);
    const changes = await operations.history(conversationId);
    expect(changes.at(-1)).toMatchObject(BY);
    expect(changes.slice(2).map(({ state }) => state)).toEqual([
      'refunding',
      'failed',
      'refunding',
      'succeeded',
      'review',
    ]);
  });

  // Of what people and addresses bring.
  it.each<[string, string, (of: PaymentOperations) => Promise<unknown>]>([
    ['a state that there is not', 'state', (of) => of.list({ state: 'refunding' as never })],
    ['a limit of 0', 'limit', (of) => of.list({ limit: 0 })],
    ['a limit of many', 'limit', (of) => of.deliveries({ limit: 1_001 })],
    ['a page that there is not', 'after', (of) => of.list({ after: 'x' })],
    [
      'a page at no time',
      'after',
      (of) => of.list({ after: Buffer.from('[9007199254740991,"x"]').toString('base64url') }),
    ],
    ['a period of text', 'from', (of) => of.settled({ from: '2026' as never, to: new Date() }).next()],
    ['a period of no date', 'to', (of) => of.settled({ from: new Date(), to: new Date(NaN) }).next()],
  ])('refuses %s with an error that says what to give', async (_what, path, call) => {
    await expectRefusal(call(operations), path);
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
      await expectRefusal(ACTS[act]!(operations, member), 'by');
    }
  });

  async function expectRefusal(call: Promise<unknown>, path: string): Promise<void> {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentValidationError);
    expect((error as PaymentValidationError).issues).toMatchObject([{ path }]);
  }
});
