import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { sale, useMerchants } from '../e2e/merchant.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { until } from '../services/until.js';

const AT_ONCE = 1_000;
const PER_TURN = 16;

/** Counts what happens in each turn of the event loop. */
class TurnCount {
  private readonly turns: number[] = [];
  private isOver = false;

  constructor() {
    const begin = (): void => {
      this.turns.push(0);
      if (!this.isOver) setImmediate(begin);
    };
    begin();
  }

  readonly add = (): void => {
    this.turns[this.turns.length - 1]! += 1;
  };

  /** @returns the count of each turn in which something happened */
  stop(): number[] {
    this.isOver = true;
    return this.turns.filter((count) => count > 0);
  }
}

describe('a thousand payments at once go on sixteen in each turn of the event loop', () => {
  const merchants = useMerchants();
  let inserts: TurnCount;
  let requests: TurnCount;
  beforeEach(() => {
    inserts = new TurnCount();
    requests = new TurnCount();
    subscribe('undici:request:create', requests.add);
  });
  afterEach(() => {
    unsubscribe('undici:request:create', requests.add);
    inserts.stop();
    requests.stop();
  });

  /** @param meanwhile what has to happen for the store to answer */
  async function pay(storeAnswers: () => Promise<void>, meanwhile: () => Promise<void>): Promise<void> {
    const store = interceptCalls(new MemoryPaymentStore(), async ({ method, proceed }) => {
      if (method !== 'insert') return proceed();
      inserts.add();
      const result = await proceed();
      await storeAnswers();
      return result;
    });
    const { payments } = await merchants.start('fastify', { options: { store, maxInFlight: 0 } });
    const paying = Promise.all(Array.from({ length: AT_ONCE }, () => payments.doPayment(sale('10.00'))));
    await meanwhile();
    for (const { state } of await paying) expect(state).toBe('succeeded');
  }

  it('where the calls come at the same moment', async () => {
    const nothing = (): Promise<void> => Promise.resolve();
    await pay(nothing, nothing);
    expectSpread(inserts);
    expectSpread(requests);
  });

  it('where a slow store answers all of them at the same moment', async () => {
    const waiting: (() => void)[] = [];
    await pay(
      () => new Promise((resolve) => waiting.push(resolve)),
      async () => {
        await until(() => waiting.length === AT_ONCE);
        for (const answer of waiting) answer();
      },
    );
    expectSpread(requests);
  });

  function expectSpread(count: TurnCount): void {
    const turns = count.stop();
    expect(turns.reduce((sum, inTurn) => sum + inTurn, 0)).toBe(AT_ONCE);
    expect(Math.max(...turns)).toBeLessThanOrEqual(PER_TURN);
  }
});
