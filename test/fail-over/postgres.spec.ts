import { inWhole } from '../rigs/extent.js';
import { installedPostgres, postgres18 } from '../services/postgres.js';
import type { PostgresPair } from '../services/postgres-pair.js';
import { LIMIT_MS, PostgresUnderLoad } from './postgres-under-load.js';

/** How often each fail-over is done, in turn with the installed PostgreSQL and with version 18. */
const FAIL_OVERS = inWhole(10, 1);

/** What happens until the standby is promoted and has the address. */
const KINDS: readonly (readonly [name: string, failOver: (pair: PostgresPair) => Promise<void>])[] = [
  [
    'the primary is killed',
    async (pair) => {
      await pair.killPrimary();
      await pair.promote();
      pair.moveAddress();
    },
  ],
  [
    'the primary is shut down, which tells its sessions 57P01',
    async (pair) => {
      await pair.shutDownPrimary();
      await pair.promote();
      pair.moveAddress();
    },
  ],
  [
    'the primary is frozen, and the address moves without a goodbye',
    async (pair) => {
      await pair.freezePrimary();
      await pair.promote();
      pair.moveAddress({ breaks: false });
    },
  ],
];
const CASES = Array.from({ length: FAIL_OVERS }, (_, run) =>
  KINDS.map(([name, failOver], kind) => {
    const isNew = (run + kind) % 2 === 1;
    const binaries = isNew ? postgres18 : installedPostgres;
    return {
      name: `${name} (${isNew ? 'PostgreSQL 18' : 'the installed PostgreSQL'}, ${run + 1})`,
      binaries,
      failOver,
    };
  }),
).flat();

let shops: PostgresUnderLoad | undefined;

describe('postgres', () => {
  afterEach(async () => {
    await shops?.stop();
    shops = undefined;
  }, LIMIT_MS);

  test.each(CASES)(
    '$name: payments go on within half a minute, and nothing is lost or done twice',
    async ({ binaries, failOver }) => {
      shops = await PostgresUnderLoad.start(binaries());
      const began = performance.now();
      await failOver(shops.pair);
      await shops.expectToGoOn(began);
      await shops.expectNoDifference();
    },
    LIMIT_MS,
  );
});
