import { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PaymentHandler } from '../../lib/events/handler-finder.js';
import type { PlainEvents } from '../../lib/events/plain-events.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { SystemRandomness } from '../../lib/runtime/randomness.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { isOver, quiet } from '../operations/test-shop.js';
import { storeEvent } from './sample-event.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const credentials = { clientSecret: 'a secret of ours', apiKey: 'a key of ours' };
const settings = { account: 'default', credentials } as PaymentSettings;

const NO_PLAIN_EVENTS = { connect: () => Promise.resolve(), emit: () => undefined } as unknown as PlainEvents;

type Handle = (event: PaymentEvent) => unknown;

describe('EventDispatcher', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let events: EventDispatcher;
  /** The ids of the emitted plain events. */
  let plainEventIds: string[];

  beforeEach(() => {
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    plainEventIds = [];
    events = instance();
  });

  afterEach(async () => {
    const stopped = events.stop();
    // stop() waits half a minute for handlers that hang.
    await clock.advance(30 * SECOND_MS);
    await stopped;
  });

  function instance(time = clock): EventDispatcher {
    const plainEvents = {
      connect: () => Promise.resolve(),
      emit: ({ eventId }: PaymentEvent) => plainEventIds.push(eventId),
    } as unknown as PlainEvents;
    return new EventDispatcher(store, plainEvents, time, new SystemRandomness(), settings);
  }

  function handler(id: string, handle: Handle, types: PaymentHandler['types'] = ['payment.succeeded']): PaymentHandler {
    return { id, account: 'default', types, handle, concurrency: 10, timeoutMs: null };
  }

  /** Leases the due deliveries of the handler `mail`. */
  function leaseDue() {
    const types = ['payment.succeeded'] as const;
    return store.leaseDeliveries({
      account: 'default',
      handlerId: 'mail',
      types,
      lease: 'test',
      leaseMs: 1,
      limit: 10,
    });
  }

  async function announce(...handlers: PaymentHandler[]): Promise<void> {
    await events.announce(handlers);
    events.start();
  }

  async function publish(conversationId: string, more: Partial<PaymentRecord> = {}): Promise<void> {
    await events.publish(await storeEvent(store, conversationId, clock.now(), more));
  }

  it("leases a payment's event alone, not those of refunds, whose handlers look on their own", async () => {
    const asked: string[] = [];
    const [fanOut, lease] = [store.fanOut.bind(store), store.leaseDeliveries.bind(store)];
    store.fanOut = (account, limit) => (asked.push('fanOut'), fanOut(account, limit));
    store.leaseDeliveries = (request) => (asked.push(`lease ${request.handlerId}`), lease(request));
    await announce(
      handler('mail', () => undefined),
      { ...handler('refunded', () => undefined), types: ['refund.succeeded'] },
    );
    asked.splice(0);
    await publish('ONE');
    await quiet();
    expect(asked).not.toContain('lease refunded');
    expect(asked).toContain('fanOut');
    events.wake();
    await quiet();
    expect(asked).toContain('lease refunded');
  });

  describe('a caller', () => {
    it('waits until every handler has run', async () => {
      const [mail, journal] = [gate(), gate()];
      await announce(
        handler('mail', () => mail.passed),
        handler('journal', () => journal.passed),
        handler('refunds', () => Promise.reject(new Error('not mine')), ['payment.failed']),
      );
      const publishing = publish('ONE');
      expect(await isOver(publishing)).toBe(false);
      mail.pass();
      expect(await isOver(publishing)).toBe(false);
      journal.pass();
      expect(await isOver(publishing)).toBe(true);
    });

    it('does not wait for a handler that another process has begun to run', async () => {
      const other = instance();
      await other.announce([handler('mail', () => new Promise(() => undefined))]);
      await announce(
        handler('mail', () => undefined),
        handler('journal', () => undefined),
      );
      const event = await storeEvent(store, 'ONE', clock.now());
      await store.fanOut('default', 10);
      other.start();
      other.wake();
      await quiet();
      expect(await isOver(events.publish(event))).toBe(true);
      const stopped = other.stop();
      await clock.advance(30 * SECOND_MS);
      await stopped;
    });

    it('calls the handler soon even if the fan-out was left to another process, which had not seen the event', async () => {
      const called: string[] = [];
      await announce(handler('mail', ({ eventId }) => called.push(eventId)));
      const fanOut = store.fanOut.bind(store);
      for (const id of ['ONE', 'TWO']) {
        store.fanOut = () => {
          store.fanOut = fanOut;
          return Promise.resolve(0);
        };
        await publish(id);
        await clock.advance(50);
      }
      expect(called).toEqual(['ONE:1', 'TWO:1']);
    });

    it('does not wait until a long backlog is fanned out', async () => {
      const called: string[] = [];
      await announce(handler('mail', ({ eventId }) => called.push(eventId)));
      const fanOut = store.fanOut.bind(store);
      store.fanOut = async (account) => {
        await fanOut(account, 100);
        store.fanOut = () => new Promise(() => undefined);
        return 100;
      };
      await publish('ONE');
      expect(called).toEqual(['ONE:1']);
    });

    it('waits two seconds at most for a handler, which continues and is not called again', async () => {
      const slow = gate();
      let calls = 0;
      await announce(handler('slow', () => ((calls += 1), slow.passed)));
      const publishing = publish('ONE');
      await clock.advance(2 * SECOND_MS - 1);
      expect(await isOver(publishing)).toBe(false);
      await clock.advance(1);
      expect(await isOver(publishing)).toBe(true);
      slow.pass();
      await clock.advance(DAY_MS);
      expect([await events.deliverDue(), calls]).toEqual([0, 1]);
    });

    it.each<[string, () => PaymentHandler]>([
      ['for the retry of a handler that fails', () => handler('mail', () => Promise.reject(new Error('down')))],
      ['if the event has no handler', () => handler('refunds', () => gate().passed, ['payment.failed'])],
      [
        'if the store fails to lease deliveries',
        () => {
          store.leaseDeliveries = () => Promise.reject(new Error('down'));
          return handler('mail', () => undefined);
        },
      ],
    ])('does not wait %s', async (_why, made) => {
      await announce(made());
      expect(await isOver(publish('ONE'))).toBe(true);
    });

    it('does not wait if the background work is off, since a pass delivers the event', async () => {
      const seen: string[] = [];
      await events.announce([handler('mail', ({ eventId }) => seen.push(eventId))]);
      expect(await isOver(publish('ONE'))).toBe(true);
      expect(seen).toEqual([]);
      expect(await events.deliverDue()).toBe(1);
      expect(seen).toEqual(['ONE:1']);
    });

    it('delivers all that is due in a pass without background work, although another handler hangs', async () => {
      const other = instance();
      const called: string[] = [];
      const hung = { ...handler('hung', () => new Promise(() => undefined)), concurrency: 1 };
      const quick = { ...handler('quick', ({ eventId }) => called.push(eventId)), concurrency: 1 };
      await other.announce([hung, quick]);
      for (let number = 0; number < 20; number += 1) await publish(`P${number}`);
      const pass = other.deliverDue();
      await clock.advance(30 * SECOND_MS);
      await pass;
      expect(called).toHaveLength(20);
      other.stop().catch(() => undefined);
      await clock.advance(30 * SECOND_MS);
    });

    it('waits two seconds at most for a store that hangs', async () => {
      await announce(handler('mail', () => undefined));
      store.fanOut = () => new Promise(() => undefined);
      const publishing = publish('ONE');
      await clock.advance(2 * SECOND_MS - 1);
      expect(await isOver(publishing)).toBe(false);
      await clock.advance(1);
      expect(await isOver(publishing)).toBe(true);
    });

    it('does not delay the plain event', async () => {
      await publish('ONE');
      expect(plainEventIds).toEqual(['ONE:1']);
    });
  });

  describe('delivery', () => {
    it('of an event is made by only one instance while its handler runs', async () => {
      const open = gate();
      const seen: string[] = [];
      await announce(handler('mail', () => (seen.push('here'), open.passed)));
      const other = instance();
      await other.announce([handler('mail', () => seen.push('there'))]);
      const publishing = publish('ONE');
      await quiet();
      for (let seconds = 0; seconds < 30; seconds += 1) {
        await other.deliverDue();
        await clock.advance(SECOND_MS);
      }
      expect(seen).toEqual(['here']);
      open.pass();
      await publishing;
      await clock.advance(DAY_MS);
      expect([await other.deliverDue(), await events.deliverDue(), seen]).toEqual([0, 0, ['here']]);
    });

    it('of an event that a crashed instance had leased is made by another instance', async () => {
      // The clock of this instance stands still, so it never continues.
      const dead = instance(new TestClock());
      await dead.announce([handler('mail', () => new Promise(() => undefined))]);
      dead.start();
      void dead.publish(await storeEvent(store, 'ONE', clock.now()));
      await quiet();
      const seen: string[] = [];
      await announce(handler('mail', ({ eventId }) => seen.push(eventId)));
      expect(await events.deliverDue()).toBe(0);
      await clock.advance(10 * MINUTE_MS);
      expect(await events.deliverDue()).toBe(1);
      expect(seen).toEqual(['ONE:1']);
    });

    it('of an event is not repeated while its acknowledgement is on its way to the store', async () => {
      let calls = 0;
      await announce(handler('mail', () => void (calls += 1)));
      const [acknowledge, open] = [store.acknowledge.bind(store), gate()];
      store.acknowledge = async (...given) => (await open.passed, acknowledge(...given));
      void publish('ONE');
      for (let minutes = 0; minutes < 5; minutes += 1) {
        await clock.advance(MINUTE_MS);
        events.wake();
        await quiet();
      }
      expect(calls).toBe(1);
      open.pass();
      await quiet();
      await clock.advance(DAY_MS);
      expect([await events.deliverDue(), calls]).toEqual([0, 1]);
    });

    it('begins after wake(), which does not wait for it', async () => {
      const seen: string[] = [];
      await announce(handler('mail', ({ eventId }) => seen.push(eventId)));
      await storeEvent(store, 'ONE', clock.now());
      events.wake();
      expect(seen).toEqual([]);
      await quiet();
      expect(seen).toEqual(['ONE:1']);
    });

    it('does not begin with wake() before start()', async () => {
      const seen: string[] = [];
      await events.announce([handler('mail', ({ eventId }) => seen.push(eventId))]);
      await storeEvent(store, 'ONE', clock.now());
      events.wake();
      await quiet();
      expect(seen).toEqual([]);
    });
  });

  it('delivers an event that was published while all its places were busy', async () => {
    const open = gate();
    const seen: string[] = [];
    await announce(
      handler('mail', async ({ payment }) => {
        seen.push(payment.conversationId);
        await open.passed;
      }),
    );
    const published = Array.from({ length: 30 }, (_, index) => publish(`busy-${index}`));
    await quiet();
    expect(seen.length).toBeGreaterThan(0);
    const late = publish('late');
    open.pass();
    await Promise.all([...published, late]);
    await events.deliverDue();
    expect(new Set(seen).size).toBe(31);
    expect(seen).toHaveLength(31);
  });

  it('delivers every due event in a pass, which ends even if handlers publish more', async () => {
    const seen: string[] = [];
    await announce(
      handler('mail', ({ payment }) => {
        seen.push(payment.conversationId);
        // The pass must end before these run out.
        if (seen.length < 5_000) void publish(`next-${seen.length}`);
      }),
    );
    const first = Array.from({ length: 50 }, (_, index) => `first-${index}`);
    for (const id of first) await storeEvent(store, id, clock.now());
    const count = await events.deliverDue();
    expect(seen).toEqual(expect.arrayContaining(first));
    expect(new Set(seen).size).toBe(seen.length);
    expect(count).toBeGreaterThanOrEqual(first.length);
    expect(count).toBeLessThan(2_000);
  });

  describe('a handler that never returns', () => {
    const hung = () => handler('hung', () => new Promise(() => undefined));

    it('does not delay other handlers, however many events there are', async () => {
      const seen: string[] = [];
      await announce(
        hung(),
        handler('mail', ({ eventId }) => seen.push(eventId)),
      );
      for (let count = 0; count < 60; count += 1) void publish(`PAYMENT${count}`);
      await quiet();
      expect(seen).toHaveLength(60);
    });

    it('is called for at most as many events at a time as its concurrency', async () => {
      let calls = 0;
      const limited = handler('limited', () => ((calls += 1), new Promise(() => undefined)));
      await announce({ ...limited, concurrency: 3 });
      for (let count = 0; count < 20; count += 1) void publish(`PAYMENT${count}`);
      await clock.advance(10 * MINUTE_MS);
      expect(calls).toBe(3);
    });

    it('delays a pass by half a minute at most', async () => {
      await events.announce([hung()]);
      await storeEvent(store, 'ONE', clock.now());
      const pass = events.deliverDue();
      await clock.advance(30 * SECOND_MS - 1);
      expect(await isOver(pass)).toBe(false);
      await clock.advance(1);
      expect(await pass).toBe(1);
    });

    it('delays a shutdown by half a minute at most, and another instance gets the event a minute later', async () => {
      await announce(hung());
      void publish('ONE');
      await quiet();
      const stopped = events.stop();
      await clock.advance(30 * SECOND_MS);
      await stopped;
      await clock.advance(MINUTE_MS);
      const seen: string[] = [];
      const other = instance();
      await other.announce([handler('hung', ({ eventId }) => seen.push(eventId))]);
      await other.deliverDue();
      expect(seen).toEqual(['ONE:1']);
    });
  });

  describe('two versions of a shop that run at the same time', () => {
    const TYPES = ['payment.succeeded', 'payment.failed'] as const;

    function version(name: string, types: PaymentHandler['types'], seen: string[]): PaymentHandler {
      return handler('mail', ({ eventId, type }) => seen.push(`${name} ${type} ${eventId}`), types);
    }

    it.each([
      ['the new one starts first', ['new', 'old']],
      ['the old one starts first', ['old', 'new']],
      ['the old one starts again', ['old', 'new', 'old']],
    ])('each get only the types they declared, and no event is lost (%s)', async (_how, starts) => {
      const seen: string[] = [];
      const running: EventDispatcher[] = [];
      for (const name of starts) {
        const dispatcher = instance();
        await dispatcher.announce([version(name, name === 'new' ? TYPES : ['payment.succeeded'], seen)]);
        running.push(dispatcher);
      }
      await storeEvent(store, 'PAID', clock.now());
      await storeEvent(store, 'DECLINED', clock.now(), { state: 'failed' });
      for (const dispatcher of running) await dispatcher.deliverDue();
      expect(seen.map((line) => line.replace(/^\w+ /, '')).sort()).toEqual([
        'payment.failed DECLINED:1',
        'payment.succeeded PAID:1',
      ]);
      expect(seen).not.toContain('old payment.failed DECLINED:1');
    });

    it('leave an event to the new one if the old one did not declare it', async () => {
      const seen: string[] = [];
      const old = instance();
      await old.announce([version('old', ['payment.succeeded'], seen)]);
      await storeEvent(store, 'DECLINED', clock.now(), { state: 'failed' });
      await old.deliverDue();
      expect(seen).toEqual([]);
      const next = instance();
      await next.announce([version('new', TYPES, seen)]);
      await old.deliverDue();
      expect(seen).toEqual([]);
      await next.deliverDue();
      expect(seen).toEqual(['new payment.failed DECLINED:1']);
    });
  });

  it('starts with one call of the store, however many undelivered events there are', async () => {
    for (let count = 0; count < 500; count += 1) await storeEvent(store, `OLD${count}`, clock.now());
    let calls = 0;
    const counted = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => ((calls += 1), (value as (...all: unknown[]) => unknown).apply(target, given));
      },
    });
    const late = new EventDispatcher(counted, NO_PLAIN_EVENTS, clock, new SystemRandomness(), settings);
    const seen: string[] = [];
    await late.announce([handler('late', ({ eventId }) => seen.push(eventId))]);
    expect([calls, seen]).toEqual([1, []]);
    await late.deliverDue();
    expect(new Set(seen).size).toBe(500);
  });

  it('delivers a long backlog after one wake()', async () => {
    const called = new Set<string>();
    await events.announce([handler('mail', ({ eventId }) => called.add(eventId))]);
    for (let index = 0; index < 250; index += 1) await storeEvent(store, `ID${index}`, clock.now());
    events.start();
    events.wake();
    // No time passes, so nothing wakes it a second time.
    for (let turns = 0; turns < 20; turns += 1) await quiet();
    expect(called.size).toBe(250);
  });

  it('does not call a handler a second time while the first call runs, even if its lease could not be renewed', async () => {
    let calls = 0;
    await announce(handler('mail', () => ((calls += 1), new Promise(() => undefined))));
    store.renewLease = () => Promise.reject(new Error('down'));
    void publish('ONE');
    await clock.advance(3 * MINUTE_MS);
    events.wake();
    await quiet();
    expect(calls).toBe(1);
  });

  it('leases only as many deliveries as the handler has places free', async () => {
    const limits: number[] = [];
    const leaseDeliveries = store.leaseDeliveries.bind(store);
    store.leaseDeliveries = (request) => (limits.push(request.limit), leaseDeliveries(request));
    let calls = 0;
    const stuck = handler('mail', () => ((calls += 1), new Promise(() => undefined)));
    await announce({ ...stuck, concurrency: 3 });
    for (const id of ['ONE', 'TWO']) void publish(id);
    await quiet();
    expect(calls).toBe(2);
    limits.length = 0;
    for (const id of ['THREE', 'FOUR']) void publish(id);
    await quiet();
    expect([calls, ...limits]).toEqual([3, 1]);
  });

  describe('a failing store', () => {
    it.each([
      ['fanOut', 'The payment store failed to make deliveries of events'],
      ['leaseDeliveries', 'The payment store failed to give out deliveries to handlers'],
    ] as const)('is logged a few times a minute until it works again (%s)', async (method, line) => {
      const called: string[] = [];
      await announce(handler('mail', ({ eventId }) => called.push(eventId)));
      const original = store[method].bind(store);
      Object.assign(store, { [method]: () => Promise.reject(new Error('password=secret')) });
      void publish('ONE');
      for (let passes = 0; passes < 20; passes += 1) {
        events.wake();
        await clock.advance(2 * SECOND_MS);
      }
      const lines = log.filter((each) => each.includes(line));
      expect([lines.length, log.join().includes('secret')]).toEqual([3, false]);
      expect(records[log.indexOf(lines[0]!)]).toMatchObject({ account: 'default' });
      store[method] = original as never;
      events.wake();
      await quiet();
      expect(called).toEqual(['ONE:1']);
    });
  });

  it('ends a pass after a thousand calls, and continues in the next', async () => {
    await events.announce([handler('mail', () => undefined)]);
    for (let count = 0; count < 1_200; count += 1) await storeEvent(store, `ID${count}`, clock.now());
    expect([await events.deliverDue(), await events.deliverDue(), await events.deliverDue()]).toEqual([1_000, 200, 0]);
  });

  it('calls no handler after the end of a pass if the background work is off', async () => {
    const open = gate();
    const seen: string[] = [];
    const idle = instance();
    await idle.announce([handler('mail', ({ eventId }) => (seen.push(eventId), open.passed))]);
    await storeEvent(store, 'ONE', clock.now());
    const pass = idle.deliverDue();
    await clock.advance(31_000);
    expect(await pass).toBe(1);
    await storeEvent(store, 'TWO', clock.now());
    await store.fanOut('default', 10);
    open.pass();
    await quiet();
    expect(seen).toEqual(['ONE:1']);
    await idle.stop();
  });

  it('waits for running handlers when it is stopped, and calls no more', async () => {
    const open = gate();
    const seen: string[] = [];
    await announce(handler('mail', ({ eventId }) => (seen.push(eventId), open.passed)));
    void publish('ONE');
    await quiet();
    const stopped = events.stop();
    expect(await isOver(stopped)).toBe(false);
    await storeEvent(store, 'TWO', clock.now());
    await store.fanOut('default', 10);
    open.pass();
    await stopped;
    events.wake();
    await quiet();
    expect(seen).toEqual(['ONE:1']);
    // The first delivery has been acknowledged.
    await clock.advance(DAY_MS);
    expect(await leaseDue()).toMatchObject([{ event: { eventId: 'TWO:1' } }]);
  });

  it('waits for deliveries that it is leasing when it is stopped', async () => {
    const [leaseDeliveries, open] = [store.leaseDeliveries.bind(store), gate()];
    const seen: string[] = [];
    await announce(handler('mail', ({ eventId }) => seen.push(eventId)));
    await storeEvent(store, 'ONE', clock.now());
    store.leaseDeliveries = async (lease) => (await open.passed, leaseDeliveries(lease));
    events.wake();
    await quiet();
    const stopped = events.stop();
    expect(await isOver(stopped)).toBe(false);
    open.pass();
    await stopped;
    expect(seen).toEqual(['ONE:1']);
  });

  it('throws PAYMENT_STORE without details when the store fails to announce handlers', async () => {
    store.announce = () => Promise.reject(new Error('password=secret'));
    await expect(announce(handler('mail', () => undefined))).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
      message: 'The payment store failed while announcing the handlers of events. No money was moved by this call.',
    });
  });

  it('does not call the store if there are no handlers', async () => {
    store.announce = () => Promise.reject(new Error('down'));
    await announce();
    await events.renew();
    expect(await events.deliverDue()).toBe(0);
  });
});

function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}
