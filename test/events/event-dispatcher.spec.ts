import { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PaymentHandler } from '../../lib/events/handler-finder.js';
import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PlainEvents } from '../../lib/events/plain-events.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { SystemClock } from '../../lib/payment/clock.js';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

const settings = { account: 'default' } as PaymentSettings;

describe('EventDispatcher', () => {
  let store: MemoryPaymentStore;
  let events: EventDispatcher;

  beforeEach(() => {
    store = new MemoryPaymentStore();
    const plain = { connect: () => Promise.resolve(), emit: () => undefined } as unknown as PlainEvents;
    events = new EventDispatcher(store, plain, new SystemClock(), settings);
  });

  afterEach(() => events.stop());

  it('goes on after an event that came while it had all it takes at once', async () => {
    const open = gate();
    const seen: string[] = [];
    await announce(async ({ payment }) => {
      seen.push(payment.conversationId);
      await open.passed;
    });
    const told = Array.from({ length: 30 }, (_, index) => tell(`busy-${index}`));
    await until(() => seen.length === 20);
    const late = tell('late');
    open.pass();
    await Promise.all([...told, late]);
    await events.deliverDue();
    expect(seen).toHaveLength(31);
  });

  it('has delivered what was due, however much comes meanwhile', async () => {
    let isOver = false;
    let count = 0;
    await announce(async () => {
      count += 1;
      await new Promise((done) => setTimeout(done, 1));
      if (!isOver) void tell(`next-${count}`);
    });
    void tell('first');
    await events.deliverDue();
    isOver = true;
    expect(count).toBeGreaterThan(0);
  });

  it('keeps nothing of the card and no control character of what a handler threw', async () => {
    await announce(() => Promise.reject(new Error('no \u0000 for 4508 0345 0803 4581')));
    await tell('breaks', { maskedCardNumber: '450803******4581' });
    const deliveries = await store.leaseDeliveries({
      account: 'default',
      handlerIds: ['handler'],
      now: new Date(Date.now() + 3_600_000),
      until: new Date(Date.now() + 7_200_000),
      limit: 1,
    });
    expect(deliveries[0]?.error).toBe('Error: no   for 4508 03** **** 4581');
  });

  async function announce(handle: (event: PaymentEvent) => Promise<void>): Promise<void> {
    const handler: PaymentHandler = { id: 'handler', account: 'default', types: ['payment.succeeded'], handle };
    await events.announce([handler]);
    events.start();
  }

  async function tell(conversationId: string, more: Partial<PaymentRecord> = {}): Promise<void> {
    const record = aPaymentRecord({
      state: 'succeeded',
      conversationId,
      reference: null,
      referenceLock: null,
      idempotencyKey: null,
      ...more,
    });
    const event: PaymentEvent = {
      eventId: `${conversationId}:1`,
      type: 'payment.succeeded',
      payment: toPayment(record),
      occurredAt: new Date(),
    };
    await store.insert(record, event);
    await events.publish(event);
  }
});

function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 5));
}
