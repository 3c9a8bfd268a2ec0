import { compareLedgers, lostEvents, owedEvents } from '../rigs/ledger-comparison.js';
import { inWhole } from '../rigs/extent.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { type Crash, type Flow, isRefundFlow } from './attempt.js';
import { CrashTrial } from './crash-trial.js';

const STORES = ['PostgreSQL', 'MariaDB', 'SQLite'] as const satisfies readonly SharedStoreName[];

/** How often a process is killed at the points. */
const CRASHES = inWhole(10, 1);

const FLOWS = ['direct', 'init3d', 'auth3d', 'hosted', 'refund', 'void', 'recordRefund'] as const satisfies Flow[];

/** Where a process is killed: wherever the store, the gateway or a handler has just changed, or is about to. */
const KILLED_AT: Readonly<Record<Flow, readonly Crash['point'][]>> = {
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
  hosted: ['before the request', 'before the reply', 'before the closing write', 'after the closing write'],
  refund: [
    'before the opening write',
    'after the opening write',
    'before the request',
    'after the request',
    'before the reply',
    'after the reply',
    'before the closing write',
    'after the closing write',
    'before the handler',
    'after the handler',
  ],
  void: ['after the opening write', 'before the reply'],
  recordRefund: ['after the opening write', 'after the closing write'],
};
const POINTS = FLOWS.flatMap((flow) => KILLED_AT[flow].map((point): Crash => ({ flow, point })));
const REFUNDS = CRASHES * POINTS.filter(({ flow }) => isRefundFlow(flow)).length;

// Kills processes, lets another one come after them, and compares the store with the gateway's ledger.
describe.each(STORES)('on %s', (name) => {
  describe(`SIGKILL at ${POINTS.length} points, ${CRASHES} times each`, () => {
    let trial: CrashTrial;

    beforeAll(async () => {
      trial = await CrashTrial.on(name);
    }, 60_000);
    afterAll(() => trial.end());

    it(
      'a process is killed when each payment and refund is at its point',
      async () => {
        for (let crashes = 0; crashes < CRASHES; crashes += 1) {
          expect(await trial.crash(POINTS)).toHaveLength(POINTS.length);
        }
      },
      120_000 + CRASHES * 60_000,
    );

    it(
      'another process comes after them: nothing was moved twice, lost or invented, and each event was heard',
      async () => {
        const { code, passes } = await trial.recover();
        expect(code).toBe(0);
        expect(passes).toBeLessThan(20);
        const final = await trial.finalState();
        expect(compareLedgers(final)).toEqual({ movedTwice: [], lost: [], invented: [] });
        const unheard = [...lostEvents(final.payments, final.heard), ...lostEvents(final.refunds, final.heard)];
        expect(unheard).toEqual([]);
        expect(final.refunds).toHaveLength(REFUNDS);
        expect(final.refunds.filter(({ record: { state } }) => state === 'refunding')).toEqual([]);
        // What is given back was taken before.
        expect(final.ledger.charges.length).toBeGreaterThanOrEqual(REFUNDS);
        expect(final.payments.flatMap(owedEvents).length).toBeGreaterThanOrEqual(final.payments.length);
      },
      180_000 + CRASHES * POINTS.length * 2_000,
    );
  });
});
