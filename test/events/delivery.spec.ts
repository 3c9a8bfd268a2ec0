import type { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PaymentHandler } from '../../lib/events/handler-finder.js';
import { MAX_TRIES } from '../../lib/events/handler-worker.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { gate, isOver, quiet } from '../operations/test-shop.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { EventShop, MINUTE_MS } from './event-shop.js';

// When handlers that fail are called again, until their delivery is parked, is in test/scripts/expected/handlers.txt; the
// spans, durations and warnings of handlers are in test/telemetry/expected/observed.txt.

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const FAILED = ['payment.failed'] as const;
/** What a line of the log says of the first event, as fields. */
const NAMES = { eventId: 'ONE:1', handlerId: 'mail', conversationId: 'ONE', account: 'default' };
const hang = () => new Promise<never>(() => undefined);
const fail = () => Promise.reject(new Error('down'));

describe('events', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let shop: EventShop;
  let store: MemoryPaymentStore;
  let clock: TestClock;

  beforeEach(() => {
    shop = new EventShop();
    ({ store, clock } = shop);
  });
  afterEach(() => shop.stop());

  async function publish(from: EventDispatcher, id: string, over: Partial<PaymentRecord> = {}): Promise<void> {
    await from.publish(await shop.storeEvent(id, over));
  }

  describe('a caller', () => {
    it('waits until every handler has run, and plain events do not', async () => {
      const [mail, journal] = [gate(), gate()];
      const events = await shop.start(
        shop.handler('mail', () => mail.passed),
        shop.handler('journal', () => journal.passed),
        shop.handler('refunds', fail, { types: FAILED }),
      );
      const publishing = publish(events, 'ONE');
      expect(await isOver(publishing)).toBe(false);
      mail.pass();
      expect(await isOver(publishing)).toBe(false);
      expect(shop.plain).toEqual(['ONE:1']);
      journal.pass();
      expect(await isOver(publishing)).toBe(true);
    });

    it.each<[string, (shop: EventShop) => PaymentHandler]>([
      ['for the retry of a handler that fails', () => shop.handler('mail', fail)],
      ['if the event has no handler', () => shop.handler('refunds', hang, { types: FAILED })],
      [
        'if the store fails to lease deliveries',
        () => {
          store.leaseDeliveries = fail;
          return shop.handler('mail', hang);
        },
      ],
    ])('does not wait %s', async (_why, made) => {
      const events = await shop.start(made(shop));
      expect(await isOver(publish(events, 'ONE'))).toBe(true);
    });

    it('does not wait if the background work is off, since a pass delivers the event', async () => {
      const events = await shop.open([shop.handler('mail')]);
      expect(await isOver(publish(events, 'ONE'))).toBe(true);
      expect(shop.calls).toEqual([]);
      expect([await events.deliverDue(), shop.calls]).toEqual([1, ['mail ONE:1']]);
    });

    it.each<[string, prepare: () => void, isCalled: boolean]>([
      ['a handler, which goes on and is not called again', () => undefined, true],
      ['a store that hangs', () => void (store.fanOut = hang), false],
    ])('waits two seconds at most for %s', async (_what, prepare, isCalled) => {
      const slow = gate();
      const events = await shop.start(shop.handler('mail', () => slow.passed));
      prepare();
      const publishing = publish(events, 'ONE');
      await clock.advance(2 * SECOND_MS - 1);
      expect(await isOver(publishing)).toBe(false);
      await clock.advance(1);
      expect(await isOver(publishing)).toBe(true);
      if (!isCalled) return;
      slow.pass();
      await clock.advance(DAY_MS);
      expect([await events.deliverDue(), shop.calls]).toEqual([0, ['mail ONE:1']]);
    });
  });

  describe('one that is being delivered', () => {
    it('is not delivered again while its acknowledgement is on its way to the store', async () => {
      const events = await shop.start(shop.handler('mail'));
      const [acknowledge, open] = [store.acknowledge.bind(store), gate()];
      store.acknowledge = (...given) => open.passed.then(() => acknowledge(...given));
      void publish(events, 'ONE');
      for (let minutes = 0; minutes < 5; minutes += 1) {
        await clock.advance(MINUTE_MS);
        events.wake();
        await quiet();
      }
      expect(shop.calls).toHaveLength(1);
      open.pass();
      await quiet();
      await clock.advance(DAY_MS);
      expect([await events.deliverDue(), shop.calls.length]).toEqual([0, 1]);
    });

    it('is not delivered again here while its handler runs, even if its lease could not be renewed', async () => {
      const events = await shop.start(shop.handler('mail', hang));
      store.renewLease = fail;
      void publish(events, 'ONE');
      await clock.advance(3 * MINUTE_MS);
      events.wake();
      await quiet();
      expect(shop.calls).toEqual(['mail ONE:1']);
    });
  });

  describe('many', () => {
    it('are delivered once each, those, too, that were published while all places were busy', async () => {
      const open = gate();
      const events = await shop.start(shop.handler('mail', () => open.passed));
      const published = Array.from({ length: 30 }, (_, index) => publish(events, `busy-${index}`));
      await quiet();
      expect(shop.calls).toHaveLength(10);
      const late = publish(events, 'late');
      open.pass();
      await Promise.all([...published, late]);
      await events.deliverDue();
      expect(shop.calls).toHaveLength(31);
      expect(new Set(shop.calls).size).toBe(31);
    });

    it('delay no start, which calls the store once, and are delivered after one wake()', async () => {
      for (let count = 0; count < 500; count += 1) await shop.storeEvent(`OLD${count}`);
      const asked: string[] = [];
      const counted = interceptCalls(store, ({ method, proceed }) => (asked.push(method), proceed()));
      const events = await shop.open([shop.handler('late')], counted);
      expect([asked, shop.calls]).toEqual([['announce'], []]);
      events.start();
      events.wake();
      // No time passes, so nothing wakes it a second time.
      for (let turns = 0; turns < 40; turns += 1) await quiet();
      expect([shop.calls.length, new Set(shop.calls).size]).toEqual([500, 500]);
    });
  });

  describe('a handler that never returns', () => {
    it('delays no other handler, however many events there are, nor in a pass without background work', async () => {
      const started = await shop.start(shop.handler('hung', hang), shop.handler('mail'));
      for (let count = 0; count < 60; count += 1) void publish(started, `PAYMENT${count}`);
      await quiet();
      expect(shop.calls.filter((call) => call.startsWith('mail'))).toHaveLength(60);
      const narrow = { concurrency: 1 };
      const idle = await shop.open([shop.handler('slow', hang, narrow), shop.handler('quick', undefined, narrow)]);
      for (let number = 0; number < 20; number += 1) await publish(idle, `P${number}`);
      const pass = idle.deliverDue();
      await clock.advance(30 * SECOND_MS);
      await pass;
      expect(shop.calls.filter((call) => call.startsWith('quick'))).toHaveLength(20);
    });

    it('is called for as many events as its concurrency, and no more are leased', async () => {
      const limits: number[] = [];
      const lease = store.leaseDeliveries.bind(store);
      store.leaseDeliveries = (request) => (limits.push(request.limit), lease(request));
      const events = await shop.start(shop.handler('mail', hang, { concurrency: 3 }));
      for (const id of ['ONE', 'TWO']) void publish(events, id);
      await quiet();
      expect(shop.calls).toHaveLength(2);
      limits.length = 0;
      for (const id of ['THREE', 'FOUR']) void publish(events, id);
      await quiet();
      expect([shop.calls.length, ...limits]).toEqual([3, 1]);
      await clock.advance(10 * MINUTE_MS);
      expect(shop.calls).toHaveLength(3);
    });

    it('delays a pass by half a minute at most, after which nothing more is called without background work', async () => {
      const open = gate();
      const events = await shop.open([shop.handler('mail', () => open.passed)]);
      await shop.storeEvent('ONE');
      const pass = events.deliverDue();
      await clock.advance(30 * SECOND_MS - 1);
      expect(await isOver(pass)).toBe(false);
      await clock.advance(1);
      expect(await pass).toBe(1);
      await shop.storeEvent('TWO');
      await store.fanOut('default', 10);
      open.pass();
      await quiet();
      expect(shop.calls).toEqual(['mail ONE:1']);
    });

    it('fails after its timeoutMs', async () => {
      const events = await shop.start(shop.handler('mail', hang, { timeoutMs: 1_500 }));
      const publishing = publish(events, 'ONE');
      await clock.advance(1_499);
      expect(await isOver(publishing)).toBe(false);
      await clock.advance(1);
      expect(await isOver(publishing)).toBe(true);
      await clock.advance(SECOND_MS);
      expect((await shop.leaseDue())?.delivery).toMatchObject({ attempts: 1, error: 'took longer than 1500 ms' });
    });
  });

  describe('two versions of a shop that run at the same time', () => {
    const TYPES = { old: ['payment.succeeded'], new: ['payment.succeeded', 'payment.failed'] } as const;
    const seen: string[] = [];
    const version = (name: 'old' | 'new') =>
      shop.open([
        shop.handler('mail', ({ type, eventId }) => seen.push(`${name} ${type} ${eventId}`), { types: TYPES[name] }),
      ]);

    beforeEach(() => (seen.length = 0));

    it.each([
      ['the new one starts first', ['new', 'old']],
      ['the old one starts first', ['old', 'new']],
      ['the old one starts again', ['old', 'new', 'old']],
    ] as const)('each get only the types they declared, and no event is lost (%s)', async (_how, starts) => {
      const running: EventDispatcher[] = [];
      for (const name of starts) running.push(await version(name));
      await shop.storeEvent('PAID');
      await shop.storeEvent('DECLINED', { state: 'failed' });
      for (const instance of running) await instance.deliverDue();
      const told = seen.map((line) => line.replace(/^\w+ /, '')).sort();
      expect(told).toEqual(['payment.failed DECLINED:1', 'payment.succeeded PAID:1']);
      expect(seen).not.toContain('old payment.failed DECLINED:1');
    });
  });

  describe('of a payment that failed', () => {
    const ORDER = { state: 'failed', reference: 'order-1' } as const;
    const OTHER = { conversationId: 'OTHER', reference: 'order-1', referenceLock: null, idempotencyKey: null };
    const NOT_TOLD = expect.stringMatching(/mail is not told, since a payment holds the order/) as string;

    it.each<[string, Partial<PaymentRecord> | null, isTold: boolean]>([
      ['there is none', null, true],
      ['it ended, too', { state: 'expired' }, true],
      ['its buyer is at the bank', { state: 'awaiting', kind: '3d' }, true],
      ['it has paid the order', { state: 'succeeded', referenceLock: 'order-1' }, false],
      ['it has paid the order, which it need not have held', { state: 'succeeded', allowRepeat: true }, false],
      ['its page is being opened', { state: 'initiating', kind: 'hosted', referenceLock: 'order-1' }, false],
      ['it has left the lock without an owner: the order is taken for good', { pinsReference: true }, false],
    ])('are told or not, where of another payment of the order %s', async (_what, over, isTold) => {
      if (over) {
        const { pinsReference, ...begun } = over;
        const other = aPaymentRecord({ state: 'failed', ...OTHER, ...begun });
        await store.insert(other);
        if (pinsReference) await store.replace({ ...other, pinsReference, version: other.version + 1 }, other);
      }
      const events = await shop.open([shop.handler('mail', undefined, { types: FAILED })]);
      await shop.storeEvent('FAILED', ORDER);
      expect(await events.deliverDue()).toBe(isTold ? 1 : 0);
      expect([shop.calls, log]).toEqual(isTold ? [['mail FAILED:1'], []] : [[], [NOT_TOLD]]);
      await clock.advance(DAY_MS);
      expect(await shop.leaseDue()).toBeNull();
    });

    it.each([
      ['failed', 1],
      ['review', 0],
    ] as const)('without an order are told by how it stands itself: %s', async (state, calls) => {
      const events = await shop.open([shop.handler('mail', undefined, { types: FAILED })]);
      await shop.storeEvent('ALONE', { state: 'failed' });
      const record = (await store.find('default', 'ALONE'))!;
      await store.replace({ ...record, state, version: 2 }, record);
      expect(await events.deliverDue()).toBe(calls);
    });

    it('are tried anew, which is no try, while the store cannot say whether the order is held', async () => {
      const events = await shop.open([shop.handler('mail', undefined, { types: FAILED })]);
      await shop.storeEvent('FAILED', ORDER);
      const look = store.isHeld.bind(store);
      store.isHeld = fail;
      for (let tries = 0; tries < 2 * MAX_TRIES; tries += 1) {
        await events.deliverDue();
        await clock.advance(MINUTE_MS);
      }
      expect(shop.calls).toEqual([]);
      expect(log).toContain(
        'error The payment store failed to say whether an order is held; its event is delivered later.',
      );
      const open = await store.listDeliveries({ account: 'default', parked: false, after: null, limit: 10 });
      expect(open).toMatchObject([{ attempts: 0, parked: false }]);
      store.isHeld = look;
      await events.deliverDue();
      expect(shop.calls).toEqual(['mail FAILED:1']);
    });
  });

  // What is shown of what it throws, whatever that is, is in test/payment/kept-text.spec.ts.
  it.each<[string, (event: object) => unknown, error: string]>([
    ['rejects', () => Promise.reject(new TypeError('no route')), 'TypeError: no route'],
    ['tells the card', () => Promise.reject(new Error('4508 0345 0803 4581 \u0000x')), 'Error: **** **** **** **** x'],
    [
      'changes its event',
      (event) => Promise.reject(new Error(typeof Object.assign(event, { payment: null, eventId: 'OTHER' }))),
      'Error: object',
    ],
  ])('a handler that %s is called again a second later, and the error is kept', async (_what, handle, error) => {
    const events = await shop.start(shop.handler('mail', handle));
    await publish(events, 'ONE');
    await clock.advance(SECOND_MS - 1);
    expect(await shop.leaseDue()).toBeNull();
    await clock.advance(1);
    expect((await shop.leaseDue())?.delivery).toMatchObject({
      attempts: 1,
      parked: false,
      error,
      event: { eventId: 'ONE:1' },
    });
    const line = `warn Event ONE:1: mail failed (try 1) and is tried again in 1 s: ${error}`;
    expect(log).toEqual([expect.stringContaining(line)]);
    expect(records).toMatchObject([{ ...NAMES, attempts: 1, parked: false, error }]);
  });

  describe('with a handler that takes ten minutes', () => {
    let events: EventDispatcher;
    let end: () => void;
    let failLate: (error: Error) => void;

    beforeEach(async () => {
      const ended = new Promise<void>((resolve, reject) => ([end, failLate] = [resolve, reject]));
      events = await shop.start(shop.handler('mail', () => ended));
      void publish(events, 'ONE');
      await quiet();
    });

    it('keep their lease until it ends, are then acknowledged, and it is reported after a minute', async () => {
      await clock.advance(MINUTE_MS - 1);
      expect([events.longRuns, log]).toEqual([[], []]);
      await clock.advance(1);
      expect(events.longRuns).toEqual([{ handlerId: 'mail', eventId: 'ONE:1', runningMs: MINUTE_MS }]);
      for (let minutes = 1; minutes < 10; minutes += 1) {
        await clock.advance(MINUTE_MS);
        expect(await shop.leaseDue()).toBeNull();
      }
      expect(log).toEqual(['warn Event ONE:1: mail has been running for a minute.']);
      end();
      await quiet();
      await clock.advance(DAY_MS);
      expect(await shop.leaseDue()).toBeNull();
    });

    it('keep their lease although the store fails to renew it twice', async () => {
      const renewLease = store.renewLease.bind(store);
      store.renewLease = () => Promise.reject(new Error('password=secret'));
      await clock.advance(45 * SECOND_MS);
      expect(log).toHaveLength(2);
      expect(log[0]).toMatch(/^error The payment store failed to renew the lease of a delivery/);
      expect(log.join()).not.toContain('secret');
      store.renewLease = renewLease;
      await clock.advance(5 * MINUTE_MS);
      expect(await shop.leaseDue()).toBeNull();
    });

    it.each([
      ['acknowledges', 'succeeds', () => end()],
      ['does not postpone', 'fails', () => failLate(new Error('late'))],
    ])('stop() waits half a minute, another instance gets them, and this one %s what %s late', async (...row) => {
      const [, how, finish] = row;
      const stopped = events.stop();
      await clock.advance(30 * SECOND_MS - 1);
      expect(await isOver(stopped)).toBe(false);
      await clock.advance(1);
      await stopped;
      await clock.advance(MINUTE_MS);
      const other = await shop.leaseDue();
      expect(other).not.toBeNull();
      finish();
      await quiet();
      const leased = { account: 'default', handlerId: 'mail', eventId: 'ONE:1', lease: other!.lease };
      expect(await store.renewLease(leased, MINUTE_MS)).toBe(how === 'fails');
      await clock.advance(DAY_MS);
      expect((await shop.leaseDue()) === null).toBe(how === 'succeeds');
    });
  });

  describe('stop()', () => {
    it('waits for handlers that run, whose deliveries are acknowledged, and no more are called', async () => {
      const open = gate();
      const events = await shop.start(shop.handler('mail', () => open.passed));
      void publish(events, 'ONE');
      await quiet();
      const stopped = events.stop();
      expect(await isOver(stopped)).toBe(false);
      await shop.storeEvent('TWO');
      await store.fanOut('default', 10);
      open.pass();
      await stopped;
      events.wake();
      await quiet();
      expect(shop.calls).toEqual(['mail ONE:1']);
      await clock.advance(DAY_MS);
      expect((await shop.leaseDue())?.delivery.event.eventId).toBe('TWO:1');
      expect(await shop.leaseDue()).toBeNull();
    });
  });

  describe('while the store fails', () => {
    const refuse = () => Promise.reject(new Error('password=secret'));

    it.each([
      ['fanOut', 'The payment store failed to make deliveries of events'],
      ['leaseDeliveries', 'The payment store failed to give out deliveries to handlers'],
    ] as const)('are delivered once it works again, and that is logged a few times a minute (%s)', async (...row) => {
      const [method, line] = row;
      const events = await shop.start(shop.handler('mail'));
      const original = store[method].bind(store);
      Object.assign(store, { [method]: refuse });
      void publish(events, 'ONE');
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
      expect(shop.calls).toEqual(['mail ONE:1']);
    });

    it.each([
      ['succeeded', () => undefined],
      ['failed', fail],
    ])('to record that a handler has %s, are delivered again', async (_what, handle) => {
      const events = await shop.start(shop.handler('mail', handle));
      store.acknowledge = store.postpone = refuse;
      await publish(events, 'ONE');
      expect(log.at(-1)).toBe(
        'error Event ONE:1: the store did not accept the result of the delivery to mail; ' +
          'the event will be delivered again.',
      );
      expect(log.join()).not.toContain('secret');
      await clock.advance(DAY_MS);
      expect((await shop.leaseDue())?.delivery).toMatchObject({ event: { eventId: 'ONE:1' } });
    });

    it('to announce handlers, no application starts; without handlers it is not asked', async () => {
      store.announce = refuse;
      await expect(shop.open([shop.handler('mail')])).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: 'The payment store failed while announcing the handlers of events. No money was moved by this call.',
      });
      const events = await shop.start();
      await events.renew();
      expect(await events.deliverDue()).toBe(0);
    });
  });
});
