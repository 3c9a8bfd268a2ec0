import { OwedWrites } from '../../../lib/flows/settling/owed-writes.js';
import type { ProcessHold } from '../../../lib/process/in-flight.js';
import { PaymentChanges } from '../../../lib/flows/settling/payment-changes.js';
import type { Settlement } from '../../../lib/flows/settling/settlement.js';
import type { Payment, PaymentRecord } from '../../../lib/payment/payment.js';
import { advance } from '../../../lib/payment/transitions.js';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../../../lib/testing/a-payment.js';
import { logLines } from '../log-lines.js';
import { isOver } from '../test-shop.js';

const succeed: Settlement = (record, now) =>
  record.state === 'succeeded' ? null : advance(record, 'succeeded', {}, now);

const GIVEN_UP =
  'error The payment store has taken nothing for 30 seconds; this process no longer waits for it. ' +
  'What is known of these payments is not written: ONE, TWO.';

describe('OwedWrites', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let owed: OwedWrites;
  let published: string[];
  /** What waits for an event's handlers waits for this. */
  let publishing: Promise<void>;
  /** How many keep the process alive. */
  let holds: number;
  let isDown: boolean;

  beforeEach(() => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    publishing = Promise.resolve();
    holds = 0;
    const processHold: ProcessHold = {
      hold: () => ((holds += 1), () => void (holds -= 1)),
      during: (work) => work(),
    };
    isDown = true;
    const replace = store.replace.bind(store);
    store.replace = (...given) => (isDown ? Promise.reject(new Error('down')) : replace(...given));
    const events = { publish: ({ eventId }: { eventId: string }) => (published.push(eventId), publishing) };
    const changes = new PaymentChanges(store, clock, events);
    owed = new OwedWrites(changes, clock, processHold);
    owe = async (conversationId) => {
      const free = { idempotencyKey: null, reference: null, referenceLock: null };
      const record = aPaymentRecord({ state: 'charging', conversationId, version: 1, ...free });
      await store.insert(record);
      owed.add({ conversationId, write: () => changes.settle(record, succeed) });
      return record;
    };
  });

  let owe: (conversationId: string) => Promise<PaymentRecord>;

  it('are written by themselves once the store is back, and published', async () => {
    await owe('ONE');
    await owe('TWO');
    await clock.advance(60_000);
    expect([owed.count, published]).toEqual([2, []]);
    isDown = false;
    await clock.advance(5_000);
    expect([owed.count, published]).toEqual([0, ['ONE:2', 'TWO:2']]);
    expect(await store.find('default', 'ONE')).toMatchObject({ state: 'succeeded' });
  });

  it('are tried again within seconds, however long the store was down, and later ones as well', async () => {
    await owe('ONE');
    await clock.advance(3 * 3_600_000);
    isDown = false;
    await clock.advance(5_000);
    expect(owed.count).toBe(0);
    isDown = true;
    await owe('TWO');
    isDown = false;
    await clock.advance(1_000);
    expect([owed.count, published]).toEqual([0, ['ONE:2', 'TWO:2']]);
  });

  it('are tried less and less often, every five seconds in the end, and at once again after a success', async () => {
    let tries = 0;
    owed.add({ conversationId: 'NEVER', write: () => ((tries += 1), Promise.reject(new Error('a key is taken'))) });
    await clock.advance(60_000);
    // After 0.5, 1.5, 3.5 and 7.5 seconds, then every five.
    expect(tries).toBe(14);
    isDown = false;
    await owe('ONE');
    await owe('TWO');
    while (owed.count > 1) await clock.advance(100);
    tries = 0;
    await clock.advance(1_000);
    expect(tries).toBe(1);
  });

  it('leave nothing behind once they are written', async () => {
    await owe('ONE');
    isDown = false;
    await clock.advance(60_000);
    expect([owed.count, clock.sleeping]).toEqual([0, 0]);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([]);
    owed.renewHold();
    expect([holds, clock.sleeping]).toEqual([0, 0]);
  });

  it('can be asked for at once; a store that still fails is asked for one of them only', async () => {
    await owe('ONE');
    await owe('TWO');
    let asked = 0;
    const { replace } = store;
    store.replace = (...given) => ((asked += 1), replace(...given));
    expect([await owed.writeAll(), asked]).toEqual([0, 1]);
    isDown = false;
    expect(await owed.writeAll()).toBe(2);
    expect(await owed.writeAll()).toBe(0);
  });

  it('are not held up by one that the store never takes', async () => {
    owed.add({ conversationId: 'NEVER', write: () => Promise.reject(new Error('a key is taken')) });
    await owe('ONE');
    await owe('TWO');
    isDown = false;
    await clock.advance(30_000);
    expect([owed.count, published]).toEqual([1, ['ONE:2', 'TWO:2']]);
  });

  it('are written, and published by nobody here, where someone else wrote the outcome meanwhile', async () => {
    const record = await owe('ONE');
    isDown = false;
    await store.replace(advance(record, 'succeeded', {}, clock.now()), 1);
    expect(await owed.writeAll()).toBe(1);
    expect(published).toEqual([]);
    expect(await store.find('default', 'ONE')).toMatchObject({ version: 2 });
  });

  it('are counted and published once when two write at a time', async () => {
    await owe('ONE');
    isDown = false;
    expect(await Promise.all([owed.writeAll(), owed.writeAll()])).toEqual([1, 1]);
    expect(published).toEqual(['ONE:2']);
  });

  it('say in the log that the store is still owed', async () => {
    await owe('ONE');
    await clock.advance(1_000);
    expect(log).toContain('warn 1 writes are still owed to the payment store.');
    expect(records.at(-1)).toMatchObject({ owedWrites: 1 });
  });

  describe('keep the process alive', () => {
    it('until they are written, and no longer', async () => {
      await owe('ONE');
      await owe('TWO');
      expect(holds).toBe(1);
      isDown = false;
      expect(await owed.writeAll()).toBe(2);
      expect(holds).toBe(0);
    });

    it('for half a minute without a success, then name them once and go on trying', async () => {
      await owe('ONE');
      await clock.advance(20_000);
      await owe('TWO');
      await clock.advance(29_000);
      expect([holds, log.filter((line) => line.startsWith('error'))]).toEqual([1, []]);
      await clock.advance(3_600_000);
      expect([holds, log.filter((line) => line.startsWith('error'))]).toEqual([0, [GIVEN_UP]]);
      expect(records[log.indexOf(GIVEN_UP)]).toMatchObject({ owedWrites: 2 });
      isDown = false;
      await clock.advance(5_000);
      expect(owed.count).toBe(0);
    });

    it('however long it takes while writes succeed, but not for one that the store never takes', async () => {
      owed.add({ conversationId: 'NEVER', write: () => Promise.reject(new Error('a key is taken')) });
      await clock.advance(25_000);
      isDown = false;
      await owe('ONE');
      await clock.advance(25_000);
      expect([holds, owed.count]).toEqual([1, 1]);
      await clock.advance(15_000);
      expect([holds, owed.count]).toEqual([0, 1]);
    });

    it('half a minute, although the store hangs', async () => {
      owed.add({ conversationId: 'HANGS', write: () => new Promise(() => undefined) });
      await clock.advance(31_000);
      expect(holds).toBe(0);
    });

    it.each([
      [250, [100, 100, 50]],
      [200, [100, 100]],
    ])('and name %d of them, a hundred in a line', async (count, inLines) => {
      for (let index = 0; index < count; index += 1) await owe(`ID${index}`);
      await clock.advance(31_000);
      const ids = log.filter((line) => line.startsWith('error')).map((line) => line.match(/ID\d+/g)?.length ?? 0);
      expect(ids).toEqual(inLines);
    });

    it('and name them in order, whichever of them was tried last', async () => {
      for (const id of ['THREE', 'ONE', 'TWO']) await owe(id);
      await clock.advance(31_000);
      expect(log.find((line) => line.startsWith('error'))).toContain('not written: ONE, THREE, TWO.');
    });
  });

  describe('a thousand of them', () => {
    const COUNT = 1_000;

    beforeEach(async () => {
      for (let index = 0; index < COUNT; index += 1) await owe(`ID${index}`);
    });

    it('are written within seconds of the return of the store, several side by side, waiting for no handler', async () => {
      publishing = new Promise(() => undefined);
      let [running, most] = [0, 0];
      const { replace } = store;
      store.replace = async (...given) => {
        most = Math.max(most, (running += 1));
        await clock.sleep(10);
        running -= 1;
        return replace(...given);
      };
      isDown = false;
      await clock.advance(8_000);
      expect([owed.count, published.length]).toEqual([0, COUNT]);
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(8);
    });

    it('are no burden for a store that fails again after the first of them', async () => {
      let asked = 0;
      const { replace } = store;
      store.replace = (...given) => ((asked += 1), asked === 1 ? replace(...given) : Promise.reject(new Error('down')));
      isDown = false;
      expect(await owed.writeAll()).toBe(1);
      // The one that succeeded, eight that fail in a row, and what was under way beside them.
      expect(asked).toBe(16);
    });

    it('are not held up by three that the store never takes', async () => {
      const { replace } = store;
      store.replace = (record, ...more) =>
        /^ID[0-2]$/.test(record.conversationId) ? Promise.reject(new Error('no')) : replace(record, ...more);
      isDown = false;
      await clock.advance(30_000);
      expect(owed.count).toBe(3);
    });
  });

  it('count a write as failed that hangs, and make it again', async () => {
    let writes = 0;
    const hang = new Promise<never>(() => undefined);
    owed.add({
      conversationId: 'HANGS',
      write: () => ((writes += 1) === 1 ? hang : Promise.resolve({ payment: {} as Payment })),
    });
    await clock.advance(30_000);
    expect([writes, owed.count]).toEqual([2, 0]);
  });

  describe('at shutdown', () => {
    it('are waited for while the store comes back', async () => {
      await owe('ONE');
      const closing = owed.close();
      expect(await isOver(closing)).toBe(false);
      isDown = false;
      await clock.advance(1_000);
      await closing;
      expect([owed.count, published]).toEqual([0, ['ONE:2']]);
    });

    it('are given up when nothing was written for half a minute, by name', async () => {
      await owe('ONE');
      await owe('TWO');
      await clock.advance(10 * 60_000);
      log.length = 0;
      owed.renewHold();
      const closing = owed.close();
      await clock.advance(29_000);
      expect(await isOver(closing)).toBe(false);
      await clock.advance(2_000);
      expect(await isOver(closing)).toBe(true);
      expect(log.filter((line) => line.startsWith('error'))).toEqual([GIVEN_UP]);
    });

    it('are tried no more afterwards: the store is closed', async () => {
      await owe('ONE');
      const closing = owed.close();
      await clock.advance(31_000);
      await closing;
      let asked = 0;
      store.replace = () => ((asked += 1), Promise.reject(new Error('closed')));
      await clock.advance(60_000);
      expect([asked, clock.sleeping]).toEqual([0, 0]);
    });

    it('are tried once more when they were given up before, and none is taken in afterwards', async () => {
      await owe('ONE');
      await clock.advance(60_000);
      let asked = 0;
      store.replace = () => ((asked += 1), Promise.reject(new Error('down')));
      await owed.close();
      expect(asked).toBe(1);
      await owe('LATE');
      expect([owed.count, holds]).toEqual([1, 0]);
    });

    it('hold up nothing where there are none', async () => {
      expect(await isOver(owed.close())).toBe(true);
    });
  });
});
