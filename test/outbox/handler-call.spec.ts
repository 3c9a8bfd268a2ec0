import { SpanKind, trace } from '@opentelemetry/api';
import { DeliveryFailures } from '../../lib/outbox/delivery-failures.js';
import { HandlerCall, MAX_TRIES } from '../../lib/outbox/handler-call.js';
import type { PaymentHandler } from '../../lib/outbox/handler-finder.js';
import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import type { Delivery } from '../../lib/store/payment-outbox.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { logLines } from '../flows/log-lines.js';
import { isOver, quiet } from '../flows/test-shop.js';
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
const NO_ERROR = '4508034508034509' as unknown as Error;

type Handle = (event: PaymentEvent) => unknown;

function refuse(): never {
  throw new Error('not to be read');
}

describe('HandlerCall', () => {
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
    failures = new DeliveryFailures(clock, { account: 'default', credentials: CREDENTIALS });
    store = new MemoryPaymentStore({ clock });
    leases = 0;
    await store.announce('default', [{ handlerId: 'mail', type: 'payment.succeeded' }]);
    await storeEvent(store, 'ONE', clock.now());
    await store.fanOut('default', 10);
  });

  /** The delivery, if it is due by now; leased for a minute, as a worker does it. */
  async function due(): Promise<{ delivery: Delivery; lease: string } | null> {
    leases += 1;
    const lease = `lease-${leases}`;
    const request = { account: 'default', handlerId: 'mail', types: ['payment.succeeded'], limit: 1 } as const;
    const [delivery] = await store.leaseDeliveries({ ...request, lease, leaseMs: MINUTE_MS });
    return delivery ? { delivery, lease } : null;
  }

  async function call(handle: Handle, more: Partial<PaymentHandler> = {}): Promise<HandlerCall> {
    const { delivery, lease } = (await due())!;
    const types = ['payment.succeeded'] as const;
    const handler = { id: 'mail', account: 'default', types, concurrency: 1, timeoutMs: null, handle, ...more };
    return new HandlerCall(delivery, lease, handler, store, clock, failures);
  }

  async function callNow(handle: Handle): Promise<void> {
    await (
      await call(handle)
    ).done;
  }

  it('calls the handler with the event, and is done', async () => {
    const seen: PaymentEvent[] = [];
    await callNow((event) => void seen.push(event));
    expect(seen).toMatchObject([{ eventId: 'ONE:1', type: 'payment.succeeded', payment: { conversationId: 'ONE' } }]);
    await clock.advance(DAY_MS);
    expect(await due()).toBeNull();
    expect(log).toEqual([]);
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
    ['throws what is no error', () => Promise.reject(NO_ERROR), 'threw something that is no Error'],
    [
      'throws an error whose message is no text',
      () => Promise.reject(Object.assign(new Error(), { message: Symbol('x') })),
      'threw something that is no Error',
    ],
    [
      'throws an error that cannot be read',
      () => Promise.reject(Object.defineProperty(new Error(), 'message', { get: refuse })),
      'threw something that is no Error',
    ],
    [
      'throws what refuses to be looked at',
      () => Promise.reject(new Proxy(new Error(), { getPrototypeOf: refuse, get: refuse })),
      'threw something that is no Error',
    ],
    ['throws the card', () => Promise.reject(new Error('4508034508034509\nx')), 'Error: *** x'],
    ['throws a long text', () => Promise.reject(new Error('x'.repeat(1_000))), `Error: ${'x'.repeat(293)}`],
  ])('has a handler that %s called again a second later, and keeps what it threw', async (_what, handle, error) => {
    await callNow(handle);
    await clock.advance(999);
    expect(await due()).toBeNull();
    await clock.advance(1);
    expect((await due())?.delivery).toMatchObject({ attempts: 1, parked: false, error });
    const line = `warn Event ONE:1: mail failed (try 1) and is tried again in 1 s: ${error}`;
    expect(log).toEqual([expect.stringContaining(line)]);
    expect(records).toMatchObject([{ ...FIELDS, attempts: 1, parked: false, error }]);
  });

  it('waits twice as long after each try, up to an hour, and parks the delivery after the last', async () => {
    const waits: number[] = [];
    const postpone = store.postpone.bind(store);
    store.postpone = (delivery, to) => (waits.push(to.retryInMs / 1_000), postpone(delivery, to));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await callNow(() => Promise.reject(new Error('down')));
      await clock.advance(DAY_MS);
    }
    expect(waits.slice(0, -1)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
    expect(await due()).toBeNull();
    expect(await store.listParked('default', 10)).toMatchObject([
      { handlerId: 'mail', attempts: 15, parked: true, error: 'Error: down', event: { eventId: 'ONE:1' } },
    ]);
    const line =
      'error Event ONE:1: mail failed 15 times and is parked until it is replayed (payments replay mail ONE:1): Error: down';
    expect(log.at(-1)).toContain(line);
    expect(log.filter((one) => one.startsWith('warn '))).toHaveLength(MAX_TRIES - 1);
    expect(records.at(-1)).toMatchObject({ ...FIELDS, attempts: 15, parked: true });
  });

  describe('of a handler that takes ten minutes', () => {
    let end: () => void;
    let running: HandlerCall;

    beforeEach(async () => {
      running = await call(() => new Promise<void>((resolve) => (end = resolve)));
    });

    it('keeps the delivery from everyone else, and its success counts', async () => {
      for (let minutes = 0; minutes < 10; minutes += 1) {
        await clock.advance(MINUTE_MS);
        expect(await due()).toBeNull();
      }
      end();
      await running.done;
      await clock.advance(DAY_MS);
      expect(await due()).toBeNull();
    });

    it('is named in the log and in health once it has run for a minute', async () => {
      await clock.advance(MINUTE_MS - 1);
      expect([running.longRunMs, log]).toEqual([null, []]);
      await clock.advance(1);
      expect([running.longRunMs, log]).toEqual([MINUTE_MS, ['warn Event ONE:1: mail has been running for a minute.']]);
    });

    it('keeps it while the store fails to renew the lease now and then', async () => {
      const renewLease = store.renewLease.bind(store);
      store.renewLease = () => Promise.reject(new Error('password=secret'));
      await clock.advance(45_000);
      expect(failures.count).toBe(2);
      expect(log[0]).toMatch(/^error The payment store failed to renew the lease of a delivery/);
      expect(log.join()).not.toContain('secret');
      store.renewLease = renewLease;
      await clock.advance(5 * MINUTE_MS);
      expect(failures.count).toBe(0);
      expect(await due()).toBeNull();
    });

    it('counts no failure to renew once it is over', async () => {
      store.renewLease = () => Promise.reject(new Error('down'));
      await clock.advance(25_000);
      expect(failures.count).toBe(1);
      end();
      await running.done;
      expect(failures.count).toBe(0);
    });

    it('nor one that the store answers when it is over', async () => {
      let fail!: (error: Error) => void;
      store.renewLease = () => new Promise((_resolve, reject) => (fail = reject));
      await clock.advance(25_000);
      end();
      await running.done;
      fail(new Error('down'));
      await quiet();
      expect([failures.count, log]).toEqual([0, []]);
    });

    it('counts failures to renew another delivery on, once it is over', async () => {
      await storeEvent(store, 'TWO', clock.now());
      await store.fanOut('default', 10);
      const other = await call(() => new Promise(() => undefined));
      store.renewLease = () => Promise.reject(new Error('down'));
      await clock.advance(25_000);
      expect(failures.count).toBe(2);
      end();
      await running.done;
      expect(failures.count).toBe(1);
      other.stopRenewing();
    });

    it('lets another instance have it once it is let go, and its late success counts all the same', async () => {
      running.stopRenewing();
      await clock.advance(MINUTE_MS);
      expect(await due()).not.toBeNull();
      end();
      await running.done;
      await clock.advance(DAY_MS);
      expect(await due()).toBeNull();
    });
  });

  it('whose lease was lost does not postpone what another instance is at', async () => {
    let fail!: (error: Error) => void;
    const running = await call(() => new Promise((_resolve, reject) => (fail = reject)));
    running.stopRenewing();
    await clock.advance(MINUTE_MS);
    const other = await due();
    fail(new Error('late'));
    await running.done;
    expect(await store.renewLease({ ...LEASED, lease: other!.lease }, MINUTE_MS)).toBe(true);
  });

  it('gives a handler no longer than its own limit, where it has one', async () => {
    const running = await call(() => new Promise(() => undefined), { timeoutMs: 5_000 });
    await clock.advance(4_999);
    expect(await isOver(running.done)).toBe(false);
    await clock.advance(1);
    expect(await isOver(running.done)).toBe(true);
    await clock.advance(1_000);
    expect((await due())?.delivery).toMatchObject({ attempts: 1, error: 'took longer than 5000 ms' });
  });

  it.each<[string, () => unknown, object]>([
    ['succeeds', () => undefined, {}],
    ['fails', () => Promise.reject(new Error('card 4508034508034509')), { 'error.type': 'handler_failed' }],
  ])('is a span of a trace of its own, and measured, where the handler %s', async (_what, handle, outcome) => {
    const recorder = new TelemetryRecorder().start();
    await connectTelemetry();
    const by = {
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
      ...by,
      ...outcome,
      'card_payment.conversation_id': 'ONE',
      'card_payment.attempts': 1,
    });
    expect(points).toMatchObject([{ attributes: { ...by, ...outcome }, value: { count: 1, sum: 0 } }]);
    expect(Object.keys(points[0]!.attributes)).toHaveLength(Object.keys({ ...by, ...outcome }).length);
  });

  it.each<[string, () => unknown]>([
    ['succeeded', () => undefined],
    ['failed', () => Promise.reject(new Error('down'))],
  ])(
    'never rejects when the store does not take that a handler has %s: the event comes again',
    async (_what, handle) => {
      store.acknowledge = store.postpone = () => Promise.reject(new Error('password=secret'));
      await callNow(handle);
      expect(log.at(-1)).toBe('error Event ONE:1: the store did not take the delivery to mail; it will come again.');
      expect(log.join()).not.toContain('secret');
      await clock.advance(DAY_MS);
      expect((await due())?.delivery).toMatchObject({ event: { eventId: 'ONE:1' } });
    },
  );
});

const FIELDS = { eventId: 'ONE:1', handlerId: 'mail', conversationId: 'ONE', account: 'default' };
const LEASED = { account: 'default', handlerId: 'mail', eventId: 'ONE:1' };
