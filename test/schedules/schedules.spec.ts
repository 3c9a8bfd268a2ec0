import { Logger } from '@nestjs/common';
import { explore, type Findings, replay, report, type Scenario } from './explorer.js';
import { PLANTS, SCENARIOS } from './scenarios.js';

const LIMIT_MS = 120_000;
/** `SCHEDULE='two hosts, one fault: 0 3 0'` runs that schedule alone, and shows what happened in it. */
const { SCHEDULE } = process.env;

async function exploreAndCount(scenario: Scenario): Promise<Findings> {
  const began = performance.now();
  const found = await explore(scenario);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`${scenario.name}: ${found.schedules} schedules in ${seconds} s\n`);
  return found;
}

describe('every schedule of a callback that all hosts are sent', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  if (SCHEDULE !== undefined) {
    it(SCHEDULE, async () => {
      const [name, taken = ''] = SCHEDULE.split(':');
      const scenario = [...SCENARIOS, ...PLANTS].map((row) => row.scenario).find((one) => one.name === name)!;
      const schedule = await replay(scenario, taken.split(' ').filter(Boolean).map(Number));
      process.stdout.write(`${report(scenario, schedule)}\n`);
      expect(schedule.broken).toEqual([]);
    });
    return;
  }

  it.each(SCENARIOS)(
    'keeps every promise: $scenario.name',
    async ({ scenario, schedules }) => {
      const { broken, schedules: count } = await exploreAndCount(scenario);
      if (broken) throw new Error(report(scenario, broken));
      expect(count).toBe(schedules);
    },
    LIMIT_MS,
  );

  it.each(PLANTS)(
    'shows that $scenario.name',
    async ({ scenario, breaks }) => {
      const { broken } = await exploreAndCount(scenario);
      const shown = broken ? report(scenario, broken) : 'every promise was kept';
      expect(shown).toMatch(breaks);
      expect(shown.split('\n').length).toBeLessThanOrEqual(10);
    },
    LIMIT_MS,
  );
});
