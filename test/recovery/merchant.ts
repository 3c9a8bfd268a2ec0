import { Injectable, type Provider } from '@nestjs/common';
import { OnPayment, type PaymentEvent, type PaymentOptions, type PaymentService } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { openedStoreAt, SHARED_STORES, type SharedStore } from '../rigs/shared-stores.js';
import { startShop } from '../rigs/shop.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

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

/** A merchant with a gateway, a clock, a SQLite store and as many instances as a test wants. */
export class Merchant {
  private readonly instances: Instance[] = [];

  private constructor(
    readonly simulator: Simulator,
    readonly clock: TestClock,
    private readonly files: SharedStore,
    readonly storeUrl: string,
    /** The store, for the test to look into. */
    readonly store: PaymentStore,
  ) {}

  static async open(): Promise<Merchant> {
    const clock = new TestClock(new Date());
    const simulator = await startTimelessGateway({ clock: () => clock.now() });
    const files = await SHARED_STORES.SQLite();
    const storeUrl = await files.create();
    return new Merchant(simulator, clock, files, storeUrl, await openedStoreAt(storeUrl, { clock }));
  }

  /** The store as one more instance opens it. */
  connect(): Promise<PaymentStore> {
    return openedStoreAt(this.storeUrl, { clock: this.clock });
  }

  async start({
    providers,
    options,
    store,
  }: { providers?: Provider[]; options?: PaymentOptions; store?: PaymentStore } = {}): Promise<Instance> {
    const { simulator, clock } = this;
    const own = { background: false, store: store ?? (await this.connect()) };
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
    await this.files.stop();
  }
}
