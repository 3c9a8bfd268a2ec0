import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { COPIES, describeCallbackRaces } from './callback-races.js';
import { describePageRaces, STARTS_AT_ONCE } from './page-races.js';
import { PROCESSES, RaceRig } from './race-rig.js';
import { ASKED_AT_ONCE, describeRefundRaces } from './refund-races.js';

/** Several processes do the same things on one store at once; the gateway's own ledger says what came of it. */
export function describeRaces(name: SharedStoreName): void {
  describe(`${PROCESSES} processes on ${name}`, () => {
    const rig = new RaceRig(name);
    beforeAll(() => rig.start(), 120_000);
    afterAll(() => rig.stop(), 30_000);
    beforeEach(() => rig.simulator.reset());

    describe(`that share ${COPIES} copies of each callback`, () => describeCallbackRaces(rig));
    describe(`that ask for ${ASKED_AT_ONCE} refunds of each payment at once`, () => describeRefundRaces(rig));
    describe(`that start each sale ${STARTS_AT_ONCE} times at the gateway's own page`, () => describePageRaces(rig));
  });
}
