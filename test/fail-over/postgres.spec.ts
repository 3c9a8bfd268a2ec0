import { inWhole } from '../rigs/extent.js';
import { MAX_OUTAGE_MS, StoreLoad } from '../rigs/store-load.js';
import { installedPostgres, postgres18 } from '../services/postgres.js';
import { type PostgresPair, startPostgresPair } from '../services/postgres-pair.js';

/** Longer than anything takes that a test waits for. */
const LIMIT_MS = 180_000;
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

describe('two shops under load on a PostgreSQL primary with a synchronous standby', () => {
  let pair: PostgresPair;
  let load: StoreLoad;
  let url: string;
  const ends: (() => Promise<void>)[] = [];

  async function start(binaries = installedPostgres()): Promise<void> {
    pair = await startPostgresPair({ binaries });
    ends.push(() => pair.stop());
    url = await pair.createDatabase();
    load = await StoreLoad.start([url, url]);
    ends.unshift(() => load.stop());
  }

  /** Payments go on soon after this moment, at both shops, and in the end nothing is lost or done twice. */
  async function expectToGoOn(after: number): Promise<void> {
    expect(await load.untilItGoesOn(after)).toBeLessThan(MAX_OUTAGE_MS);
    expect(await load.differences(url)).toEqual([]);
    expect(load.longestMs).toBeLessThan(MAX_OUTAGE_MS);
  }

  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  }, LIMIT_MS);

  test.each(CASES)(
    '$name: payments go on within half a minute, and nothing is lost or done twice',
    async ({ binaries, failOver }) => {
      await start(binaries());
      const began = performance.now();
      await failOver(pair);
      await expectToGoOn(began);
    },
    LIMIT_MS,
  );

  test(
    'connections to a server that answers 25006 are given up, although it stays up',
    async () => {
      await start();
      pair.moveAddress();
      await load.untilItFails();
      // As after a fail-over to another server, of which the connections know nothing.
      pair.moveAddress({ to: 'primary', breaks: false });
      await expectToGoOn(performance.now());
    },
    LIMIT_MS,
  );

  test(
    'a primary that comes back, to which connections still lead, acknowledges nothing, until these are broken',
    async () => {
      await start();
      await pair.freezePrimary();
      await pair.promote();
      load.readsMayBeOld = true;
      pair.moveAddress({ breaks: false });
      await pair.thawPrimary();
      await load.untilItFails();
      pair.moveAddress();
      await expectToGoOn(performance.now());
    },
    LIMIT_MS,
  );
});
