import { DeliveryRunner, MAX_TRIES } from '../../lib/events/delivery-runner.js';
import type { PaymentHandler } from '../../lib/events/handler-finder.js';
import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import type { Delivery } from '../../lib/store/payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../flows/log-lines.js';
import { storeEvent } from './sample-event.js';

const LONG_MS = 86_400_000;
const NO_ERROR = '4508034508034509' as unknown as Error;

describe('DeliveryRunner', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let runner: DeliveryRunner;

  beforeEach(async () => {
    store = new MemoryPaymentStore();
    clock = new TestClock();
    runner = new DeliveryRunner(store, clock);
    await store.announceHandlers('default', [{ id: 'mail', types: ['payment.succeeded'] }], clock.now());
    await storeEvent(store, 'ONE', clock.now());
  });

  /** The delivery, if it is due by now; leased for long. */
  async function due(): Promise<Delivery | undefined> {
    const now = clock.now();
    const until = new Date(now.getTime() + LONG_MS);
    const lease = { account: 'default', handlerIds: ['mail'], now, until, limit: 1 };
    return (await store.leaseDeliveries(lease))[0];
  }

  /** How long from now until the delivery is due again, in seconds; null where it never is. */
  async function wait(): Promise<number | null> {
    const later = { now: new Date(clock.now().getTime() + LONG_MS / 2), until: clock.now() };
    const lease = { account: 'default', handlerIds: ['mail'], ...later, limit: 1 };
    const seen: Date[] = [];
    const postpone = store.postpone.bind(store);
    store.postpone = (delivery) => (seen.push(delivery.dueAt), postpone(delivery));
    const delivery = (await store.leaseDeliveries(lease))[0];
    if (!delivery) return null;
    await runner.run(
      delivery,
      handler(() => Promise.reject(new Error('down'))),
    );
    store.postpone = postpone;
    return (seen[0]!.getTime() - clock.now().getTime()) / 1_000;
  }

  function handler(handle: (event: PaymentEvent) => unknown): PaymentHandler {
    return { id: 'mail', account: 'default', types: ['payment.succeeded'], handle };
  }

  it('calls the handler with the event, and is done', async () => {
    const seen: PaymentEvent[] = [];
    await runner.run(
      (await due())!,
      handler((event) => void seen.push(event)),
    );
    expect(seen).toMatchObject([{ eventId: 'ONE:1', type: 'payment.succeeded', payment: { conversationId: 'ONE' } }]);
    await clock.advance(2 * LONG_MS);
    expect(await due()).toBeUndefined();
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
    ['throws the card', () => Promise.reject(new Error('4508034508034509\nx')), 'Error: 450803******4509 x'],
    ['throws a long text', () => Promise.reject(new Error('x'.repeat(1_000))), `Error: ${'x'.repeat(293)}`],
  ])('has a handler that %s called again a second later, and keeps what it threw', async (_what, handle, error) => {
    await runner.run((await due())!, handler(handle));
    await clock.advance(999);
    expect(await due()).toBeUndefined();
    await clock.advance(1);
    expect(await due()).toMatchObject({ attempts: 1, parked: false, error });
    expect(log).toEqual(['warn Event ONE:1: mail failed (try 1); it is tried again.']);
  });

  it('waits twice as long after each try, up to an hour, and parks the delivery after the last', async () => {
    const waits: (number | null)[] = [];
    for (let tries = 0; tries < MAX_TRIES; tries += 1) waits.push(await wait());
    expect(waits.slice(0, -1)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
    expect(await wait()).toBeNull();
    expect(await store.listParked('default', 10)).toMatchObject([
      { handlerId: 'mail', attempts: 15, parked: true, error: 'Error: down', event: { eventId: 'ONE:1' } },
    ]);
    expect(log.at(-1)).toBe('error Event ONE:1: mail failed 15 times and is parked until it is replayed.');
  });

  it('gives a delivery back that is for a handler which this instance does not have', async () => {
    await runner.run((await due())!, undefined);
    await clock.advance(1_000);
    expect(await due()).toMatchObject({ attempts: 1, error: 'this instance has no such handler' });
  });

  it.each<[string, () => unknown]>([
    ['succeeded', () => undefined],
    ['failed', () => Promise.reject(new Error('down'))],
  ])(
    'never rejects when the store does not take that a handler has %s: the event comes again',
    async (_what, handle) => {
      const delivery = (await due())!;
      store.acknowledge = store.postpone = () => Promise.reject(new Error('password=secret'));
      await runner.run(delivery, handler(handle));
      expect(log.at(-1)).toBe('error Event ONE:1: the store did not take the delivery to mail; it will come again.');
      expect(log.join()).not.toContain('secret');
      await clock.advance(LONG_MS);
      expect(await due()).toMatchObject({ event: { eventId: 'ONE:1' } });
    },
  );
});
