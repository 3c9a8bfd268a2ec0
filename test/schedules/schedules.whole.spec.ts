import { Logger } from '@nestjs/common';
import { explore, report } from './explorer.js';
import { scenarioOf, SCRIPTS } from './scenarios.js';

const LIMIT_MS = 3_600_000;
const WIDER = [
  { wider: 'two faults', faults: 2, hosts: 2 },
  { wider: 'three hosts', faults: 1, hosts: 3 },
];
const ROWS = SCRIPTS.flatMap((script) =>
  WIDER.map(({ wider, ...more }) => ({ script: { ...script, ...more, name: `${script.name}: ${wider}` } })),
);

describe('every schedule with more faults or hosts', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  it.each(ROWS)(
    'keeps every promise: $script.name',
    async ({ script }) => {
      const { broken, schedules } = await explore(scenarioOf(script));
      process.stdout.write(`${script.name}: ${schedules} schedules\n`);
      if (broken) throw new Error(report(scenarioOf(script), broken));
    },
    LIMIT_MS,
  );
});
