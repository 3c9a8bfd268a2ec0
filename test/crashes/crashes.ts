import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compareLedgers, type LedgerDifferences, lostEvents, owedEvents } from '../rigs/ledger-comparison.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import type { Flow } from './attempt.js';
import { CrashTrial } from './crash-trial.js';

/** A full run: CRASHES=25. */
const CRASHES = Number(process.env['CRASHES'] ?? 1);

const FLOWS = ['direct', 'init3d', 'auth3d'] as const satisfies Flow[];

/** Where a process is killed: wherever the store, the gateway or a handler has just changed, or is about to. */
const KILLED_AT: Readonly<Record<Flow, readonly string[]>> = {
  direct: [
    'after the opening write',
    'after the request',
    'after the reply',
    'after the closing write',
    'before the handler',
    'after the handler',
  ],
  init3d: ['before the request', 'before the reply', 'before the closing write'],
  auth3d: ['before the opening write', 'after the opening write', 'before the reply'],
};
const POINTS = FLOWS.flatMap((flow) => KILLED_AT[flow].map((point) => ({ flow, point })));

/** Kills processes on their way, lets another one come after them, and compares the store with the gateway's ledger. */
export function describeCrashes(name: SharedStoreName): void {
  describe(`SIGKILL at each of ${POINTS.length} points on ${name}, ${CRASHES} times each`, () => {
    let trial: CrashTrial;
    let differences: LedgerDifferences;
    let unheard: readonly string[];

    beforeAll(async () => {
      trial = await CrashTrial.on(name);
    }, 60_000);
    afterAll(() => trial.end());

    it(
      'each process is killed at its point',
      async () => {
        const attempts = await trial.crash(Array.from({ length: CRASHES }, () => POINTS).flat());
        expect(attempts).toHaveLength(CRASHES * POINTS.length);
      },
      30_000 + CRASHES * 60_000,
    );

    it(
      'another process comes after them, until nothing is left to do',
      async () => {
        const { code, passes } = await trial.comeAfter();
        expect(code).toBe(0);
        expect(passes).toBeLessThan(20);
        const books = await trial.books();
        differences = compareLedgers(books);
        unheard = lostEvents(books.payments, books.heard);
        expect(books.ledger.charges.length).toBeGreaterThanOrEqual(6 * CRASHES);
        expect(books.payments.flatMap(owedEvents).length).toBeGreaterThanOrEqual(books.payments.length);
      },
      60_000 + CRASHES * 10_000,
    );

    it('no order was charged twice', () => expect(differences.chargedTwice).toEqual([]));

    it('no charge was lost: each is known as succeeded', () => expect(differences.lost).toEqual([]));

    it('no outcome was invented: what was not charged is not known as paid', () =>
      expect(differences.invented).toEqual([]));

    it('no event was lost: a handler has heard each', () => expect(unheard).toEqual([]));
  });
}
