import { Logger } from '@nestjs/common';
import { explore, type Findings, replay, report } from './explorer.js';
import { PLANTS } from './plants.js';
import { scenarioOf, SCRIPTS } from './scenarios.js';
import type { Script } from './shop.js';

const LIMIT_MS = 120_000;
/** `SCHEDULE='callbacks: 0 3 0'` runs that schedule alone, and shows what happened in it. */
const { SCHEDULE } = process.env;

async function exploreAndCount(script: Script): Promise<Findings> {
  const began = performance.now();
  const found = await explore(scenarioOf(script));
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`${script.name}: ${found.schedules} schedules in ${seconds} s\n`);
  return found;
}

describe('every schedule of what hosts are asked at once', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  if (SCHEDULE !== undefined) {
    it(SCHEDULE, async () => {
      const [name, taken = ''] = SCHEDULE.split(':');
      const scenario = scenarioOf([...SCRIPTS, ...PLANTS.map((row) => row.script)].find((one) => one.name === name)!);
      const schedule = await replay(scenario, taken.split(' ').filter(Boolean).map(Number));
      process.stdout.write(`${report(scenario, schedule)}\n`);
      expect(schedule.broken).toEqual([]);
    });
    return;
  }

  it.each(SCRIPTS)(
    'keeps every promise: $name',
    async (script) => {
      const { broken, schedules: count } = await exploreAndCount(script);
      if (broken) throw new Error(report(scenarioOf(script), broken));
      expect(count).toBe(script.schedules);
    },
    LIMIT_MS,
  );

  it.each(PLANTS)(
    'shows $script.name',
    async ({ script, breaks }) => {
      const { broken } = await exploreAndCount(script);
      const shown = broken ? report(scenarioOf(script), broken) : 'every promise was kept';
      expect(shown).toMatch(breaks);
      expect(shown.match(/^\d+\. /gm)!.length).toBeLessThanOrEqual(10);
    },
    LIMIT_MS,
  );
});
