import { Logger } from '@nestjs/common';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { InFlight, ProcessHold, Refusals } from '../../lib/settlement/in-flight.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { DECLINED, LOST, type Operation } from '../operations/fake-gateway.js';
import { logLines } from '../operations/log-lines.js';
import { isOver, sale, TestShop } from '../operations/test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

describe('InFlight', () => {
  it('waits for the running payments but not for later ones, so that a busy shop can shut down', async () => {
    const inFlight = opened();
    const [first, second] = [gate(), gate()];
    const one = inFlight.run('inquire', () => first.passed);
    const ended = inFlight.ended();
    const two = inFlight.run('inquire', () => second.passed);
    expect(await isOver(ended)).toBe(false);
    first.pass();
    await Promise.all([one, ended]);
    second.pass();
    await two;
  });

  it('keeps the process alive only while a payment runs, whether it succeeds or fails', async () => {
    const inFlight = opened();
    const before = timers();
    for (const last of [() => Promise.resolve(), () => Promise.reject(new Error('declined'))]) {
      const [sooner, later] = [gate(), gate()];
      const runs = [
        inFlight.run('inquire', () => sooner.passed),
        inFlight.run('inquire', () => later.passed.then(last)),
      ];
      expect(timers()).toBe(before + 1);
      sooner.pass();
      await runs[0];
      expect(timers()).toBe(before + 1);
      later.pass();
      await Promise.allSettled(runs);
      expect(timers()).toBe(before);
    }
  });
});

test.each<[string, () => Promise<string>]>([
  ['succeeds', () => Promise.resolve('written')],
  ['fails', () => Promise.reject(new Error('down'))],
])('the process is kept alive only during work that %s', async (_how, work) => {
  const before = timers();
  let during = 0;
  const ended = new ProcessHold().during(() => ((during = timers()), work()));
  expect(during).toBe(before + 1);
  expect(await ended.catch((error: Error) => error.message)).toMatch(/written|down/);
  expect(timers()).toBe(before);
});

/** That no more than the limit run is in test/overload, the metric in test/telemetry. */
describe('the limit', () => {
  const records: unknown[] = [];
  const log = logLines(records);

  it.each(['doPayment', 'init3d', 'startHosted'] as const)('holds for %s, and for nothing else', async (operation) => {
    const inFlight = opened({ maxInFlight: 1 });
    const open = gate();
    const running = inFlight.run(operation, () => open.passed);
    await expect(inFlight.run('doPayment', () => Promise.resolve())).rejects.toMatchObject({
      code: 'PAYMENT_OVERLOAD',
    });
    expect(await inFlight.run('refund', () => Promise.resolve('given back'))).toBe('given back');
    open.pass();
    await running;
  });

  it.each<[string, () => Promise<unknown>]>([
    ['has ended', () => Promise.resolve('paid')],
    ['has failed', () => Promise.reject(new Error('not sent'))],
    [
      'has failed before it waited for anything',
      () => {
        throw new Error('not sent');
      },
    ],
  ])('runs the next payment when one %s', async (_how, work) => {
    const inFlight = opened({ maxInFlight: 1 });
    await Promise.allSettled([inFlight.run('doPayment', work)]);
    expect(await inFlight.run('init3d', () => Promise.resolve('paid'))).toBe('paid');
    expect(inFlight.paymentCount).toBe(0);
  });

  it('logs three refusals a minute with the setting that caused them, and then the number of the others', async () => {
    const clock = new TestClock();
    const inFlight = opened({ account: 'eu', maxInFlight: 1 }, clock);
    const open = gate();
    void inFlight.run('doPayment', () => open.passed);
    for (let payment = 0; payment < 5; payment += 1) {
      await inFlight.run('init3d', () => Promise.resolve()).catch(() => undefined);
    }
    expect(inFlight.paymentCount).toBe(1);
    open.pass();
    await clock.advance(60_000);
    const line =
      'warn Account eu: init3d was refused, since 1 payments are in flight (maxInFlight, PAYMENT_EU_MAX_IN_FLIGHT); ' +
      'nothing was sent.';
    expect(log).toEqual([line, line, line, `${line} 2 more in the same minute were not logged.`]);
    const fields = { account: 'eu', operation: 'init3d', maxInFlight: 1, code: 'PAYMENT_OVERLOAD' };
    expect(records[0]).toMatchObject(fields);
  });
});

describe('during a shutdown', () => {
  const work = (): Promise<string> => Promise.resolve('done');
  const REFUSED = { code: 'PAYMENT_SHUTDOWN' };
  let inFlight: InFlight;

  beforeEach(() => {
    inFlight = opened();
  });

  it.each(['doPayment', 'init3d', 'startHosted', 'checkBin', 'refund', 'void', 'recordRefund', 'reconcile'] as const)(
    '%s is refused, since it begins something',
    async (operation) => {
      expect(await inFlight.run(operation, work)).toBe('done');
      inFlight.refuseNew();
      await expect(inFlight.run(operation, work)).rejects.toMatchObject(REFUSED);
    },
  );

  it.each(['auth3d', 'hostedReturn', 'abandon', 'inquire', 'inquireRefund', 'resolve', 'resolveRefund'] as const)(
    '%s still completes what was begun',
    async (operation) => {
      inFlight.refuseNew();
      expect(await inFlight.run(operation, work)).toBe('done');
    },
  );

  it('close() refuses all work, and waits for what is running', async () => {
    const open = gate();
    const running = inFlight.run('refund', () => open.passed);
    const closing = inFlight.close();
    inFlight.refuseNew();
    await expect(inFlight.run('refund', work)).rejects.toMatchObject(REFUSED);
    await expect(inFlight.run('inquire', work)).rejects.toMatchObject(REFUSED);
    expect([inFlight.count, await isOver(closing)]).toEqual([1, false]);
    open.pass();
    await Promise.all([running, closing]);
    expect(inFlight.count).toBe(0);
  });
});

it('a payment is refused before the module has started, since nothing would reconcile it', async () => {
  let isRun = false;
  const work = (): Promise<void> => Promise.resolve(void (isRun = true));
  const error = await unopened()
    .run('doPayment', work)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'PAYMENT_CONFIGURATION',
    problems: [
      { option: 'PaymentModule', variable: null, message: expect.stringContaining('started by Nest') as string },
    ],
  });
  expect(String(error)).toContain('app.init()');
  expect(isRun).toBe(false);
});

describe('a shutdown waits for', () => {
  const ID = 'ABC00000000000000001';
  const FIELDS = { Code: 'B0000', conversationId: ID };
  let shop: TestShop;
  let flows: AssembledFlows;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    flows = await shop.start();
  });
  afterEach(() => shop.gateway.close());

  const nothing = (): Promise<void> => Promise.resolve();

  async function startPayment(): Promise<string> {
    await flows.payments.init3d(sale({ conversationId: ID }));
    const { returnUrl } = shop.gateway.sent('Init3d')[0]!.fields;
    return String(returnUrl).split('/').at(-2)!;
  }

  async function addUnknown(): Promise<void> {
    await shop.store.insert(aPaymentRecord({ state: 'unknown', conversationId: ID, dueAt: shop.clock.now() }));
  }

  it.each<[string, Operation, () => Promise<unknown>, () => Promise<unknown>]>([
    ['a direct payment', 'DoPayment', () => flows.payments.doPayment(sale()), nothing],
    ['the start of a 3D payment', 'Init3d', () => flows.payments.init3d(sale()), nothing],
    [
      'the completion of a 3D payment',
      'Auth3d',
      () => flows.payments.auth3d({ conversationId: ID, fields: FIELDS }),
      startPayment,
    ],
    ['an inquiry', 'CheckPayment', () => flows.payments.inquire(ID), addUnknown],
    ['a pass of the background work', 'CheckPayment', () => flows.payments.reconcile(), addUnknown],
  ])('%s', async (_what, operation, work, before) => {
    await before();
    const held = shop.gateway.hold(operation);
    const running = work().catch(() => undefined);
    await held.begun;
    expect(await isOver(flows.inFlight.ended())).toBe(false);
    held.answer(operation === 'CheckPayment' ? LOST : DECLINED);
    await running;
    expect(await isOver(flows.inFlight.ended())).toBe(true);
  });

  it('a callback whose buyer has already been answered', async () => {
    const token = await startPayment();
    const held = shop.gateway.hold('Auth3d');
    const answer = flows.receiver.complete(token, FIELDS);
    await held.begun;
    await shop.clock.advance(25_000);
    expect((await answer).payment.state).toBe('authorizing');
    expect(await isOver(flows.inFlight.ended())).toBe(false);
    held.answer(DECLINED);
    await flows.inFlight.ended();
    expect(await flows.payments.find(ID)).toMatchObject({ state: 'failed' });
  });

  it('the decision of an operator', async () => {
    await addUnknown();
    const replace = shop.store.replace.bind(shop.store);
    const open = gate();
    shop.store.replace = async (...given) => (await open.passed, replace(...given));
    const deciding = flows.payments.resolve(ID, 'failed', 'seen in the panel');
    expect(await isOver(flows.inFlight.ended())).toBe(false);
    open.pass();
    await deciding;
    expect(await isOver(flows.inFlight.ended())).toBe(true);
  });
});

function unopened(settings: Partial<PaymentSettings> = {}, clock = new TestClock()): InFlight {
  const given = { account: 'default', maxInFlight: null, ...settings } as PaymentSettings;
  return new InFlight(new ProcessHold(), new Refusals(given, clock), given);
}

function opened(settings?: Partial<PaymentSettings>, clock?: TestClock): InFlight {
  const inFlight = unopened(settings, clock);
  inFlight.open();
  return inFlight;
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}
