import { PaymentOverloadError } from 'nestjs-card-payment';
import { InFlightLimit } from '../../lib/settlement/in-flight.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { logLines } from '../operations/log-lines.js';
import { quiet } from '../operations/test-shop.js';

describe('InFlightLimit', () => {
  const records: unknown[] = [];
  const log = logLines(records);

  it.each([1, 3])('runs up to maxInFlight payments (%d), and refuses any more', async (maxInFlight) => {
    const limit = new InFlightLimit({ account: 'default', maxInFlight } as PaymentSettings, new TestClock());
    let begun = 0;
    const refused: unknown[] = [];
    for (let payment = 0; payment < maxInFlight + 2; payment += 1) {
      const running = limit.run('doPayment', () => ((begun += 1), new Promise(() => undefined)));
      running.catch((error: unknown) => refused.push(error));
    }
    // The running payments never end, so they cannot be awaited.
    await quiet();
    expect([begun, limit.count, refused.length]).toEqual([maxInFlight, maxInFlight, 2]);
    expect(refused[0]).toBeInstanceOf(PaymentOverloadError);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['has ended', () => Promise.resolve('paid')],
    ['has failed', () => Promise.reject(new Error('not sent'))],
  ])('runs the next payment when one %s', async (_how, work) => {
    const limit = new InFlightLimit({ account: 'default', maxInFlight: 1 } as PaymentSettings, new TestClock());
    await Promise.allSettled([limit.run('doPayment', work)]);
    expect(limit.count).toBe(0);
    expect(await limit.run('init3d', () => Promise.resolve('paid'))).toBe('paid');
  });

  it('logs three refusals a minute with the setting that caused them, and then the number of the others', async () => {
    const clock = new TestClock();
    const limit = new InFlightLimit({ account: 'eu', maxInFlight: 1 } as PaymentSettings, clock);
    void limit.run('doPayment', () => new Promise(() => undefined));
    for (let payment = 0; payment < 5; payment += 1) {
      await limit.run('init3d', () => Promise.resolve()).catch(() => undefined);
    }
    await clock.advance(60_000);
    const line =
      'warn Account eu: init3d was refused, since 1 payments are in flight (maxInFlight, PAYMENT_EU_MAX_IN_FLIGHT); ' +
      'nothing was sent.';
    expect(log).toEqual([line, line, line, `${line} 2 more in the same minute were not logged.`]);
    const fields = { account: 'eu', operation: 'init3d', maxInFlight: 1, code: 'PAYMENT_OVERLOAD' };
    expect(records[0]).toMatchObject(fields);
  });

  it('counts refusals by account and operation', async () => {
    const recorder = new TelemetryRecorder().start();
    await connectTelemetry();
    const limit = new InFlightLimit({ account: 'eu', maxInFlight: 0 } as PaymentSettings, new TestClock());
    await limit.run('init3d', () => Promise.resolve()).catch(() => undefined);
    const counted = (await recorder.points()).filter(({ name }) => name === 'card_payment.overload.refused');
    recorder.stop();
    const attributes = { 'card_payment.account': 'eu', 'card_payment.operation': 'init3d' };
    expect(counted).toMatchObject([{ attributes, value: 1 }]);
  });
});
