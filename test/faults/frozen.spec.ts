import { Logger } from '@nestjs/common';
import { type PaymentOptions, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { SQL_SERVERS, type SqlServer } from '../rigs/sql-servers.js';
import { suiteStore } from '../rigs/suite-stores.js';
import { startTcpProxy, type TcpProxy } from '../services/tcp-proxy.js';
import { until } from '../services/until.js';
import { type EngineName, longLimitStore, POOLS, shortLimitStore, TRIED } from './engines.js';
import { Shop } from './shop.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const MAX_CALL_MS = 30_000;
/** What a frozen connection holds back: the write, which is then done after the thaw, or only the answer to it. */
const HELD_BACK = ['everything', 'answers'] as const;

/** What a case has of its own, since the cases mostly wait and therefore run at the same time. */
class FrozenCase {
  private shop: Shop | undefined;

  private constructor(
    private readonly engine: EngineName,
    private readonly database: string,
    readonly proxy: TcpProxy,
    readonly simulator: Simulator,
  ) {}

  static async use(engine: EngineName, play: (frozen: FrozenCase) => Promise<void>): Promise<void> {
    Logger.overrideLogger(false);
    const database = await (await suiteStore(engine)).create();
    const proxy = await startTcpProxy({ port: Number(new URL(database).port) });
    const simulator = await startSimulator({ dialect: 'morpos' });
    const frozen = new FrozenCase(engine, database, proxy, simulator);
    try {
      await play(frozen);
    } finally {
      await frozen.shop?.close();
      await simulator.close();
      await proxy.stop();
    }
  }

  /** The database, through the proxy. */
  get url(): string {
    return this.database.replace(/:\d+\//, `:${this.proxy.port}/`);
  }

  async openShop(store: PaymentStore, options: PaymentOptions = {}): Promise<Shop> {
    this.shop = await Shop.open(this.simulator, { store, ...options });
    return this.shop;
  }

  /** The sessions that are open in the database. */
  async sessions(): Promise<readonly number[]> {
    const { connect, others }: SqlServer = SQL_SERVERS[this.engine];
    const session = await connect(this.database);
    return others(session).finally(session.end);
  }

  /** Releases the held connections, and waits until the server has done what they held and has closed them. */
  async thaw(held: readonly number[]): Promise<void> {
    this.proxy.release();
    await until(async () => !(await this.sessions()).some((pid) => held.includes(pid)));
  }
}

describe.each(TRIED)('payments while connections to %s are frozen', (engine) => {
  const inCase = (play: (frozen: FrozenCase) => Promise<void>) => () => FrozenCase.use(engine, play);

  describe.each(POOLS)('over a pool: %s', (pool) => {
    describe.each(HELD_BACK)('a frozen connection that holds %s', (lost) => {
      for (const kind of ['doPayment', 'init3d'] as const) {
        it.concurrent(
          `at the opening of a ${kind}: nothing is sent, and the order can be paid again`,
          inCase(async (frozen) => {
            const { proxy, simulator } = frozen;
            const shop = await frozen.openShop(shortLimitStore(engine, frozen.url, pool));
            const order = sale();
            // Once one of several connections was silent, the others are not tried.
            await Promise.all(['one', 'two', 'three'].map((id) => shop.payments.find(id)));
            const held = await frozen.sessions();
            expect(held.length).toBeGreaterThanOrEqual(3);
            proxy.hold(lost);
            await expect(shop.payments[kind](order)).rejects.toThrow(PaymentStoreError);
            expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
            // An init3d gets no further than the look at who holds the order; a direct payment was to be written.
            const left = kind === 'init3d' ? [] : ['failed not_sent'];
            const found = async () =>
              (await shop.payments.findByReference(order.reference!)).map(({ state, reason }) => `${state} ${reason}`);
            await until(async () => (await found()).join() === left.join());
            expect(await shop.payments.doPayment(order)).toMatchObject({ state: 'succeeded', stored: true });
            await frozen.thaw(held);
            const states = (await shop.payments.findByReference(order.reference!)).map(({ state }) => state);
            expect(states.sort()).toEqual(kind === 'init3d' ? ['succeeded'] : ['failed', 'succeeded']);
            const [calls, ...others] = (['DoPayment', 'Init3d', 'Auth3d'] as const).map((one) =>
              simulator.ledger.calls(one),
            );
            expect([calls, others, simulator.ledger.violations]).toEqual([2, [0, 0], []]);
          }),
        );
      }

      it.concurrent(
        'at the claim of a 3D payment: it is completed when the buyer reloads',
        inCase(async (frozen) => {
          const { proxy, simulator } = frozen;
          let held: readonly number[] | null = null;
          const beforeAuth3d = async () => {
            if (!held) {
              held = await frozen.sessions();
              proxy.hold(lost);
            }
            return true;
          };
          const shop = await frozen.openShop(shortLimitStore(engine, frozen.url, pool), { beforeAuth3d });
          const { conversationId } = await shop.payments.init3d(sale());
          await expect(shop.complete(conversationId)).rejects.toThrow(PaymentStoreError);
          await until(async () => {
            const found = await shop.payments.find(conversationId);
            return found?.state === 'awaiting' && found.version > 2;
          });
          await frozen.thaw(held ?? []);
          expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
          expect(await shop.complete(conversationId)).toMatchObject({ state: 'succeeded', stored: true });
          expect([simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([1, []]);
        }),
      );
    });
  });

  it.concurrent(
    'an opening that is written late, before its fence, when all connections were frozen: the order can be paid again',
    inCase(async (frozen) => {
      const { proxy, simulator } = frozen;
      const shop = await frozen.openShop(shortLimitStore(engine, frozen.url, 'own'));
      const order = sale();
      proxy.hold();
      proxy.holdNew();
      await expect(shop.payments.doPayment(order)).rejects.toThrow(PaymentStoreError);
      proxy.release();
      await until(async () => {
        const found = await shop.payments.findByReference(order.reference!).catch(() => []);
        return found[0]?.state === 'failed';
      });
      const [ended] = await shop.payments.findByReference(order.reference!);
      expect(ended).toMatchObject({ state: 'failed', reason: 'not_sent' });
      expect(await shop.payments.doPayment(order)).toMatchObject({ state: 'succeeded', stored: true });
      expect(simulator.ledger.calls('DoPayment')).toBe(1);
    }),
  );

  it.concurrent(
    'at the outcome of a payment: the caller gets it, and it is written over a new connection',
    inCase(async (frozen) => {
      const { proxy, simulator } = frozen;
      const shop = await frozen.openShop(shortLimitStore(engine, frozen.url, 'own'));
      const fault = simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'stall' });
      const call = shop.payments.doPayment(sale());
      await fault.played;
      const held = await frozen.sessions();
      proxy.hold();
      fault.release();
      const { conversationId, state } = await call;
      expect(state).toBe('succeeded');
      await until(async () => (await shop.payments.find(conversationId))?.state === 'succeeded');
      await frozen.thaw(held);
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', version: 2 });
      expect([simulator.ledger.calls('DoPayment'), simulator.ledger.violations]).toEqual([1, []]);
    }),
  );

  // Alone, since it may freeze the whole server.
  it('with the limits of the module itself, callers get an answer within half a minute, and payments work again', () =>
    FrozenCase.use(engine, async ({ proxy, simulator, url }) => {
      const began = performance.now();
      const others = await Promise.all(
        POOLS.map(async (pool) => {
          const { store, end } = longLimitStore(engine, url, pool);
          const one = await Shop.open(simulator, { store });
          await Promise.all(Array.from({ length: 5 }, () => one.payments.doPayment(sale())));
          return { shop: one, end };
        }),
      );
      const { length } = simulator.requests;
      const server = await suiteStore(engine);
      if (server.freeze) await server.freeze();
      else proxy.hold();
      const calls = others.flatMap(({ shop: { payments } }) => [
        // To a frozen server, more than there are connections.
        ...Array.from({ length: server.freeze ? 12 : 1 }, () => payments.doPayment(sale())),
        payments.find('none'),
      ]);
      const outcomes = await Promise.allSettled(calls);
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
      expect(simulator.requests).toHaveLength(length);
      await server.thaw?.();
      for (const { shop: one } of others) expect(await one.payments.doPayment(sale())).toMatchObject({ stored: true });
      expect(performance.now() - began).toBeLessThan(MAX_CALL_MS);
      for (const { shop: one, end } of others) {
        await one.close();
        await end();
      }
    }));
});
