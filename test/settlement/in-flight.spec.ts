import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { InFlight, ProcessHold, Refusals } from '../../lib/settlement/in-flight.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { gate, isOver } from '../operations/test-shop.js';

describe('InFlight', () => {
  it('waits for the running payments but not for later ones, so that a busy shop can shut down', async () => {
    const inFlight = opened();
    const [first, second] = [gate(), gate()];
    const one = inFlight.run('rest', 'inquire', () => first.passed);
    const ended = inFlight.ended();
    const two = inFlight.run('rest', 'inquire', () => second.passed);
    expect(await isOver(ended)).toBe(false);
    first.pass();
    await Promise.all([one, ended]);
    second.pass();
    await two;
  });

  it('runs nothing before it is opened', async () => {
    const running = unopened().run('rest', 'inquire', () => Promise.resolve());
    await expect(running).rejects.toMatchObject({ code: 'PAYMENT_CONFIGURATION' });
  });

  it('stays closed, whatever is begun afterwards', async () => {
    const inFlight = opened();
    const open = gate();
    const running = inFlight.run('new', 'refund', () => open.passed);
    const closing = inFlight.close();
    inFlight.refuseNew();
    const refused = { code: 'PAYMENT_SHUTDOWN' };
    await expect(inFlight.run('rest', 'inquire', () => Promise.resolve())).rejects.toMatchObject(refused);
    expect(await isOver(closing)).toBe(false);
    open.pass();
    await Promise.all([running, closing]);
  });

  it('runs the next payment after one that failed before it waited for anything', async () => {
    const inFlight = opened({ maxInFlight: 1 });
    const failing = inFlight.run('payment', 'doPayment', () => {
      throw new Error('not sent');
    });
    await expect(failing).rejects.toThrow('not sent');
    expect(await inFlight.run('payment', 'init3d', () => Promise.resolve('paid'))).toBe('paid');
  });

  it('keeps the process alive only while a payment runs, whether it succeeds or fails', async () => {
    const inFlight = opened();
    const before = timers();
    for (const last of [() => Promise.resolve(), () => Promise.reject(new Error('declined'))]) {
      const [sooner, later] = [gate(), gate()];
      const runs = [
        inFlight.run('rest', 'inquire', () => sooner.passed),
        inFlight.run('rest', 'inquire', () => later.passed.then(last)),
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

/** What is refused is in test/overload, and for each method in test/recovery. */
describe('the log of refusals', () => {
  const records: unknown[] = [];
  const log = logLines(records);

  it('has three a minute with the setting that caused them, and then the number of the others', async () => {
    const clock = new TestClock();
    const inFlight = opened({ account: 'eu', maxInFlight: 1 }, clock);
    const open = gate();
    void inFlight.run('payment', 'doPayment', () => open.passed);
    for (let payment = 0; payment < 5; payment += 1) {
      await inFlight.run('payment', 'init3d', () => Promise.resolve()).catch(() => undefined);
    }
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

function opened(settings?: Partial<PaymentSettings>, clock?: TestClock): InFlight {
  const inFlight = unopened(settings, clock);
  inFlight.open();
  return inFlight;
}

function unopened(settings: Partial<PaymentSettings> = {}, clock = new TestClock()): InFlight {
  const given = { account: 'default', maxInFlight: null, ...settings } as PaymentSettings;
  return new InFlight(new ProcessHold(), new Refusals(given, clock), given);
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}
