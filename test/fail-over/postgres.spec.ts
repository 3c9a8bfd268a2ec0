import { inWhole } from '../rigs/extent.js';
import { MAX_OUTAGE_MS, StoreLoad } from '../rigs/store-load.js';
import { type PostgresPair, startPostgresPair } from '../services/postgres-pair.js';

/** How often each fail-over is done. */
const FAIL_OVERS = inWhole(10, 1);

/** What ends the primary, and whether connections break when the address moves. */
const KINDS: readonly (readonly [name: string, end: (pair: PostgresPair) => Promise<void>, breaks: boolean])[] = [
  ['the primary is killed', (pair) => pair.killPrimary(), true],
  ['the primary is shut down, which tells its sessions 57P01', (pair) => pair.shutDownPrimary(), true],
  ['the primary is frozen, and the address moves without a goodbye', (pair) => pair.freezePrimary(), false],
];
const CASES = Array.from({ length: FAIL_OVERS }, (_, run) =>
  KINDS.map(([name, end, breaks]) => [`${name} (${run + 1})`, end, breaks] as const),
).flat();

// Each limit is longer than anything takes that a test waits for.
describe('two shops under load on a PostgreSQL primary with a synchronous standby', () => {
  let pair: PostgresPair;
  let load: StoreLoad;
  let url: string;
  const ends: (() => Promise<void>)[] = [];

  async function start(): Promise<void> {
    pair = await startPostgresPair({ synchronous: true });
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
  }, 180_000);

  test.each(CASES)(
    '%s: payments go on within half a minute, and nothing is lost or done twice',
    async (_name, end, breaks) => {
      await start();
      const began = performance.now();
      await end(pair);
      await pair.promote();
      pair.moveAddress({ breaks });
      await expectToGoOn(began);
    },
    180_000,
  );

  test('connections to a server that answers 25006 are given up, although it stays up', async () => {
    await start();
    pair.moveAddress();
    await load.untilItFails();
    // As after a fail-over to another server, of which the connections know nothing.
    pair.moveAddress({ to: 'primary', breaks: false });
    await expectToGoOn(performance.now());
  }, 180_000);

  test('a primary that comes back, to which connections still lead, acknowledges nothing, until these are broken', async () => {
    await start();
    await pair.freezePrimary();
    await pair.promote();
    load.readsMayBeOld = true;
    pair.moveAddress({ breaks: false });
    await pair.thawPrimary();
    await load.untilItFails();
    pair.moveAddress();
    await expectToGoOn(performance.now());
  }, 180_000);
});
