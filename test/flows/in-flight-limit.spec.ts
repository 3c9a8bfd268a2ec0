import { PaymentOverloadError } from 'nestjs-card-payment';
import { InFlightLimit } from '../../lib/flows/in-flight-limit.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from './log-lines.js';
import { quiet } from './test-shop.js';

describe('InFlightLimit', () => {
  logLines();

  it.each([1, 3])('lets as many run as it says (%d), and not one more', async (maxInFlight) => {
    const limit = new InFlightLimit({ account: 'default', maxInFlight } as PaymentSettings, new TestClock());
    let begun = 0;
    const refused: unknown[] = [];
    for (let payment = 0; payment < maxInFlight + 2; payment += 1) {
      const running = limit.run('doPayment', () => ((begun += 1), new Promise(() => undefined)));
      running.catch((error: unknown) => refused.push(error));
    }
    // Those that run never end, so none of them is waited for.
    await quiet();
    expect([begun, limit.count, refused.length]).toEqual([maxInFlight, maxInFlight, 2]);
    expect(refused[0]).toBeInstanceOf(PaymentOverloadError);
  });
});
