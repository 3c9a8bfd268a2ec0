import { expect, it } from '@jest/globals';
import { newConversationId } from 'nestjs-card-payment';
import { inWhole } from '../rigs/extent.js';
import { sale } from '../rigs/sale.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { describeControls, describeRaces, PROCESSES, type RaceRig } from './race-rig.js';
import type { RefundAnswer, RefundAsk } from './worker-process.js';

export const ASKED_AT_ONCE = 40;
const TAKEN = '100.00';
const PART = '30.00';
/** How often the part fits into what was taken. */
const MOST_PARTS = 3;
/** Because another refund is under way, or because nothing, or too little, is left. */
const REFUSALS = ['in_progress', 'exceeds', 'voided', 'refunded'].map((reason) => `PAYMENT_REFUND ${reason}`);
/** A refund is sent for each of these, and they race one after the other. */
const PAYMENTS = inWhole(50, 3);
const LIMIT_MS = 60_000 + PAYMENTS * 5_000;

/** The processes give back the same payments at once. */
export function describeRefundRaces(rig: RaceRig, store: SharedStoreName): void {
  describeRaces(rig, () => {
    it(
      `gives back of each of ${PAYMENTS} payments at most what was taken`,
      async () => {
        for (const conversationId of await paidPayments(PAYMENTS)) {
          const given: unknown[] = [];
          const parts = asks(() => ({ kind: 'refund', conversationId, amount: PART }));
          // Asked for again and again, until no more is given.
          for (let before = -1; before < given.length;) {
            before = given.length;
            const answers = await race(parts);
            expect(errorsIn(answers)).toEqual([]);
            given.push(...givenIn(answers));
          }
          expect(given).toHaveLength(MOST_PARTS);
          expect(rig.simulator.ledger.refundedAmount(conversationId)).toBe('90.00');
        }
        expect(rig.simulator.ledger.violations).toEqual([]);
      },
      LIMIT_MS,
    );

    it.each(['refundId', 'idempotencyKey'] as const)(
      `sends one refund of each of ${PAYMENTS} payments for one %s`,
      async (name) => {
        for (const conversationId of await paidPayments(PAYMENTS)) {
          const key = { [name]: newConversationId() };
          const answers = await race(asks(() => ({ kind: 'refund', conversationId, amount: PART, ...key })));
          expect(answers.map(({ error }) => error)).toEqual(Array(ASKED_AT_ONCE).fill(null));
          expect(new Set(answers.map(({ given }) => given?.refundId)).size).toBe(1);
          expect(rig.simulator.ledger.refundedAmount(conversationId)).toBe(PART);
        }
        const { ledger } = rig.simulator;
        expect([ledger.calls('refund'), ledger.violations]).toEqual([PAYMENTS, []]);
      },
      LIMIT_MS,
    );

    it(
      `gives each of ${PAYMENTS} payments back wholly or in parts, never both`,
      async () => {
        for (const conversationId of await paidPayments(PAYMENTS)) {
          const answers = await race(partsAndVoids(conversationId));
          expect(errorsIn(answers)).toEqual([]);
          const given = givenIn(answers);
          const amounts = given.map(({ amount }) => Number(amount));
          const refunded = Number(rig.simulator.ledger.refundedAmount(conversationId));
          expect(refunded).toBe(amounts.reduce((sum, amount) => sum + amount, 0));
          expect(refunded).toBeLessThanOrEqual(Number(TAKEN));
          if (given.some(({ kind }) => kind === 'void')) expect(given).toHaveLength(1);
          else expect(given.length).toBeGreaterThan(0);
        }
        const { ledger } = rig.simulator;
        // The gateway would have declined what the module must not even send.
        expect([ledger.calls('refund') + ledger.calls('void'), ledger.violations]).toEqual([ledger.refunds.length, []]);
      },
      LIMIT_MS,
    );
  });

  describeControls(rig, store, () => {
    it('asks the gateway for more than was taken', async () => {
      const [conversationId = ''] = await paidPayments(1);
      await race(asks(() => ({ kind: 'refund', conversationId, amount: PART })));
      const { ledger } = rig.simulator;
      expect(ledger.violations).toContainEqual(expect.objectContaining({ kind: 'excessive-refund' }));
    }, 60_000);

    it('sends one refundId more than once', async () => {
      const [conversationId = ''] = await paidPayments(1);
      const refundId = newConversationId();
      await race(asks(() => ({ kind: 'refund', conversationId, amount: PART, refundId })));
      const { ledger } = rig.simulator;
      expect(ledger.violations).toContainEqual(expect.objectContaining({ kind: 'repeated-call', operation: 'refund' }));
    }, 60_000);

    it('sends a void beside refunds', async () => {
      const [conversationId = ''] = await paidPayments(1);
      await race(partsAndVoids(conversationId));
      const { ledger } = rig.simulator;
      expect(Math.min(ledger.calls('void'), ledger.calls('refund'))).toBeGreaterThan(0);
    }, 60_000);
  });

  async function paidPayments(count: number): Promise<string[]> {
    const sales = Array.from({ length: count }, () => sale(TAKEN, { reference: newConversationId() }));
    return rig.share(sales, (worker, share) => worker.pay(share));
  }

  /** Each process makes its share of these at the same time. */
  async function race(all: readonly RefundAsk[]): Promise<RefundAnswer[]> {
    const ids = [...new Set(all.map(({ conversationId }) => conversationId))];
    await Promise.all(rig.workers.map((worker) => worker.warmUp(ids)));
    return rig.share(all, (worker, share) => worker.giveBack(share));
  }
}

function asks(ask: (turn: number) => RefundAsk): RefundAsk[] {
  // A process asks for each of its share.
  return Array.from({ length: ASKED_AT_ONCE }, (_, i) => ask(Math.floor(i / PROCESSES)));
}

function partsAndVoids(conversationId: string): RefundAsk[] {
  return asks((turn) =>
    turn % 5 === 0 ? { kind: 'void', conversationId } : { kind: 'refund', conversationId, amount: PART },
  );
}

/** The errors that are no refusals. */
function errorsIn(answers: readonly RefundAnswer[]): string[] {
  return answers.flatMap(({ error }) => (error === null || REFUSALS.includes(error) ? [] : [error]));
}

/** What was given back: all that was not refused. */
function givenIn(answers: readonly RefundAnswer[]) {
  const given = answers.flatMap((answer) => answer.given ?? []);
  expect(given.filter(({ state }) => state !== 'succeeded')).toEqual([]);
  return given;
}
