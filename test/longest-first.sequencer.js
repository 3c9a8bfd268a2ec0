import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Suites that take twenty seconds or longer: each of them alone at the end would keep a core idle. */
const LONGEST = [
  'package/nest11-commonjs.spec',
  'package/first-command.spec',
  'package/nest12-esm.spec',
  'package/vendure.spec',
  'package/upgrades.spec',
  'soak/room',
  'browser/room',
  'cli/room',
  'store/sql/room',
  'races/room',
  'store/sql/engines/mysql/room',
  'store/sql/engines/postgres/room',
  'schedules/room',
  'scripts/room',
  'crashes/room',
  'e2e/room',
  'faults/frozen.spec',
  'fuzz/room',
].map((suite) => `test/${suite}.ts`);

/** Starts the longest suites first, in a fresh clone as well, where Jest does not know yet how long each takes. */
export default class LongestFirstSequencer extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const place = ({ path, context }) => {
      const found = LONGEST.indexOf(relative(context.config.rootDir, path));
      return found < 0 ? LONGEST.length : found;
    };
    return [...sorted].sort((one, other) => place(one) - place(other));
  }
}
