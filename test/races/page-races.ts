import { expect, it } from '@jest/globals';
import { type Auth3dDto, type HostedPaymentDto, newConversationId } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { describeControls, describeRaces, errorsIn, PROCESSES, RACES, type RaceRig } from './race-rig.js';
import type { PageAnswer } from './worker-process.js';

const TIMES = 3;
export const STARTS_AT_ONCE = PROCESSES * TIMES;
const ORDERS = Math.ceil(RACES / 4);
const LIMIT_MS = 60_000 + ORDERS * 3_000;
const PAGE_OPEN = 'PAYMENT_HOSTED page_open';
const TAKEN = 'PAYMENT_DUPLICATE reference';

/** The processes start the same payments at the gateway's own page at once; how these end is in test/schedules. */
export function describePageRaces(rig: RaceRig, store: SharedStoreName): void {
  describeRaces(rig, () => {
    it(
      `opens one page for each of ${ORDERS} orders`,
      async () => {
        const sales = newSales(ORDERS);
        const answers = await start(sales, TIMES);
        expect(errorsIn(answers, [PAGE_OPEN])).toEqual([]);
        expect(rig.simulator.ledger.calls('hostedPage')).toBe(ORDERS);
        // Every process now gets that page.
        const again = await start(sales, 1);
        expect(errorsIn(again)).toEqual([]);
        const pages = new Set([...answers, ...again].flatMap(({ given }) => given?.redirectUrl ?? []));
        expect(pages.size).toBe(ORDERS);
        expect(rig.simulator.ledger.calls('hostedPage')).toBe(ORDERS);
      },
      LIMIT_MS,
    );

    it(
      `charges each of ${ORDERS} orders once, by a card, at the bank's page or at the gateway's own`,
      async () => {
        const sales = newSales(ORDERS);
        const cards = sales.map(({ reference }) => sale('149.90', { reference }));
        const started = await rig.share(cards, (worker, share) => worker.start(share));
        const callbacks = started.map((id): Auth3dDto => {
          return { conversationId: id, fields: rig.simulator.approve(id).fields };
        });
        const runs = await Promise.all(
          rig.workers.map(async (worker, turn) => {
            if (turn % 3 === 0) return worker.openPages({ sales, times: 1 });
            if (turn % 3 === 1) await worker.pay(cards);
            else expect(await worker.race({ callbacks, copies: 1 })).toEqual([]);
            return [];
          }),
        );
        const answers = runs.flat();
        expect(errorsIn(answers, [PAGE_OPEN, TAKEN])).toEqual([]);
        const { ledger } = rig.simulator;
        const opened = new Set(answers.flatMap(({ given }) => given?.conversationId ?? []));
        for (const conversationId of opened) rig.simulator.payAtPage(conversationId, { callback: 'none' });
        expect(ledger.calls('hostedPage')).toBe(opened.size);
        expect([ledger.charges.length, ledger.violations]).toEqual([ORDERS, []]);
      },
      LIMIT_MS,
    );
  });

  describeControls(rig, store, () => {
    it('opens more than one page for an order', async () => {
      await start(newSales(1), TIMES);
      expect(rig.simulator.ledger.calls('hostedPage')).toBeGreaterThan(1);
    }, 60_000);
  });

  /** Each process starts each sale so many times. */
  async function start(sales: readonly HostedPaymentDto[], times: number): Promise<PageAnswer[]> {
    await Promise.all(rig.workers.map((worker) => worker.warmUp(['none'])));
    return (await Promise.all(rig.workers.map((worker) => worker.openPages({ sales, times })))).flat();
  }
}

function newSales(count: number): HostedPaymentDto[] {
  return Array.from({ length: count }, () => {
    const { transactionDetails } = sale();
    return { reference: newConversationId(), transactionDetails };
  });
}
