import { expect, it } from '@jest/globals';
import { type Auth3dDto, type HostedPaymentDto, newConversationId } from 'nestjs-card-payment';
import { inWhole } from '../rigs/extent.js';
import { sale } from '../rigs/sale.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { describeControls, describeRaces, errorsIn, PROCESSES, RACES, type RaceRig } from './race-rig.js';
import type { PageAnswer, PageReturn } from './worker-process.js';

const TIMES = 3;
export const STARTS_AT_ONCE = PROCESSES * TIMES;
const ORDERS = Math.ceil(RACES / 4);
const LIMIT_MS = 60_000 + ORDERS * 3_000;
const PAGE_OPEN = 'PAYMENT_HOSTED page_open';
const TAKEN = 'PAYMENT_DUPLICATE reference';

/** The processes start, complete and give up the same payments at the gateway's own page at once. */
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
      `settles each of ${ORDERS} paid pages once, whoever asks or gives it up`,
      async () => {
        const pages = await openPages(ORDERS);
        for (const { conversationId } of pages) rig.simulator.payAtPage(conversationId, { callback: 'none' });
        expect(await end(pages)).toEqual([]);
        expect(await historiesOf(pages)).toEqual(pages.map(() => ['initiating', 'pending', 'succeeded']));
      },
      LIMIT_MS,
    );

    it(
      `knows of each of ${ORDERS} pages that are paid while they are given up`,
      async () => {
        const pages = await openPages(ORDERS);
        // A callback waits for seconds, so that the buyer learns of the outcome.
        const ending = end(
          inWhole(
            pages,
            pages.map((page) => ({ ...page, token: null })),
          ),
        );
        for (const [turn, { conversationId }] of pages.entries()) {
          await new Promise((resolve) => setTimeout(resolve, turn % 3));
          if (turn % 4 !== 0) rig.simulator.payAtPage(conversationId, { callback: 'none' });
        }
        expect(await ending).toEqual([]);
        await rig.workers[0]!.inquire(pages.map(({ conversationId }) => conversationId));
        for (const [turn, states] of (await historiesOf(pages)).entries()) {
          // An answer about a page may be read twice, but an outcome is written once.
          const outcomes = states.filter((state) => state !== 'initiating' && state !== 'pending');
          const isPaid = turn % 4 !== 0;
          const known = isPaid ? [['succeeded'], ['expired', 'review']] : [['expired']];
          expect(known).toContainEqual(outcomes.filter((state, i) => state !== outcomes[i - 1]));
        }
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

  async function openPages(count: number): Promise<PageReturn[]> {
    const opened = await rig.share(newSales(count), (worker, share) => worker.openPages({ sales: share, times: 1 }));
    expect(errorsIn(opened)).toEqual([]);
    return opened.map(({ given }) => ({
      conversationId: given!.conversationId,
      token: tokenOf(given!.conversationId),
    }));
  }

  /** Each process completes, asks about and gives up each page. @returns what was thrown */
  async function end(pages: readonly PageReturn[]): Promise<string[]> {
    await Promise.all(rig.workers.map((worker) => worker.warmUp(pages.map(({ conversationId }) => conversationId))));
    return (await Promise.all(rig.workers.map((worker) => worker.endPages(pages)))).flat();
  }

  function historiesOf(pages: readonly PageReturn[]): Promise<string[][]> {
    return rig.histories(pages.map(({ conversationId }) => conversationId));
  }

  /** As the gateway got it. */
  function tokenOf(conversationId: string): string {
    const request = rig.simulator.requests.find(({ text }) => text.includes(conversationId));
    return /shop\.example\/([\w-]{43})/.exec(request?.text ?? '')?.[1] ?? '';
  }
}

function newSales(count: number): HostedPaymentDto[] {
  return Array.from({ length: count }, () => {
    const { transactionDetails } = sale();
    return { reference: newConversationId(), transactionDetails };
  });
}
