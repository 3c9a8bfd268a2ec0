import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Flow } from './attempt.js';
import { compare, type Differences, owedEvents } from './comparison.js';
import { CrashTrial, type DurableStore } from './crash-trial.js';

/** A full run: CRASHES=25. */
const CRASHES = Number(process.env['CRASHES'] ?? 1);

const FLOWS = ['direct', 'init3d', 'auth3d'] as const satisfies Flow[];

/** Where a process is killed: wherever its books or the gateway's are others than before. */
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

/** Kills processes on their way, lets another one come after them, and compares its books with the gateway's. */
export function describeCrashes(name: string, startStore: () => Promise<DurableStore>): void {
  describe(`SIGKILL at each of ${POINTS.length} points on ${name}, ${CRASHES} times each`, () => {
    let trial: CrashTrial;
    let differences: Differences;

    beforeAll(async () => {
      trial = await CrashTrial.on(await startStore());
    }, 60_000);
    afterAll(() => trial.end());

    it(
      'each process is killed where it should be',
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
        differences = compare(books);
        expect(books.ledger.charges.length).toBeGreaterThanOrEqual(6 * CRASHES);
        expect(owedEvents(books).length).toBeGreaterThanOrEqual(books.payments.size);
      },
      60_000 + CRASHES * 10_000,
    );

    it('charged twice: 0', () => expect(differences.chargedTwice).toEqual([]));

    it('lost: 0', () => expect(differences.lost).toEqual([]));

    it('invented: 0', () => expect(differences.invented).toEqual([]));

    it('events lost: 0', () => expect(differences.lostEvents).toEqual([]));
  });
}
