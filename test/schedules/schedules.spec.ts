import { Logger } from '@nestjs/common';
import { inWhole } from '../rigs/extent.js';
import { explore, type Findings, replay, report, type Schedule } from './explorer.js';
import { PLANTS } from './plants.js';
import { COUNTED, scenarioOf, SCRIPTS } from './scenarios.js';
import type { Script } from './shop.js';

const LIMIT_MS = inWhole(3_600_000, 120_000);
/** Of the trace that shows a planted flaw. */
const MAX_LINES = 10;
/** `SCHEDULE='callbacks: 0 3 0'` runs that schedule alone, and shows what happened in it. */
const { SCHEDULE } = process.env;

async function exploreAndCount(script: Script, isEnough?: (found: Schedule) => boolean): Promise<Findings> {
  const began = performance.now();
  const found = await explore(scenarioOf(script), isEnough);
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
      const scenario = scenarioOf([...COUNTED, ...PLANTS].find(({ script }) => script.name === name)!.script);
      const schedule = await replay(scenario, taken.split(' ').filter(Boolean).map(Number));
      process.stdout.write(`${report(scenario, schedule)}\n`);
      expect(schedule.broken).toEqual([]);
    });
    return;
  }

  it.each(COUNTED.slice(0, inWhole(COUNTED.length, SCRIPTS.length)))(
    'keeps every promise: $script.name',
    async ({ script, schedules }) => {
      const found = await exploreAndCount(script);
      if (found.broken) throw new Error(report(scenarioOf(script), found.broken));
      expect(found.schedules).toBe(schedules);
    },
    LIMIT_MS,
  );

  it.each(PLANTS)(
    'shows $script.name',
    async ({ script, breaks }) => {
      const scenario = scenarioOf(script);
      const shows = (found: Schedule): boolean =>
        found.trace.length < MAX_LINES && breaks.test(report(scenario, found));
      const { broken } = await exploreAndCount(script, shows);
      if (!broken || !shows(broken)) throw new Error(broken ? report(scenario, broken) : 'Every promise was kept.');
    },
    LIMIT_MS,
  );
});
