import { Injectable, type Provider } from '@nestjs/common';
import { OnPayment, type PaymentEvent, type PaymentOptions, type PaymentStore } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { type Instance, type SharedBooks, startInstance } from './instance.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** What one handler was told. */
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
    readonly books: SharedBooks,
    /** For the test to look into. */
    readonly store: PaymentStore,
  ) {}

  static async open(books: SharedBooks): Promise<Merchant> {
    const clock = new TestClock(new Date());
    // Requests that stall while the clock is put forward are not late.
    const options = { dialect: 'morpos', clock: () => clock.now(), timestampToleranceMs: Infinity } as const;
    const simulator = await startSimulator(options);
    const store = await books.connect(clock);
    await store.open();
    return new Merchant(simulator, clock, books, store);
  }

  async start(
    more: { providers?: Provider[]; options?: PaymentOptions; store?: PaymentStore } = {},
  ): Promise<Instance> {
    const { simulator, clock } = this;
    const store = more.store ?? (await this.books.connect(clock));
    const instance = await startInstance({ simulator, clock, ...more, store });
    this.instances.push(instance);
    return instance;
  }

  async close(): Promise<void> {
    this.simulator.reset();
    for (const instance of this.instances) await instance.close();
    await this.simulator.close();
    await this.store.close();
    this.books.remove();
  }
}
