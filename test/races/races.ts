import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { SHARED_STORES, type SharedStore, type SharedStoreName } from '../rigs/shared-stores.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { type CallbackCopy, Worker } from './worker.js';

const PROCESSES = 8;
const COPIES = 48;
/** How many callbacks race at once; both tabs of an order are in one wave. */
const WAVE = 24;
/** A full run: RACES=500. */
const RACES = Number(process.env['RACES'] ?? 50);

/** Eight processes complete the same payments on one store at once; the gateway's own ledger says what they charged. */
export function describeRaces(name: SharedStoreName): void {
  describe(`${PROCESSES} processes sharing ${COPIES} copies of each callback on ${name}`, () => {
    let store: SharedStore;
    let simulator: Simulator;
    let workers: Worker[];

    beforeAll(async () => {
      [store, simulator] = await Promise.all([SHARED_STORES[name](), startSimulator({ dialect: 'morpos' })]);
      workers = await Promise.all(Array.from({ length: PROCESSES }, () => Worker.fork(accountAt(simulator))));
    }, 60_000);
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.end()));
      await simulator.close();
      await store.stop();
    }, 30_000);
    beforeEach(() => simulator.reset());

    const limit = 30_000 + RACES * 1_000;

    describe('with the store as it is', () => {
      beforeAll(() => serve({ isFlawed: false }), 30_000);

      it(
        `sends exactly ${RACES} Auth3d for ${RACES} payments`,
        async () => {
          const callbacks = await approvedPayments(ordersOf(RACES));
          expect(await race(callbacks)).toEqual([]);
          const { ledger } = simulator;
          expect([ledger.calls('Auth3d'), ledger.charges.length, ledger.violations]).toEqual([RACES, RACES, []]);
        },
        limit,
      );

      it(
        `charges each of ${RACES} orders once when it is open in two tabs`,
        async () => {
          const orders = ordersOf(RACES);
          const tabs = await approvedPayments(inTwoTabs(orders));
          expect(await race(tabs)).toEqual([]);
          const { ledger } = simulator;
          expect([ledger.calls('Auth3d'), ledger.charges.length, ledger.violations]).toEqual([RACES, RACES, []]);
          const charged = ledger.charges.map(({ conversationId }) =>
            Math.floor(tabs.findIndex((tab) => tab.conversationId === conversationId) / 2),
          );
          expect(new Set(charged).size).toBe(RACES);
        },
        2 * limit,
      );
    });

    // The negative control: were these not caught, the figures above would prove nothing.
    describe('with a store that reads, then writes', () => {
      const few = Math.min(10, RACES);

      beforeAll(() => serve({ isFlawed: true }), 30_000);

      it(`sends more than ${few} Auth3d for ${few} payments`, async () => {
        await race(await approvedPayments(ordersOf(few)));
        expect(simulator.ledger.calls('Auth3d')).toBeGreaterThan(few);
        expect(simulator.ledger.violations).not.toEqual([]);
      }, 60_000);

      it(`charges ${few} orders more than ${few} times when they are open in two tabs`, async () => {
        const orders = ordersOf(few);
        await race(await approvedPayments(inTwoTabs(orders)));
        expect(simulator.ledger.charges.length).toBeGreaterThan(few);
      }, 60_000);
    });

    async function serve({ isFlawed }: { isFlawed: boolean }): Promise<void> {
      const shared = { storeUrl: await store.create(), isFlawed };
      await Promise.all(workers.map((worker) => worker.serve(shared)));
    }

    /** 3D payments of these orders, whose buyers have typed the right code. */
    async function approvedPayments(orders: readonly string[]): Promise<CallbackCopy[]> {
      const shares = workers.map((worker, turn) =>
        worker.start(
          orders.filter((_order, i) => i % workers.length === turn).map((reference) => sale('149.90', { reference })),
        ),
      );
      const started = await Promise.all(shares);
      return orders.map((_order, i) => {
        const conversationId = started[i % workers.length]![Math.floor(i / workers.length)]!;
        return { conversationId, fields: simulator.approve(conversationId).fields };
      });
    }

    /** @returns what was thrown */
    async function race(callbacks: readonly CallbackCopy[]): Promise<string[]> {
      const thrown: string[] = [];
      for (let from = 0; from < callbacks.length; from += WAVE) {
        const raced = callbacks.slice(from, from + WAVE);
        await Promise.all(workers.map((worker) => worker.warmUp(raced.map(({ conversationId }) => conversationId))));
        const runs = workers.map((worker) => worker.race(raced, COPIES / PROCESSES));
        thrown.push(...(await Promise.all(runs)).flat());
      }
      return thrown;
    }
  });
}

let batches = 0;

function ordersOf(count: number): string[] {
  batches += 1;
  return Array.from({ length: count }, (_, i) => `order-${batches}-${i}`);
}

function inTwoTabs(orders: readonly string[]): string[] {
  return orders.flatMap((order) => [order, order]);
}
