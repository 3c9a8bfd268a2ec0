import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { type PaymentOptions, PaymentStoreError } from 'nestjs-card-payment';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { type RedisServer, startRedis } from '../services/redis.js';
import { startTcpProxy, type TcpProxy } from '../services/tcp-proxy.js';
import { scriptsRun, untilItWorks } from '../store/redis/patience.js';
import { Shop } from './shop.js';

const MAX_CALL_MS = 30_000;
/** What a frozen connection holds back: the write, which is then done after the thaw, or only the answer to it. */
const LOST = ['everything', 'answers'] as const;

let redis: RedisServer;
let proxy: TcpProxy;
let simulator: Simulator;
let shop: Shop;

describe('redis frozen', () => {
  beforeAll(async () => {
    redis = await startRedis({ args: ['--appendfsync', 'always'] });
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    proxy = await startTcpProxy({ port: redis.nodes[0]!.port });
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  afterEach(async () => {
    await shop.close();
    await simulator.close();
    await proxy.stop();
  });

  const url = () => `redis://127.0.0.1:${proxy.port}`;

  async function openShop(options: PaymentOptions = {}): Promise<void> {
    shop = await Shop.open(simulator, { store: await openRedisStore(url(), { timeoutMs: 1000 }), ...options });
  }

  describe.each(LOST)('a frozen connection that holds %s', (lost) => {
    it.each(['doPayment', 'init3d'] as const)(
      'at the opening of a %s: nothing is sent, and the order can be paid again',
      async (kind) => {
        await openShop();
        const order = sale();
        proxy.hold(lost);
        await expect(shop.payments[kind](order)).rejects.toThrow(PaymentStoreError);
        expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
        await untilItWorks(async () => {
          const found = await shop.payments.findByReference(order.reference!);
          expect(found).toMatchObject([{ state: 'failed', reason: 'not_sent' }]);
        });
        expect(await shop.payments.doPayment(order)).toMatchObject({ state: 'succeeded', stored: true });
        await thaw(lost);
        const states = (await shop.payments.findByReference(order.reference!)).map(({ state }) => state);
        expect(states.sort()).toEqual(['failed', 'succeeded']);
        const [calls, ...others] = (['DoPayment', 'Init3d', 'Auth3d'] as const).map((one) =>
          simulator.ledger.calls(one),
        );
        expect([calls, others, simulator.ledger.violations]).toEqual([2, [0, 0], []]);
      },
    );

    it('at the claim of a 3D payment: it is completed when the buyer reloads', async () => {
      let isFrozen = false;
      const beforeAuth3d = () => {
        if (!isFrozen) proxy.hold(lost);
        return (isFrozen = true);
      };
      await openShop({ beforeAuth3d });
      const conversationId = await shop.awaiting();
      await expect(shop.complete(conversationId)).rejects.toThrow(PaymentStoreError);
      const fenced = { state: 'awaiting', version: lost === 'answers' ? 4 : 3 };
      await untilItWorks(async () => expect(await shop.payments.find(conversationId)).toMatchObject(fenced));
      await thaw(lost);
      expect(await shop.payments.find(conversationId)).toMatchObject(fenced);
      expect(await shop.complete(conversationId)).toMatchObject({ payment: { state: 'succeeded', stored: true } });
      expect([simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([1, []]);
    });

    it('at the outcome of a payment: the caller gets it, and it is written over a new connection', async () => {
      await openShop();
      const fault = simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'stall' });
      const call = shop.payments.doPayment(sale());
      await fault.played;
      proxy.hold(lost);
      fault.release();
      const { conversationId, state } = await call;
      expect(state).toBe('succeeded');
      await untilItWorks(async () =>
        expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', version: 2 }),
      );
      await thaw(lost);
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', version: 2 });
      expect([simulator.ledger.calls('DoPayment'), simulator.ledger.violations]).toEqual([1, []]);
    });
  });

  it('with the limits of the module itself, callers get an answer within half a minute, and payments work again', async () => {
    await openShop({ store: undefined, storeUrl: url() });
    proxy.hold();
    const began = performance.now();
    const calls = [shop.payments.doPayment(sale()), shop.payments.init3d(sale()), shop.payments.find('none')];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(performance.now() - began).toBeLessThan(MAX_CALL_MS);
    await untilItWorks(async () => expect(await shop.payments.doPayment(sale())).toMatchObject({ stored: true }));
    await untilItWorks(() => shop.payments.init3d(sale()));
    expect(performance.now() - began).toBeLessThan(MAX_CALL_MS);
  });
});

/** Releases the held connections, and waits until Redis has done the one write that they held. */
async function thaw(lost: (typeof LOST)[number]): Promise<void> {
  const before = await scriptsRun(redis);
  proxy.release();
  if (lost === 'answers') return;
  await untilItWorks(async () => expect(await scriptsRun(redis)).toBe(before + 1));
}
