import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Suites that take twenty seconds or longer: each of them alone at the end would keep a core idle. */
const LONGEST = [
  'package/nest12-esm.spec',
  'package/nest11-commonjs.spec',
  'package/owed-at-end.spec',
  'soak/room',
  'browser/room',
  'races/room',
  'cli/room',
  'e2e/room',
  'crashes/room',
  'leaks/room',
  'store/sql/engines/mysql/room',
  'recovery/room',
  'store/sql/engines/postgres/room',
  'store/sql/room',
  'galera/room',
  'faults/frozen.spec',
  'schedules/room',
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
