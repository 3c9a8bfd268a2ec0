import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Suites that take twenty seconds or longer: each of them alone at the end would keep a core idle. */
const LONGEST = [
  'package/nest12-esm',
  'package/nest11-commonjs',
  'soak/soak',
  'package/owed-at-end',
  'galera/nodes',
  'browser/hosted',
  'browser/shop',
  'browser/accessibility',
  'bench/subjects',
  ...['postgres', 'mariadb', 'galera', 'sqlite'].map((store) => `races/${store}.races`),
  ...['postgres', 'mariadb', 'sqlite'].map((store) => `crashes/${store}.crashes`),
  'cli/refunds',
  'browser/refunds',
  'leaks/leaks',
  'fail-over/postgres',
  'fail-over/lost-writes',
  'package/upgrades',
  'faults/mariadb-frozen',
  'faults/postgres-frozen',
].map((suite) => `test/${suite}.spec.ts`);

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
