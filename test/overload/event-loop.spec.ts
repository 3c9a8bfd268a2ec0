import type { DoPaymentDto } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { TaskProcess } from '../rigs/task-process.js';
import type { Load, Measured, ShopSetup } from './shop-process.js';

const SCRIPT = new URL('shop-process.ts', import.meta.url);
const AT_ONCE = 1_000;
const LIMIT_MS = 50;
const SLOW_MS = 2_000;
/** On a busy machine what comes in piles up meanwhile. What the module does itself, it does each time. */
const ATTEMPTS = 8;

describe('a thousand payments at once leave the event loop free', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos', slowMs: SLOW_MS });
  });
  afterEach(() => simulator.close());

  /** The longest that the loop was blocked in the calmest of some attempts, or in the first one below the limit. */
  async function blockedMs(
    amount: string,
    storeDelayMs: number,
    plantedBlockMs = 0,
    attempts = ATTEMPTS,
  ): Promise<number> {
    const setup: ShopSetup = { account: accountAt(simulator), storeDelayMs, plantedBlockMs };
    const shop = await TaskProcess.fork(SCRIPT, setup);
    const pay = (count: number, input: DoPaymentDto): Promise<Measured> =>
      shop.ask('pay', { count, sale: input } satisfies Load);
    try {
      // The first ones are slow, since their code is compiled.
      await pay(200, sale('10.00'));
      let least = Infinity;
      for (let attempt = 0; attempt < attempts && least >= LIMIT_MS; attempt += 1) {
        const measured = await pay(AT_ONCE, sale(amount));
        expect(measured.outcomes).toEqual({ succeeded: AT_ONCE });
        least = Math.min(least, measured.blockedMs);
      }
      return least;
    } finally {
      await shop.end();
    }
  }

  it.each([
    ['with a gateway that answers after two seconds', '10.61', 0],
    ['with a store that takes half a second for each write', '10.00', 500],
    ['with both', '10.61', 500],
  ])(
    '%s',
    async (_what, amount, storeDelayMs) => {
      expect(await blockedMs(amount, storeDelayMs)).toBeLessThan(LIMIT_MS);
    },
    180_000,
  );

  // The negative control: were this not noticed, the figures above would prove nothing.
  it('and a handler that blocks it for a tenth of a second is noticed', async () => {
    expect(await blockedMs('10.61', 0, 2 * LIMIT_MS, 2)).toBeGreaterThanOrEqual(LIMIT_MS);
  }, 180_000);
});
