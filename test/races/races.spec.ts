import { inWhole } from '../rigs/extent.js';
import type { SharedStoreName } from '../rigs/shared-stores.js';
import { COPIES, describeCallbackRaces } from './callback-races.js';
import { PROCESSES, RaceRig } from './race-rig.js';
import { ASKED_AT_ONCE, describeRefundRaces } from './refund-races.js';

const SHORT = ['MariaDB', 'PostgreSQL', 'SQLite'] as const satisfies readonly SharedStoreName[];
const STORES: readonly SharedStoreName[] = inWhole([...SHORT, 'Galera'], [...SHORT]);

// Several processes do the same things on one store at once; the gateway's own ledger says what came of it.
describe(`${PROCESSES} processes`, () => {
  const rig = new RaceRig();
  beforeAll(() => rig.start(), 120_000);
  afterAll(() => rig.stop(), 30_000);

  describe.each(STORES)('on %s', (store) => {
    beforeAll(() => rig.openStore(store), 120_000);
    afterAll(() => rig.closeStore(), 60_000);
    beforeEach(() => rig.simulator.reset());

    describe(`that share ${COPIES} copies of each callback`, () => describeCallbackRaces(rig, store));
    describe(`that ask for ${ASKED_AT_ONCE} refunds of each payment at once`, () => describeRefundRaces(rig, store));
  });
});
