import { expect, it } from '@jest/globals';
import type { Auth3dDto } from 'nestjs-card-payment';
import { inWhole } from '../rigs/extent.js';
import { sale } from '../rigs/sale.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { describeControls, describeRaces, PROCESSES, RACES, type RaceRig } from './race-rig.js';

export const COPIES = 48;
/** How many callbacks race at once; both tabs of an order are in one wave. */
const WAVE = 12;
const ORDERS = inWhole(RACES / 2, 10);

/** The processes complete the same payments at once. */
export function describeCallbackRaces(rig: RaceRig, store: SharedStoreName): void {
  const limit = 30_000 + RACES * 1_000;

  describeRaces(rig, () => {
    it(
      `sends exactly ${RACES} Auth3d for ${RACES} payments`,
      async () => {
        const callbacks = await approvedPayments(ordersOf(RACES));
        expect(await race(callbacks)).toEqual([]);
        const { ledger } = rig.simulator;
        expect([ledger.calls('Auth3d'), ledger.charges.length, ledger.violations]).toEqual([RACES, RACES, []]);
      },
      limit,
    );

    it(
      `charges each of ${ORDERS} orders once when it is open in two tabs`,
      async () => {
        const tabs = await approvedPayments(inTwoTabs(ordersOf(ORDERS)));
        expect(await race(tabs)).toEqual([]);
        const { ledger } = rig.simulator;
        expect([ledger.calls('Auth3d'), ledger.charges.length, ledger.violations]).toEqual([ORDERS, ORDERS, []]);
        const charged = ledger.charges.map(({ conversationId }) =>
          Math.floor(tabs.findIndex((tab) => tab.conversationId === conversationId) / 2),
        );
        expect(new Set(charged).size).toBe(ORDERS);
      },
      limit,
    );
  });

  describeControls(rig, store, () => {
    const few = Math.min(10, RACES);

    it(`sends more than ${few} Auth3d for ${few} payments`, async () => {
      await race(await approvedPayments(ordersOf(few)));
      expect(rig.simulator.ledger.calls('Auth3d')).toBeGreaterThan(few);
      expect(rig.simulator.ledger.violations).not.toEqual([]);
    }, 60_000);

    it(`charges ${few} orders more than ${few} times when they are open in two tabs`, async () => {
      await race(await approvedPayments(inTwoTabs(ordersOf(few))));
      expect(rig.simulator.ledger.charges.length).toBeGreaterThan(few);
    }, 60_000);
  });

  /** 3D payments of these orders, whose buyers have typed the right code. */
  async function approvedPayments(orders: readonly string[]): Promise<Auth3dDto[]> {
    const started = await rig.share(orders, (worker, share) =>
      worker.start(share.map((reference) => sale('149.90', { reference }))),
    );
    return started.map((conversationId) => ({ conversationId, fields: rig.simulator.approve(conversationId).fields }));
  }

  /** @returns what was thrown */
  async function race(callbacks: readonly Auth3dDto[]): Promise<string[]> {
    const thrown: string[] = [];
    for (let from = 0; from < callbacks.length; from += WAVE) {
      const raced = callbacks.slice(from, from + WAVE);
      await Promise.all(rig.workers.map((worker) => worker.warmUp(raced.map(({ conversationId }) => conversationId))));
      const runs = rig.workers.map((worker) => worker.race({ callbacks: raced, copies: COPIES / PROCESSES }));
      thrown.push(...(await Promise.all(runs)).flat());
    }
    return thrown;
  }
}

let batches = 0;

function ordersOf(count: number): string[] {
  batches += 1;
  return Array.from({ length: count }, (_, i) => `order-${batches}-${i}`);
}

function inTwoTabs(orders: readonly string[]): string[] {
  return orders.flatMap((order) => [order, order]);
}
