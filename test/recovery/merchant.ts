import { Injectable, type Provider } from '@nestjs/common';
import {
  MemoryPaymentStore,
  OnPayment,
  type PaymentClock,
  type PaymentEvent,
  type PaymentOptions,
  type PaymentService,
} from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';
import { SHARED_STORES } from '../rigs/shared-stores.js';
import { startShop } from '../rigs/shop.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Where the instances of a merchant keep their payments. */
export interface InstanceStore {
  readonly url: string;
  /** The store as one more instance opens it. */
  connect(clock: PaymentClock): Promise<PaymentStore>;
  remove(): Promise<void>;
}

/** The stores that the tests run on. */
export const STORES: Readonly<Record<'memory' | 'SQLite', () => Promise<InstanceStore>>> = {
  memory: () => {
    let store: PaymentStore | null = null;
    const connect = (clock: PaymentClock) => Promise.resolve((store ??= new MemoryPaymentStore({ clock })));
    return Promise.resolve({ url: 'memory:', connect, remove: () => Promise.resolve() });
  },
  SQLite: async () => {
    const files = await SHARED_STORES.SQLite();
    const url = await files.create();
    return { url, connect: (clock) => openSqlStore(url, { clock }), remove: () => files.stop() };
  },
};

/** One of a merchant's instances. It works in the background only when the test says so. */
export interface Instance {
  readonly payments: PaymentService;
  close(): Promise<void>;
}

/** The events that one handler was called with. */
@Injectable()
export class Journal {
  readonly told: string[] = [];

  @OnPayment(['succeeded', 'failed', 'expired', 'unknown', 'review'])
  note({ type, payment }: PaymentEvent): void {
    this.told.push(`${payment.conversationId} ${type}`);
  }
}

/** A merchant with a gateway, a clock and as many instances as a test wants. */
export class Merchant {
  private readonly instances: Instance[] = [];

  private constructor(
    readonly simulator: Simulator,
    readonly clock: TestClock,
    readonly shared: InstanceStore,
    /** The same store, for the test to look into. */
    readonly store: PaymentStore,
  ) {}

  static async open(shared: InstanceStore): Promise<Merchant> {
    const clock = new TestClock(new Date());
    const simulator = await startTimelessGateway({ clock: () => clock.now() });
    const store = await shared.connect(clock);
    await store.open();
    return new Merchant(simulator, clock, shared, store);
  }

  async start({
    providers,
    options,
    store,
  }: { providers?: Provider[]; options?: PaymentOptions; store?: PaymentStore } = {}): Promise<Instance> {
    const { simulator, clock } = this;
    const own = { background: false, store: store ?? (await this.shared.connect(clock)) };
    const shop = await startShop({ options: { ...accountAt(simulator), ...own, ...options }, providers, clock });
    const instance = { payments: shop.payments, close: () => shop.app.close() };
    this.instances.push(instance);
    return instance;
  }

  async close(): Promise<void> {
    this.simulator.reset();
    for (const instance of this.instances) await instance.close();
    await this.simulator.close();
    await this.store.close();
    await this.shared.remove();
  }
}
