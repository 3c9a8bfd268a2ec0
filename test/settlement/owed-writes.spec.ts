import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import type { ProcessHold } from '../../lib/settlement/in-flight.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { quiet } from '../operations/test-shop.js';
import { type Cases, eachOf, msOf, type Steps, takeSteps } from './steps.js';

const GIVEN_UP =
  'error The payment store has accepted nothing for 30 seconds; this process no longer waits for it. ' +
  'The outcomes of these payments are not written: ONE, TWO.';

/**
 * The store is down at first. What is seen: how many are owed; how often writes were tried since the last look, how
 * many ran at once, which were written and given up; whether the process is held, and is idle, as no timer runs.
 */
const CASES: Cases = {
  'are made within seconds after a store that was down for however long': [
    `owe ONE TWO; pass 60s -> owed 2, tries 14, given up ONE TWO; up; pass 5s -> tries 2, written ONE TWO, idle; down
     owe LATER; up; pass 1s -> tries 1, written LATER, idle`,
    'owe ONE TWO; pass 3h -> owed 2, tries 2162, given up ONE TWO; up; pass 5s -> tries 2, written ONE TWO, idle',
    `owe ONE; pass 60s -> owed 1, tries 14, given up ONE; up; pass 5s -> tries 1, written ONE, idle
     owe LATER; pass 1s -> tries 1, written LATER, idle`,
  ],
  'are retried at growing intervals of up to five seconds, which start over after a success': [
    `refuse NEVER; pass 499ms -> owed 1, held; pass 1ms -> owed 1, tries 1, held; pass 1s -> owed 1, tries 1, held
     pass 58500ms -> owed 1, tries 12, given up NEVER; up; owe ONE TWO
     pass 7500ms -> owed 1, tries 4, 2 at once, written ONE TWO, held; pass 500ms -> owed 1, tries 1, held`,
  ],
  'leave no timer and no hold behind once they are made': [
    'owe ONE; up; pass 60s; renewHold -> tries 1, written ONE, idle',
  ],
  'are tried at once by writeAll: the first, and the others only if the store takes it': [
    `owe ONE TWO; writeAll -> writes 0, owed 2, tries 1, held; up; writeAll -> writes 2, tries 2, written TWO ONE
     writeAll -> writes 0`,
  ],
  'are written once when writeAll runs twice at the same time': [
    'owe ONE; up; writeAllTwice -> writes 1, writes 1, tries 1, written ONE',
  ],
  'are not delayed by those that the store always refuses': [
    'refuse NEVER; owe ONE TWO; up; pass 30s -> owed 1, tries 12, 2 at once, written ONE TWO, held',
    'refuse N1 N2 N3; owe ONE TWO; up; pass 30s -> owed 3, tries 15, 4 at once, written ONE TWO, held',
  ],
  'are retried if they hang': ['hangsOnce; owe HANGS; pass 30s -> tries 2, 2 at once, written HANGS, idle'],
  'keep the process alive until they are written, and no longer': [
    'owe ONE TWO -> owed 2, held; up; writeAll -> writes 2, tries 2, written ONE TWO',
  ],
  'keep it alive for half a minute without a success, and are then still retried': [
    `owe ONE; pass 20s; owe TWO; pass 29s -> owed 2, tries 12, held; pass 1h -> owed 2, tries 720, given up ONE TWO
     up; pass 5s -> tries 2, written ONE TWO`,
    'hangs; owe HANGS; pass 29s -> owed 1, tries 2, 2 at once, held; pass 2s -> owed 1, given up HANGS',
  ],
  'keep it alive as long as writes succeed, but not for one that the store always refuses': [
    `refuse NEVER; pass 25s; up; owe ONE; pass 25s -> owed 1, tries 16, written ONE, held
     pass 15s -> owed 1, tries 3, given up NEVER`,
  ],
  'are made within seconds if there are a thousand, up to eight at a time': [
    'slow; oweMany 1000; pass 8s -> tries 1000, 8 at once, written 1000, idle',
  ],
  'are put off after eight failures in a row': [
    'downAfterOne; oweMany 1000; writeAll -> writes 1, owed 999, tries 16, 8 at once, written ID1000, held',
  ],
  'are waited for at shutdown until the store works again': [
    'owe ONE; close -> owed 1, tries 1, held; up; pass 1s -> closed, tries 1, written ONE, idle',
  ],
  'are given up at shutdown after half a minute without a success, and tried no more': [
    `owe ONE TWO; pass 10m; renewHold; close -> owed 2, tries 123, given up ONE TWO, held
     pass 29s -> owed 2, tries 64, held; pass 2s -> closed, owed 2, tries 2, given up ONE TWO
     pass 60s -> owed 2, idle`,
  ],
  'are tried once more at shutdown if they were given up before, and new ones are not tried': [
    `owe ONE; pass 60s -> owed 1, tries 14, given up ONE; close -> closed, owed 1, tries 1; owe LATE -> owed 1
     pass 1h -> owed 1, idle`,
  ],
  'do not delay the shutdown if there are none': ['close -> closed, idle'],
};

/** What is written, and that a write is published once, is in test/scripts. */
describe('OwedWrites', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let clock: TestClock;
  let owed: OwedWrites;
  /** The number of holds that keep the process alive. */
  let holds: number;
  /** The ids of the writes that were tried, and of those that were written. */
  let tried: string[];
  let written: string[];
  let running: number;
  let mostRunning: number;
  let results: string[];
  let write: () => Promise<unknown>;

  const up = () => Promise.resolve();
  const down = () => Promise.reject(new Error('down'));
  const hang = () => new Promise(() => undefined);

  beforeEach(() => {
    clock = new TestClock();
    [holds, tried, written, running, mostRunning, results, write] = [0, [], [], 0, 0, [], down];
    const processHold: ProcessHold = {
      hold: () => ((holds += 1), () => void (holds -= 1)),
      during: (work) => work(),
    };
    owed = new OwedWrites(clock, processHold);
  });

  function owe(ids: readonly string[], writeOne = () => write()): void {
    for (const conversationId of ids) {
      owed.add({
        conversationId,
        write: async () => {
          tried.push(conversationId);
          mostRunning = Math.max(mostRunning, (running += 1));
          await writeOne().finally(() => (running -= 1));
          written.push(conversationId);
        },
      });
    }
  }

  const givenUp = () => log.filter((line) => line.startsWith('error'));

  const STEPS: Steps = {
    owe: (...ids) => owe(ids),
    /** Those are refused even by a store that works. */
    refuse: (...ids) => owe(ids, () => Promise.reject(new Error('a key is taken'))),
    oweMany: (count) => owe(someIds(Number(count))),
    pass: (time) => clock.advance(msOf(time)),
    renewHold: () => owed.renewHold(),
    writeAll: async () => results.push(`writes ${await owed.writeAll()}`),
    writeAllTwice: async () =>
      results.push(...(await Promise.all([owed.writeAll(), owed.writeAll()])).map((count) => `writes ${count}`)),
    close: () => {
      void owed.close().then(() => results.push('closed'));
      return quiet();
    },
    up: () => (write = up),
    down: () => (write = down),
    hangs: () => (write = hang),
    hangsOnce: () => (write = () => (tried.length === 1 ? hang() : up())),
    slow: () => (write = () => clock.sleep(10)),
    downAfterOne: () => (write = () => (tried.length === 1 ? up() : down())),
  };

  function see(): string {
    const facts = [
      ...results.splice(0),
      owed.count > 0 && `owed ${owed.count}`,
      tried.length > 0 && `tries ${tried.length}`,
      mostRunning > 1 && `${mostRunning} at once`,
      written.length > 0 && `written ${written.length > 9 ? written.length : written.join(' ')}`,
      ...givenUp().map((line) => `given up ${line.split(': ')[1]!.replace(/[,.]/g, '')}`),
      log.some((line) => line.includes(' 0 writes')) && 'says that none is owed',
      holds > 0 && 'held',
      clock.sleeping === 0 && 'idle',
    ];
    [tried.length, written.length, mostRunning, log.length] = [0, 0, 0, 0];
    return facts.filter(Boolean).join(', ');
  }

  it.each(eachOf(CASES))('%s (script %#)', (_what, script) => takeSteps(script, STEPS, see));

  it('are logged while they are still owed', async () => {
    await takeSteps('owe ONE; pass 1s', STEPS, see);
    expect(log).toEqual(['warn 1 writes are still owed to the payment store.']);
    expect(records).toMatchObject([{ owedWrites: 1 }]);
  });

  it('are logged by id when they are given up', async () => {
    await takeSteps('owe ONE TWO; pass 31s', STEPS, see);
    expect(givenUp()).toEqual([GIVEN_UP]);
    expect(records[log.indexOf(GIVEN_UP)]).toMatchObject({ owedWrites: 2 });
  });

  it.each<[string[], string[][]]>([
    // In order, whichever was tried last.
    [['THREE', 'ONE', 'TWO'], [['ONE', 'THREE', 'TWO']]],
    [someIds(200), [someIds(100), someIds(200).slice(100)]],
    [someIds(250), [someIds(100), someIds(200).slice(100), someIds(250).slice(200)]],
  ])('are then logged in order, a hundred in each line', async (ids, lines) => {
    owe(ids);
    await clock.advance(31_000);
    expect(givenUp().map((line) => line.match(/[A-Z]+\d*(?=[,.]|$)/g))).toEqual(lines);
  });
});

/** In the order of their names. */
function someIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `ID${1_000 + index}`);
}
