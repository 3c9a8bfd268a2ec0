import { SpanKind, trace } from '@opentelemetry/api';
import { DeliveryFailures, HandlerWorker, MAX_TRIES } from '../../lib/events/handler-worker.js';
import type { PaymentHandler } from '../../lib/events/handler-finder.js';
import type { LedgerEvent, PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import type { Delivery } from '../../lib/store/payment-store.js';
import { SystemRandomness } from '../../lib/runtime/randomness.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { logLines } from '../operations/log-lines.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { isOver, quiet } from '../operations/test-shop.js';
import { storeEvent } from './sample-event.js';

const CREDENTIALS = {
  merchantId: 'm',
  clientId: 'c',
  clientSecret: 'a secret of ours',
  apiKey: 'a key of ours',
  scope: 's',
  grantType: 'g',
};
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NOT_AN_ERROR = '4508034508034509' as unknown as Error;

type Handle = (event: PaymentEvent) => unknown;

function refuse(): never {
  throw new Error('not to be read');
}

describe('a delivery', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let failures: DeliveryFailures;
  let leases: number;

  beforeEach(async () => {
    clock = new TestClock();
    // The process has been up for a while.
    await clock.advance(5_000);
    failures = new DeliveryFailures(clock, 'default');
    store = new MemoryPaymentStore({ clock });
    leases = 0;
    await store.announce('default', [{ handlerId: 'mail', type: 'payment.succeeded' }]);
    await storeEvent(store, 'ONE', clock.now());
    await store.fanOut('default', 10);
  });

  /** Leases the delivery for a minute, as a worker does, if it is due. */
  async function leaseDue(): Promise<{ delivery: Delivery; lease: string } | null> {
    leases += 1;
    const lease = `lease-${leases}`;
    const request = { account: 'default', handlerId: 'mail', types: ['payment.succeeded'], limit: 1 } as const;
    const [delivery] = await store.leaseDeliveries({ ...request, lease, leaseMs: MINUTE_MS });
    return delivery ? { delivery, lease } : null;
  }

  function workerOf(handle: (event: LedgerEvent) => unknown, more: Partial<PaymentHandler> = {}): HandlerWorker {
    const types = ['payment.succeeded'] as const;
    const handler = { id: 'mail', account: 'default', types, concurrency: 1, timeoutMs: null, handle, ...more };
    return new HandlerWorker(handler, store, clock, new SystemRandomness(), failures, { credentials: CREDENTIALS });
  }

  /** Leases the delivery and calls the handler. */
  async function call(handle: Handle, more: Partial<PaymentHandler> = {}): Promise<HandlerWorker> {
    const worker = workerOf(handle as (event: LedgerEvent) => unknown, more);
    await worker.leaseDue();
    expect(worker.deliveries).toBe(1);
    return worker;
  }

  async function callNow(handle: Handle): Promise<void> {
    const worker = await call(handle);
    await worker.finished();
  }

  describe('of a payment that failed', () => {
    const seen: PaymentEvent[] = [];

    beforeEach(async () => {
      seen.length = 0;
      await store.announce('default', [{ handlerId: 'mail', type: 'payment.failed' }]);
      await storeEvent(store, 'FAILED', clock.now(), { state: 'failed', reference: 'order-1' });
      await store.fanOut('default', 10);
    });

    async function tell(): Promise<number> {
      const handle = (event: LedgerEvent): void => void seen.push(event as PaymentEvent);
      const worker = workerOf(handle, { types: ['payment.failed'] });
      await worker.leaseDue();
      await worker.finished();
      return worker.calls;
    }

    const open = () => store.listDeliveries({ account: 'default', parked: false, after: null, limit: 10 });

    it.each<[string, Partial<PaymentRecord> | null, number]>([
      ['there is none', null, 1],
      ['it ended, too', { state: 'expired' }, 1],
      ['its buyer is at the bank', { state: 'awaiting', kind: '3d' }, 1],
      ['it has paid the order', { state: 'succeeded', referenceLock: 'order-1' }, 0],
      ['it has paid the order, which it need not have held', { state: 'succeeded', allowRepeat: true }, 0],
      ['its page is being opened', { state: 'initiating', kind: 'hosted', referenceLock: 'order-1' }, 0],
    ])('calls the handler or not, where of another payment of the order %s', async (_what, other, calls) => {
      const ids = { conversationId: 'OTHER', reference: 'order-1', idempotencyKey: null };
      if (other) await store.insert(aPaymentRecord({ state: 'failed', referenceLock: null, ...ids, ...other }));
      expect(await tell()).toBe(calls);
      expect(seen).toHaveLength(calls);
      expect((await open()).filter(({ event }) => event.type === 'payment.failed')).toEqual([]);
      if (calls === 0)
        expect(log).toEqual([expect.stringMatching(/mail is not told, since a payment holds the order/)]);
    });

    it('calls no handler where the lock of the order has no owner: it is taken for good', async () => {
      const ids = { conversationId: 'OTHER', reference: 'order-1', referenceLock: null, idempotencyKey: null };
      const other = aPaymentRecord({ state: 'failed', ...ids });
      await store.insert(other);
      await store.replace({ ...other, pinsReference: true, version: other.version + 1 }, other);
      await tell();
      expect(seen).toEqual([]);
    });

    it.each(['failed', 'review'] as const)('without an order, by how it stands itself: %s', async (state) => {
      await store.acknowledge('default', 'mail', 'FAILED:1');
      await storeEvent(store, 'ALONE', clock.now(), { state: 'failed' });
      await store.fanOut('default', 10);
      const record = (await store.find('default', 'ALONE'))!;
      await store.replace({ ...record, state, version: 2 }, record);
      await tell();
      expect(seen).toHaveLength(state === 'failed' ? 1 : 0);
    });

    it('is no try while the store cannot say whether the order is held', async () => {
      const look = store.isHeld.bind(store);
      store.isHeld = () => Promise.reject(new Error('down'));
      for (let tries = 0; tries < 2 * MAX_TRIES; tries += 1) {
        await tell();
        await clock.advance(MINUTE_MS);
      }
      expect(seen).toEqual([]);
      const failed = 'error The payment store failed to say whether an order is held; its event is delivered later.';
      expect(log).toContain(failed);
      const [, delivery] = await open();
      expect(delivery).toMatchObject({ attempts: 0, parked: false });
      store.isHeld = look;
      await tell();
      expect(seen).toMatchObject([{ type: 'payment.failed' }]);
    });
  });

  it.each<[string, () => unknown, string]>([
    ['rejects', () => Promise.reject(new TypeError('no route')), 'TypeError: no route'],
    [
      'throws',
      () => {
        throw new Error('no route');
      },
      'Error: no route',
    ],
    ['throws a value that is not an Error', () => Promise.reject(NOT_AN_ERROR), 'threw something that is no Error'],
    [
      'throws an error whose message is not a string',
      () => Promise.reject(Object.assign(new Error(), { message: Symbol('x') })),
      'threw something that is no Error',
    ],
    [
      'throws an error that cannot be read',
      () => Promise.reject(Object.defineProperty(new Error(), 'message', { get: refuse })),
      'threw something that is no Error',
    ],
    [
      'throws a proxy that cannot be inspected',
      () => Promise.reject(new Proxy(new Error(), { getPrototypeOf: refuse, get: refuse })),
      'threw something that is no Error',
    ],
    ['throws the card number', () => Promise.reject(new Error('4508034508034509\nx 4508')), 'Error: x ****'],
    [
      'throws spaced digits and a control character',
      () => Promise.reject(new Error('no \u0000 for 4508 0345 0803 4581')),
      'Error: no for **** **** **** ****',
    ],
    ['throws a long text', () => Promise.reject(new Error('x'.repeat(1_000))), `Error: ${'x'.repeat(193)}`],
  ])('retries a handler that %s after a second, and stores the error', async (_what, handle, error) => {
    await callNow(handle);
    await clock.advance(999);
    expect(await leaseDue()).toBeNull();
    await clock.advance(1);
    expect((await leaseDue())?.delivery).toMatchObject({ attempts: 1, parked: false, error });
    const line = `warn Event ONE:1: mail failed (try 1) and is tried again in 1 s: ${error}`;
    expect(log).toEqual([expect.stringContaining(line)]);
    expect(records).toMatchObject([{ ...FIELDS, attempts: 1, parked: false, error }]);
  });

  it('is tried again, and named in the log, whatever its handler does to the event', async () => {
    await callNow((event) => {
      Object.assign(event, { payment: null, eventId: 'OTHER' });
      throw new Error('down');
    });
    expect(records).toMatchObject([{ ...FIELDS, attempts: 1, parked: false }]);
    await clock.advance(1_000);
    expect(await leaseDue()).toMatchObject({ delivery: { attempts: 1, event: { eventId: 'ONE:1' } } });
  });

  it('doubles the delay after each try, up to an hour, and parks the delivery after the last try', async () => {
    const delays: number[] = [];
    const postpone = store.postpone.bind(store);
    store.postpone = (delivery, to) => (delays.push(to.retryInMs / 1_000), postpone(delivery, to));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await callNow(() => Promise.reject(new Error('down')));
      await clock.advance(DAY_MS);
    }
    expect(delays.slice(0, -1)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
    expect(await leaseDue()).toBeNull();
    expect(await store.listDeliveries({ account: 'default', parked: true, after: null, limit: 10 })).toMatchObject([
      { handlerId: 'mail', attempts: 15, parked: true, error: 'Error: down', event: { eventId: 'ONE:1' } },
    ]);
    const line =
      'error Event ONE:1: mail failed 15 times and is parked until it is replayed (payments replay mail ONE:1): Error: down';
    expect(log.at(-1)).toContain(line);
    expect(log.filter((one) => one.startsWith('warn '))).toHaveLength(MAX_TRIES - 1);
    expect(records.at(-1)).toMatchObject({ ...FIELDS, attempts: 15, parked: true });
  });

  describe('with a handler that takes ten minutes', () => {
    let end: () => void;
    let running: HandlerWorker;

    beforeEach(async () => {
      running = await call(() => new Promise<void>((resolve) => (end = resolve)));
    });

    it('keeps its lease until the handler ends, and acknowledges the delivery', async () => {
      for (let minutes = 0; minutes < 10; minutes += 1) {
        await clock.advance(MINUTE_MS);
        expect(await leaseDue()).toBeNull();
      }
      end();
      await running.finished();
      await clock.advance(DAY_MS);
      expect(await leaseDue()).toBeNull();
    });

    it('logs and reports the handler as long-running after a minute', async () => {
      await clock.advance(MINUTE_MS - 1);
      expect([running.longRuns, log]).toEqual([[], []]);
      await clock.advance(1);
      expect(running.longRuns).toEqual([{ handlerId: 'mail', eventId: 'ONE:1', runningMs: MINUTE_MS }]);
      await clock.advance(5 * MINUTE_MS);
      expect(log).toEqual(['warn Event ONE:1: mail has been running for a minute.']);
    });

    it('keeps its lease although the store fails to renew it twice', async () => {
      const renewLease = store.renewLease.bind(store);
      store.renewLease = () => Promise.reject(new Error('password=secret'));
      await clock.advance(45_000);
      expect(log).toHaveLength(2);
      expect(log[0]).toMatch(/^error The payment store failed to renew the lease of a delivery/);
      expect(log.join()).not.toContain('secret');
      store.renewLease = renewLease;
      await clock.advance(5 * MINUTE_MS);
      expect(await leaseDue()).toBeNull();
    });

    it('ignores a failure to renew the lease that arrives after the handler has ended', async () => {
      let fail!: (error: Error) => void;
      store.renewLease = () => new Promise((_resolve, reject) => (fail = reject));
      await clock.advance(25_000);
      end();
      await running.finished();
      fail(new Error('down'));
      await quiet();
      expect(log).toEqual([]);
    });

    it('leaves the delivery to another instance after stopRenewing, but still acknowledges a late success', async () => {
      running.stopRenewing();
      await clock.advance(MINUTE_MS);
      expect(await leaseDue()).not.toBeNull();
      end();
      await running.finished();
      await clock.advance(DAY_MS);
      expect(await leaseDue()).toBeNull();
    });
  });

  it('does not postpone a delivery that another instance has leased meanwhile', async () => {
    let fail!: (error: Error) => void;
    const running = await call(() => new Promise((_resolve, reject) => (fail = reject)));
    running.stopRenewing();
    await clock.advance(MINUTE_MS);
    const other = await leaseDue();
    fail(new Error('late'));
    await running.finished();
    expect(await store.renewLease({ ...LEASED, lease: other!.lease }, MINUTE_MS)).toBe(true);
  });

  it('fails a handler that exceeds its timeoutMs', async () => {
    const running = await call(() => new Promise(() => undefined), { timeoutMs: 5_000 });
    await clock.advance(4_999);
    expect(await isOver(running.finished())).toBe(false);
    await clock.advance(1);
    expect(await isOver(running.finished())).toBe(true);
    await clock.advance(1_000);
    expect((await leaseDue())?.delivery).toMatchObject({ attempts: 1, error: 'took longer than 5000 ms' });
  });

  it.each<[string, () => unknown, object]>([
    ['succeeds', () => undefined, {}],
    ['fails', () => Promise.reject(new Error('card 4508034508034509')), { 'error.type': 'handler_failed' }],
  ])('records a span in a new trace and a duration when the handler %s', async (_what, handle, outcome) => {
    const recorder = new TelemetryRecorder().start();
    await connectTelemetry();
    const attributes = {
      'card_payment.account': 'default',
      'card_payment.handler': 'mail',
      'card_payment.event': 'payment.succeeded',
    };
    await trace.getTracer('shop').startActiveSpan('checkout', () => callNow(handle));
    const span = recorder.span('card_payment.handle mail');
    const points = (await recorder.points()).filter(({ name }) => name === 'card_payment.handler.duration');
    recorder.stop();
    expect([span.kind, span.parentSpanContext]).toEqual([SpanKind.CONSUMER, undefined]);
    expect(span.attributes).toEqual({
      ...attributes,
      ...outcome,
      'card_payment.conversation_id': 'ONE',
      'card_payment.attempts': 1,
    });
    expect(points).toMatchObject([{ attributes: { ...attributes, ...outcome }, value: { count: 1, sum: 0 } }]);
    expect(Object.keys(points[0]!.attributes)).toHaveLength(Object.keys({ ...attributes, ...outcome }).length);
  });

  it.each<[string, () => unknown]>([
    ['succeeded', () => undefined],
    ['failed', () => Promise.reject(new Error('down'))],
  ])(
    'does not reject when the store fails to record that a handler has %s, and the event is delivered again',
    async (_what, handle) => {
      store.acknowledge = store.postpone = () => Promise.reject(new Error('password=secret'));
      await callNow(handle);
      expect(log.at(-1)).toBe(
        'error Event ONE:1: the store did not accept the result of the delivery to mail; ' +
          'the event will be delivered again.',
      );
      expect(log.join()).not.toContain('secret');
      await clock.advance(DAY_MS);
      expect((await leaseDue())?.delivery).toMatchObject({ event: { eventId: 'ONE:1' } });
    },
  );
});

const FIELDS = { eventId: 'ONE:1', handlerId: 'mail', conversationId: 'ONE', account: 'default' };
const LEASED = { account: 'default', handlerId: 'mail', eventId: 'ONE:1' };
