import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import type { ProcessHold } from '../../lib/settlement/in-flight.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import type { Settlement } from '../../lib/settlement/outcomes.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/transitions.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { RULES } from '../operations/assembled-flows.js';
import { logLines } from '../operations/log-lines.js';
import { isOver } from '../operations/test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const succeed: Settlement = (record, now) =>
  record.state === 'succeeded' ? null : advance(record, 'succeeded', {}, now);

const GIVEN_UP =
  'error The payment store has accepted nothing for 30 seconds; this process no longer waits for it. ' +
  'The outcomes of these payments are not written: ONE, TWO.';

describe('OwedWrites', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let owed: OwedWrites;
  let published: string[];
  /** Resolves when the handlers of a published event have run. */
  let publishing: Promise<void>;
  /** The number of holds that keep the process alive. */
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
    owed = new OwedWrites(clock, processHold);
    const writer = new PaymentWriter(store, clock, events, owed, RULES);
    owe = async (conversationId) => {
      const free = { idempotencyKey: null, reference: null, referenceLock: null };
      const record = aPaymentRecord({ state: 'charging', conversationId, version: 1, ...free });
      await store.insert(record);
      const wasDown = isDown;
      isDown = true;
      await writer.settle(record, succeed);
      isDown = wasDown;
      return record;
    };
  });

  let owe: (conversationId: string) => Promise<PaymentRecord>;

  it('are made and published by themselves once the store works again', async () => {
    await owe('ONE');
    await owe('TWO');
    await clock.advance(60_000);
    expect([owed.count, published]).toEqual([2, []]);
    isDown = false;
    await clock.advance(5_000);
    expect([owed.count, published]).toEqual([0, ['ONE:2', 'TWO:2']]);
    expect(await store.find('default', 'ONE')).toMatchObject({ state: 'succeeded' });
  });

  it('are made within seconds once the store works again, however long it was down', async () => {
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

  it('are retried at growing intervals of up to five seconds, which start over after a success', async () => {
    let tries = 0;
    owed.add({ conversationId: 'NEVER', write: () => ((tries += 1), Promise.reject(new Error('a key is taken'))) });
    await clock.advance(60_000);
    // After 0.5, 1.5, 3.5 and 7.5 seconds, then every five seconds.
    expect(tries).toBe(14);
    isDown = false;
    await owe('ONE');
    await owe('TWO');
    while (owed.count > 1) await clock.advance(100);
    tries = 0;
    await clock.advance(1_000);
    expect(tries).toBe(1);
  });

  it('leave no timer and no hold behind once they are made', async () => {
    await owe('ONE');
    isDown = false;
    await clock.advance(60_000);
    expect([owed.count, clock.sleeping]).toEqual([0, 0]);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([]);
    owed.renewHold();
    expect([holds, clock.sleeping]).toEqual([0, 0]);
  });

  it('can be made at once by writeAll, which tries only the first if the store still fails', async () => {
    await owe('ONE');
    await owe('TWO');
    let calls = 0;
    const { replace } = store;
    store.replace = (...given) => ((calls += 1), replace(...given));
    expect([await owed.writeAll(), calls]).toEqual([0, 1]);
    isDown = false;
    expect(await owed.writeAll()).toBe(2);
    expect(await owed.writeAll()).toBe(0);
  });

  it('are not delayed by a write that the store always refuses', async () => {
    owed.add({ conversationId: 'NEVER', write: () => Promise.reject(new Error('a key is taken')) });
    await owe('ONE');
    await owe('TWO');
    isDown = false;
    await clock.advance(30_000);
    expect([owed.count, published]).toEqual([1, ['ONE:2', 'TWO:2']]);
  });

  it('end without a second event if another process wrote the outcome meanwhile', async () => {
    const record = await owe('ONE');
    isDown = false;
    await store.replace(advance(record, 'succeeded', {}, clock.now()), record);
    expect(await owed.writeAll()).toBe(1);
    expect(published).toEqual([]);
    expect(await store.find('default', 'ONE')).toMatchObject({ version: 2 });
  });

  it('are published once when writeAll runs twice at the same time', async () => {
    await owe('ONE');
    isDown = false;
    expect(await Promise.all([owed.writeAll(), owed.writeAll()])).toEqual([1, 1]);
    expect(published).toEqual(['ONE:2']);
  });

  it('are logged while they are still owed', async () => {
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

    it('for half a minute without a success, after which they are logged once and still retried', async () => {
      await owe('ONE');
      await clock.advance(20_000);
      await owe('TWO');
      await clock.advance(29_000);
      expect([holds, log.filter((line) => line.startsWith('error The'))]).toEqual([1, []]);
      await clock.advance(3_600_000);
      expect([holds, log.filter((line) => line.startsWith('error The'))]).toEqual([0, [GIVEN_UP]]);
      expect(records[log.indexOf(GIVEN_UP)]).toMatchObject({ owedWrites: 2 });
      isDown = false;
      await clock.advance(5_000);
      expect(owed.count).toBe(0);
    });

    it('as long as writes succeed, but not for a write that the store always refuses', async () => {
      owed.add({ conversationId: 'NEVER', write: () => Promise.reject(new Error('a key is taken')) });
      await clock.advance(25_000);
      isDown = false;
      await owe('ONE');
      await clock.advance(25_000);
      expect([holds, owed.count]).toEqual([1, 1]);
      await clock.advance(15_000);
      expect([holds, owed.count]).toEqual([0, 1]);
    });

    it('for half a minute even if the store hangs', async () => {
      owed.add({ conversationId: 'HANGS', write: () => new Promise(() => undefined) });
      await clock.advance(31_000);
      expect(holds).toBe(0);
    });

    it.each([
      [250, [100, 100, 50]],
      [200, [100, 100]],
    ])('and are then logged: %d of them, a hundred in each line', async (count, inLines) => {
      for (let index = 0; index < count; index += 1) await owe(`ID${index}`);
      await clock.advance(31_000);
      const ids = log.filter((line) => line.startsWith('error The')).map((line) => line.match(/ID\d+/g)?.length ?? 0);
      expect(ids).toEqual(inLines);
    });

    it('and are then logged in order, whichever was tried last', async () => {
      for (const id of ['THREE', 'ONE', 'TWO']) await owe(id);
      await clock.advance(31_000);
      expect(log.find((line) => line.startsWith('error The'))).toContain('not written: ONE, THREE, TWO.');
    });
  });

  describe('if there are a thousand,', () => {
    const COUNT = 1_000;

    beforeEach(async () => {
      for (let index = 0; index < COUNT; index += 1) await owe(`ID${index}`);
    });

    it('are made within seconds once the store works again, up to eight at a time, without waiting for handlers', async () => {
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

    it('are put off after eight failures in a row', async () => {
      let calls = 0;
      const { replace } = store;
      store.replace = (...given) => ((calls += 1), calls === 1 ? replace(...given) : Promise.reject(new Error('down')));
      isDown = false;
      expect(await owed.writeAll()).toBe(1);
      // The write that succeeded, eight that failed in a row, and those that were under way at the same time.
      expect(calls).toBe(16);
    });

    it('are not delayed by three writes that the store always refuses', async () => {
      const { replace } = store;
      store.replace = (record, ...more) =>
        /^ID[0-2]$/.test(record.conversationId) ? Promise.reject(new Error('no')) : replace(record, ...more);
      isDown = false;
      await clock.advance(30_000);
      expect(owed.count).toBe(3);
    });
  });

  it('are retried if they hang', async () => {
    let writes = 0;
    const hang = new Promise<never>(() => undefined);
    owed.add({
      conversationId: 'HANGS',
      write: () => ((writes += 1) === 1 ? hang : Promise.resolve()),
    });
    await clock.advance(30_000);
    expect([writes, owed.count]).toEqual([2, 0]);
  });

  describe('at shutdown', () => {
    it('are waited for until the store works again', async () => {
      await owe('ONE');
      const closing = owed.close();
      expect(await isOver(closing)).toBe(false);
      isDown = false;
      await clock.advance(1_000);
      await closing;
      expect([owed.count, published]).toEqual([0, ['ONE:2']]);
    });

    it('are given up after half a minute without a success, and logged by id', async () => {
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
      expect(log.filter((line) => line.startsWith('error The'))).toEqual([GIVEN_UP]);
    });

    it('are not retried afterwards, since the store is closed', async () => {
      await owe('ONE');
      const closing = owed.close();
      await clock.advance(31_000);
      await closing;
      let calls = 0;
      store.replace = () => ((calls += 1), Promise.reject(new Error('closed')));
      await clock.advance(60_000);
      expect([calls, clock.sleeping]).toEqual([0, 0]);
    });

    it('are tried once more if they were given up before, and new ones are not tried', async () => {
      await owe('ONE');
      await clock.advance(60_000);
      let calls = 0;
      store.replace = () => ((calls += 1), Promise.reject(new Error('down')));
      await owed.close();
      expect(calls).toBe(1);
      await owe('LATE');
      expect([owed.count, holds]).toEqual([1, 0]);
    });

    it('do not delay the shutdown if there are none', async () => {
      expect(await isOver(owed.close())).toBe(true);
    });
  });
});
