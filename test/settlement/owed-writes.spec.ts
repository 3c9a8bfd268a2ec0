import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import type { ProcessHold } from '../../lib/settlement/in-flight.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { isOver } from '../operations/test-shop.js';

const GIVEN_UP =
  'error The payment store has accepted nothing for 30 seconds; this process no longer waits for it. ' +
  'The outcomes of these payments are not written: ONE, TWO.';

/** What is written, and that a write is published once, is in test/scripts. */
describe('OwedWrites', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let clock: TestClock;
  let owed: OwedWrites;
  /** The number of holds that keep the process alive. */
  let holds: number;
  let isDown: boolean;
  /** The ids whose writes were tried, and those that were written. */
  let tried: string[];
  let written: string[];
  let write: (conversationId: string) => Promise<void>;

  beforeEach(() => {
    clock = new TestClock();
    [holds, isDown, tried, written] = [0, true, [], []];
    const processHold: ProcessHold = {
      hold: () => ((holds += 1), () => void (holds -= 1)),
      during: (work) => work(),
    };
    owed = new OwedWrites(clock, processHold);
    write = () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve());
  });

  function owe(...ids: string[]): void {
    for (const conversationId of ids) {
      owed.add({
        conversationId,
        write: async () => {
          tried.push(conversationId);
          await write(conversationId);
          written.push(conversationId);
        },
      });
    }
  }

  /** Owes a write that the store always refuses. */
  function oweForever(conversationId: string): void {
    owed.add({
      conversationId,
      write: () => (tried.push(conversationId), Promise.reject(new Error('a key is taken'))),
    });
  }

  const givenUp = () => log.filter((line) => line.startsWith('error'));

  it.each([60_000, 3 * 3_600_000])('are made within seconds after a store that was down for %d ms', async (ms) => {
    owe('ONE', 'TWO');
    await clock.advance(ms);
    expect([owed.count, written]).toEqual([2, []]);
    isDown = false;
    await clock.advance(5_000);
    expect([owed.count, written]).toEqual([0, ['ONE', 'TWO']]);
    isDown = true;
    owe('LATER');
    isDown = false;
    await clock.advance(1_000);
    expect([owed.count, written]).toEqual([0, ['ONE', 'TWO', 'LATER']]);
  });

  it('are retried at growing intervals of up to five seconds, which start over after a success', async () => {
    oweForever('NEVER');
    await clock.advance(60_000);
    // After 0.5, 1.5, 3.5 and 7.5 seconds, then every five seconds.
    expect(tried).toHaveLength(14);
    isDown = false;
    owe('ONE', 'TWO');
    while (owed.count > 1) await clock.advance(100);
    tried = [];
    await clock.advance(1_000);
    expect(tried).toEqual(['NEVER']);
  });

  it('leave no timer and no hold behind once they are made', async () => {
    owe('ONE');
    isDown = false;
    await clock.advance(60_000);
    owed.renewHold();
    expect([owed.count, holds, clock.sleeping, log]).toEqual([0, 0, 0, []]);
  });

  it('are tried at once by writeAll: the first, and the others only if the store takes it', async () => {
    owe('ONE', 'TWO');
    expect([await owed.writeAll(), tried]).toEqual([0, ['ONE']]);
    isDown = false;
    expect([await owed.writeAll(), await owed.writeAll()]).toEqual([2, 0]);
  });

  it('are written once when writeAll runs twice at the same time', async () => {
    owe('ONE');
    isDown = false;
    expect(await Promise.all([owed.writeAll(), owed.writeAll()])).toEqual([1, 1]);
    expect(written).toEqual(['ONE']);
  });

  it.each([1, 3])('are not delayed by %d that the store always refuses', async (count) => {
    const refused = Array.from({ length: count }, (_, index) => `NEVER${index}`);
    refused.forEach(oweForever);
    owe('ONE', 'TWO');
    isDown = false;
    await clock.advance(30_000);
    expect([owed.count, written]).toEqual([count, ['ONE', 'TWO']]);
  });

  it('are logged while they are still owed', async () => {
    owe('ONE');
    await clock.advance(1_000);
    expect(log).toEqual(['warn 1 writes are still owed to the payment store.']);
    expect(records).toMatchObject([{ owedWrites: 1 }]);
  });

  it('are retried if they hang', async () => {
    write = () => (tried.length === 1 ? new Promise<never>(() => undefined) : Promise.resolve());
    owe('HANGS');
    await clock.advance(30_000);
    expect([tried.length, owed.count]).toEqual([2, 0]);
  });

  describe('keep the process alive', () => {
    it('until they are written, and no longer', async () => {
      owe('ONE', 'TWO');
      expect(holds).toBe(1);
      isDown = false;
      expect(await owed.writeAll()).toBe(2);
      expect(holds).toBe(0);
    });

    it('for half a minute without a success, after which they are logged once and still retried', async () => {
      owe('ONE');
      await clock.advance(20_000);
      owe('TWO');
      await clock.advance(29_000);
      expect([holds, givenUp()]).toEqual([1, []]);
      await clock.advance(3_600_000);
      expect([holds, givenUp()]).toEqual([0, [GIVEN_UP]]);
      expect(records[log.indexOf(GIVEN_UP)]).toMatchObject({ owedWrites: 2 });
      isDown = false;
      await clock.advance(5_000);
      expect(owed.count).toBe(0);
    });

    it('as long as writes succeed, but not for a write that the store always refuses', async () => {
      oweForever('NEVER');
      await clock.advance(25_000);
      isDown = false;
      owe('ONE');
      await clock.advance(25_000);
      expect([holds, owed.count]).toEqual([1, 1]);
      await clock.advance(15_000);
      expect([holds, owed.count]).toEqual([0, 1]);
    });

    it('for half a minute even if the store hangs', async () => {
      write = () => new Promise(() => undefined);
      owe('HANGS');
      await clock.advance(31_000);
      expect(holds).toBe(0);
    });

    it.each<[string[], string[][]]>([
      // In order, whichever was tried last.
      [['THREE', 'ONE', 'TWO'], [['ONE', 'THREE', 'TWO']]],
      [someIds(200), [someIds(100), someIds(200).slice(100)]],
      [someIds(250), [someIds(100), someIds(200).slice(100), someIds(250).slice(200)]],
    ])('and are then logged, a hundred in each line', async (ids, lines) => {
      owe(...ids);
      await clock.advance(31_000);
      expect(givenUp().map((line) => line.match(/[A-Z]+\d*(?=[,.]|$)/g))).toEqual(lines);
    });
  });

  describe('if there are a thousand,', () => {
    beforeEach(() => owe(...someIds(1_000)));

    it('are made within seconds once the store works again, up to eight at a time', async () => {
      let [running, most] = [0, 0];
      write = async () => {
        most = Math.max(most, (running += 1));
        await clock.sleep(10);
        running -= 1;
      };
      await clock.advance(8_000);
      expect(owed.count).toBe(0);
      expect(most).toBe(8);
    });

    it('are put off after eight failures in a row', async () => {
      write = () => (tried.length === 1 ? Promise.resolve() : Promise.reject(new Error('down')));
      expect(await owed.writeAll()).toBe(1);
      // The write that succeeded, eight that failed in a row, and those that were under way at the same time.
      expect(tried).toHaveLength(16);
    });
  });

  describe('at shutdown', () => {
    it('are waited for until the store works again', async () => {
      owe('ONE');
      const closing = owed.close();
      expect(await isOver(closing)).toBe(false);
      isDown = false;
      await clock.advance(1_000);
      await closing;
      expect([owed.count, written]).toEqual([0, ['ONE']]);
    });

    it('are given up after half a minute without a success, and logged by id', async () => {
      owe('ONE', 'TWO');
      await clock.advance(10 * 60_000);
      log.length = 0;
      owed.renewHold();
      const closing = owed.close();
      await clock.advance(29_000);
      expect(await isOver(closing)).toBe(false);
      await clock.advance(2_000);
      expect(await isOver(closing)).toBe(true);
      expect(givenUp()).toEqual([GIVEN_UP]);
      // The store is closed: nothing is tried any more.
      tried = [];
      await clock.advance(60_000);
      expect([tried, clock.sleeping]).toEqual([[], 0]);
    });

    it('are tried once more if they were given up before, and new ones are not tried', async () => {
      owe('ONE');
      await clock.advance(60_000);
      tried = [];
      await owed.close();
      expect(tried).toEqual(['ONE']);
      owe('LATE');
      expect([owed.count, holds]).toEqual([1, 0]);
    });

    it('do not delay the shutdown if there are none', async () => {
      expect(await isOver(owed.close())).toBe(true);
    });
  });
});

/** In the order of their names. */
function someIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `ID${1_000 + index}`);
}
