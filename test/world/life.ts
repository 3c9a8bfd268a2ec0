import type { TestClock } from 'nestjs-card-payment/testing';
import { PaymentClock } from '../../lib/payment/clock.js';

/** Whether a process runs, is suspended or was killed. What it waits for arrives only while it runs. */
export class Life {
  /** When it was last suspended, by the world's time. */
  lastSuspended = -Infinity;
  isDead = false;
  private isSuspended = false;
  private waiting: (() => void)[] = [];

  constructor(private readonly clock: TestClock) {}

  /** Resolves while the process runs, and never once it was killed. */
  goesOn(): Promise<void> {
    if (!this.isSuspended && !this.isDead) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** A call to the store, the gateway or another service: it begins and ends only while the process runs. */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    await this.goesOn();
    const [ended] = await Promise.allSettled([work()]);
    await this.goesOn();
    if (ended.status === 'rejected') throw ended.reason;
    return ended.value;
  }

  suspend(): void {
    this.isSuspended = true;
    this.lastSuspended = this.clock.monotonic();
  }

  resume(): void {
    if (this.isSuspended) this.lastSuspended = this.clock.monotonic();
    this.isSuspended = false;
    if (this.isDead) return;
    for (const goOn of this.waiting.splice(0)) goOn();
  }

  kill(): void {
    this.isDead = true;
    this.waiting = [];
  }
}

/** The clock of a host, which differs from the world's time. */
export class HostClock extends PaymentClock {
  private readonly bootedAt: number;

  constructor(
    private readonly world: TestClock,
    private readonly life: Life,
    /** How far it is ahead, in milliseconds. */
    public aheadMs: number,
  ) {
    super();
    this.bootedAt = world.monotonic();
  }

  now(): Date {
    return new Date(this.world.now().getTime() + this.aheadMs);
  }

  override monotonic(): number {
    return this.world.monotonic() - this.bootedAt;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.world.sleep(ms, signal);
    await this.life.goesOn();
  }
}
