import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PaymentHandler } from '../../lib/events/handler-finder.js';
import type { PlainEvents } from '../../lib/events/plain-events.js';
import { newEvent, type PaymentEvent } from '../../lib/payment/payment-event.js';
import { type PaymentIn, type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import type { PaymentEventState } from '../../lib/payment/states.js';
import { SystemRandomness } from '../../lib/runtime/randomness.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import type { Delivery, PaymentStore } from '../../lib/store/payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

export const MINUTE_MS = 60_000;

const credentials = { clientSecret: 'a secret of ours', apiKey: 'a key of ours' };
const settings = { account: 'default', credentials } as PaymentSettings;

type Handle = (event: PaymentEvent) => unknown;

/** A store with events, and instances with handlers, of which every call is noted. */
export class EventShop {
  readonly clock = new TestClock();
  readonly store = new MemoryPaymentStore({ clock: this.clock });
  /** `mail ONE:1` */
  readonly calls: string[] = [];
  /** The ids of the plain events. */
  readonly plain: string[] = [];
  private readonly instances: EventDispatcher[] = [];
  private leases = 0;

  /** A handler of successes, unless told otherwise. */
  handler(id: string, handle: Handle = () => undefined, more: Partial<PaymentHandler> = {}): PaymentHandler {
    const noted = (event: unknown): unknown => {
      this.calls.push(`${id} ${(event as PaymentEvent).eventId}`);
      return handle(event as PaymentEvent);
    };
    const usual = { account: 'default', types: ['payment.succeeded'], concurrency: 10, timeoutMs: null } as const;
    return { id, handle: noted, ...usual, ...more };
  }

  /** An instance that has announced its handlers, without background work. */
  async open(handlers: readonly PaymentHandler[], store: PaymentStore = this.store) {
    const plain = {
      connect: () => Promise.resolve(),
      emit: ({ eventId }: PaymentEvent) => this.plain.push(eventId),
    } as unknown as PlainEvents;
    const instance = new EventDispatcher(store, plain, this.clock, new SystemRandomness(), settings);
    this.instances.push(instance);
    await instance.announce(handlers);
    return instance;
  }

  /** The same, started. */
  async start(...handlers: PaymentHandler[]): Promise<EventDispatcher> {
    const instance = await this.open(handlers);
    instance.start();
    return instance;
  }

  /** Stores a payment with its event; the payment has succeeded unless `over` says otherwise. */
  async storeEvent(conversationId: string, over: Partial<PaymentRecord> = {}): Promise<PaymentEvent> {
    const free = { reference: null, referenceLock: null, idempotencyKey: null };
    const record = aPaymentRecord({ state: 'succeeded', conversationId, version: 1, ...free, ...over });
    const payment = toPayment(record) as PaymentIn<PaymentEventState>;
    const event = { ...newEvent(payment, `${conversationId}:1`), occurredAt: this.clock.now() };
    await this.store.insert(record, event);
    return event;
  }

  /** Leases a due delivery of the handler `mail` for a minute, as another instance would. */
  async leaseDue(): Promise<{ delivery: Delivery; lease: string } | null> {
    await this.store.fanOut('default', 10);
    this.leases += 1;
    const lease = `lease-${this.leases}`;
    const types = ['payment.succeeded', 'payment.failed'] as const;
    const request = { account: 'default', handlerId: 'mail', types, limit: 1 };
    const [delivery] = await this.store.leaseDeliveries({ ...request, lease, leaseMs: MINUTE_MS });
    return delivery ? { delivery, lease } : null;
  }

  /** Stopping waits half a minute for handlers that hang. */
  async stop(): Promise<void> {
    const stopped = Promise.all(this.instances.map((instance) => instance.stop()));
    await this.clock.advance(MINUTE_MS / 2);
    await stopped;
  }
}
