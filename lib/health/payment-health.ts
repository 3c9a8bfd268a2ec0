import { Injectable } from '@nestjs/common';
import { EventDispatcher } from '../outbox/event-dispatcher.js';
import type { LongRun } from '../outbox/handler-worker.js';
import { InFlightLimit } from '../process/in-flight.js';
import { OwedWrites } from '../flows/settling/owed-writes.js';
import { Reconciler } from '../flows/background/reconciler.js';
import { StoreClock } from '../process/store-clock.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { PaymentStore, type StoreCounts } from '../store/payment-store.js';

/** How an account's payments stand in this process, and in its store. */
export interface PaymentHealthReport {
  readonly account: string;
  /** Whether the store answered just now. */
  readonly isStoreUp: boolean;
  /** What waits in the store; null when it did not answer. */
  readonly counts: StoreCounts | null;
  /** Outcomes and other writes that the store has not taken from this process yet. */
  readonly owedWrites: number;
  /** How many `doPayment` and `init3d` run in this process. */
  readonly paymentsInFlight: number;
  /** How many of these may run at once; null where there is no bound. */
  readonly maxInFlight: number | null;
  /** Calls of handlers in this process that have been running for longer than a minute. */
  readonly longRuns: readonly LongRun[];
  /** How far this host's clock is behind the store's, in milliseconds; negative when it is ahead. */
  readonly clockOffsetMs: number;
  /** Whether this process does the background work. */
  readonly background: boolean;
  /** How long ago it last began a pass, in milliseconds: a few seconds when all is well. Null where it does not run. */
  readonly backgroundIdleMs: number | null;
  /** How often in a row the store has failed the background work here; 0 while all is well. */
  readonly backgroundFailures: number;
  /** How often in a row the store has failed here where events are handed to handlers; 0 while all is well. */
  readonly deliveryFailures: number;
  /** How long the oldest payment has been `unknown`, in milliseconds; null where there is none, or nobody knows. */
  readonly oldestUnknownMs: number | null;
}

/**
 * How an account stands, for health checks and dashboards: inject it, or `paymentHealthToken(name)` of a named account.
 * It only reads.
 */
@Injectable()
export class PaymentHealth {
  constructor(
    private readonly store: PaymentStore,
    private readonly owed: OwedWrites,
    private readonly events: EventDispatcher,
    private readonly clock: StoreClock,
    private readonly settings: PaymentSettings,
    private readonly reconciler: Reconciler,
    private readonly limit: InFlightLimit,
  ) {}

  /** Never rejects: a store that fails is part of the answer. */
  async report(): Promise<PaymentHealthReport> {
    const { account, background, maxInFlight } = this.settings;
    const counts = await this.store.counts(account).catch(() => null);
    return {
      account,
      isStoreUp: counts !== null,
      counts,
      owedWrites: this.owed.count,
      paymentsInFlight: this.limit.count,
      maxInFlight,
      longRuns: this.events.longRuns,
      clockOffsetMs: this.clock.offsetMs,
      background,
      backgroundIdleMs: this.reconciler.idleMs,
      backgroundFailures: this.reconciler.failuresInRow,
      deliveryFailures: this.events.failuresInRow,
      oldestUnknownMs: counts ? ageOf(counts.states.unknown.oldest, this.clock.now()) : null,
    };
  }
}

/** How long ago that was, in milliseconds; null for no moment. */
export function ageOf(since: Date | null, now: Date): number | null {
  return since && Math.max(0, now.getTime() - since.getTime());
}

/** Under what an account's `PaymentHealth` is injected: the class itself for the unnamed one. */
export function paymentHealthToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentHealth {
  return name === DEFAULT_ACCOUNT ? PaymentHealth : Symbol.for(`nestjs-card-payment:health:${name}`);
}
