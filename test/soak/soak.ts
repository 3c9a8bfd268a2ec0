import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentOptions, PaymentReason, PaymentState, StoreCounts } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { Buyers, RESULT_URLS } from './buyers.js';
import { differences, owedEvents, type StoredPayment } from './differences.js';
import { GatewayFaults } from './gateway-faults.js';
import type { HandledEvent, HandlerWork } from './order-handlers.js';
import { SeededRandom } from './random.js';
import { makeScratchFolder } from './scratch-folder.js';
import { settleWhatIsLeft } from './settle-what-is-left.js';
import { SHARED_STORES, type SharedStore, type StoreName } from './shared-store.js';
import { Shops } from './shops.js';

export interface SoakSettings {
  readonly minutes: number;
  readonly store: StoreName;
  readonly seed: number;
  /** Called with what is going on, a line at a time. */
  readonly log: (line: string) => void;
}

export interface SoakReport {
  readonly payments: number;
  readonly states: Readonly<Partial<Record<PaymentState, number>>>;
  /** Why the failed ones failed. */
  readonly reasons: Readonly<Partial<Record<PaymentReason, number>>>;
  readonly charges: number;
  readonly requests: number;
  readonly inquiries: number;
  readonly events: number;
  readonly handlerCalls: number;
  readonly gatewayFaults: number;
  /** What happened to the store, how often. */
  readonly storeTroubles: Readonly<Record<string, number>>;
  readonly kills: number;
  readonly deploys: number;
  readonly longestAnswerMs: number;
  readonly longestEndMs: number;
  /** Of each process that was never ended: bytes in use after warming up, and in the end. */
  readonly heaps: readonly { readonly start: number; readonly end: number }[];
  /** Everything that is not as it must be; one line each. */
  readonly differences: readonly string[];
}

const ACCOUNT = 'default';
const BUYERS = 8;
const MINUTE_MS = 60_000;
/** Below that a run is a test of the soak itself, and does not wait for what takes minutes. */
const SHORT_MINUTES = 2;
const MAX_HEALING_MS = 150_000;
/** How much the heap may grow. */
const MAX_GROWTH = { factor: 1.5, bytes: 20 * 1_048_576 };

/** Takes payments under faults for a while, lets everything heal, and compares what all sides say. */
export async function runSoak(settings: SoakSettings): Promise<SoakReport> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const store = await SHARED_STORES[settings.store]();
    ends.push(() => store.stop());
    // The clock of whoever comes last is put forward.
    const simulator = await startSimulator({ dialect: 'morpos', timestampToleranceMs: Infinity, requestLimit: 0 });
    ends.push(() => simulator.close());
    return await new Soak(settings, store, simulator, join(makeScratchFolder(), 'journal'), ends).run();
  } finally {
    for (const end of ends.reverse()) await end().catch((error) => settings.log(`While ending: ${String(error)}`));
  }
}

class Soak {
  private readonly random: SeededRandom;
  private readonly isShort: boolean;
  private readonly problems: string[] = [];
  private readonly troubles: Record<string, number> = {};
  private readonly stopping = new AbortController();

  constructor(
    private readonly settings: SoakSettings,
    private readonly store: SharedStore,
    private readonly simulator: Simulator,
    private readonly journal: string,
    private readonly ends: (() => Promise<unknown>)[],
  ) {
    this.random = new SeededRandom(settings.seed);
    this.isShort = settings.minutes < SHORT_MINUTES;
  }

  async run(): Promise<SoakReport> {
    const { random, simulator, isShort, settings } = this;
    const shops = new Shops(this.options, () => this.work(), new SeededRandom(random.seed()), isShort);
    this.ends.push(() => shops.killAll());
    await shops.start();
    settings.log(`${shops.count} processes take payments.`);

    const buyers = new Buyers(simulator, new SeededRandom(random.seed()), () => shops.someUrl(), isShort ? 50 : 150);
    const faults = new GatewayFaults(simulator, new SeededRandom(random.seed()), isShort ? 150 : 400);
    const buying = buyers.run(BUYERS);
    // Warm-up: connections, compiled code, caches.
    const runMs = settings.minutes * MINUTE_MS;
    await delay(Math.min(runMs / 5, MINUTE_MS));
    const heapsAtStart = await shops.heaps();
    const disturbing = [faults.run(), shops.disturb(this.stopping.signal), this.disturbStore()];
    await delay(runMs - Math.min(runMs / 5, MINUTE_MS));

    settings.log('The faults end.');
    faults.stop();
    this.stopping.abort();
    buyers.stop();
    await Promise.all([...disturbing, buying]);
    await this.heal(shops);
    const heapsAtEnd = await shops.heaps();
    await shops.endAll();
    settings.log('Time is put forward, for what takes hours.');
    const passes = await settleWhatIsLeft(this.store, this.options, this.work());
    settings.log(`Settled after ${passes} passes; now all is compared.`);

    const heaps = heapsAtStart.map((start, i) => ({ start, end: heapsAtEnd[i] ?? Infinity }));
    const payments = await this.storedPayments(buyers.references);
    const handled = this.handledEvents();
    const { ledger } = simulator;
    const found = [
      ...this.problems,
      ...shops.problems,
      ...buyers.problems,
      ...heaps.flatMap(growthProblem),
      ...(await this.leftInStore()),
      ...differences({ ledger, payments, shown: buyers.shown, repeats: buyers.repeats, handled }),
    ];
    return {
      payments: payments.length,
      states: countBy(payments, ({ record }) => record.state),
      reasons: countBy(payments, ({ record }) => (record.state === 'failed' ? record.reason : null)),
      charges: ledger.charges.length,
      requests: buyers.requests,
      inquiries: ledger.calls('CheckPayment'),
      events: payments.flatMap(owedEvents).length,
      handlerCalls: handled.length,
      gatewayFaults: faults.played,
      storeTroubles: this.troubles,
      kills: shops.kills,
      deploys: shops.deploys,
      longestAnswerMs: Math.round(buyers.longestMs),
      longestEndMs: Math.round(shops.longestEndMs),
      heaps,
      differences: found,
    };
  }

  private get options(): PaymentOptions {
    return {
      baseUrl: this.simulator.url,
      ...this.simulator.credentials,
      dialect: 'morpos',
      publicUrl: 'http://127.0.0.1:1',
      ...RESULT_URLS,
      storeUrl: this.store.url,
      timeoutMs: 2_000,
      connectTimeoutMs: 1_000,
      sessionTtlMs: 45_000,
    };
  }

  private work(): HandlerWork {
    const { journal, isShort } = this;
    return { journal, seed: this.random.seed(), failing: 0.05, hanging: 0.03, hangMs: isShort ? 1_000 : 20_000 };
  }

  private async disturbStore(): Promise<void> {
    const { signal } = this.stopping;
    const random = new SeededRandom(this.random.seed());
    const names = Object.keys(this.store.troubles);
    const [minPauseMs, maxPauseMs, maxTroubleMs] = this.isShort ? [500, 1_500, 1_500] : [3_000, 12_000, 15_000];
    // In turn, so that no kind is left out.
    for (let turn = 0; !signal.aborted; turn += 1) {
      await delay(random.between(minPauseMs, maxPauseMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const name = names[turn % names.length] ?? '';
      this.troubles[name] = (this.troubles[name] ?? 0) + 1;
      await this.store.troubles[name]?.(random.between(500, maxTroubleMs));
    }
  }

  /**
   * Waits until the processes have done what is left by themselves; a short run waits only for what they owe. Payments
   * that a process had leased when it was killed are leased for ten minutes: those are left to the time that is put
   * forward afterwards.
   */
  private async heal(shops: Shops): Promise<void> {
    const until = Date.now() + MAX_HEALING_MS;
    const view = await this.store.connect();
    await view.open();
    try {
      for (;;) {
        const owedWrites = await shops.owedWrites();
        const { states, waitingEvents, openDeliveries } = await view.counts(ACCOUNT);
        const isDelivered = waitingEvents + openDeliveries === 0;
        if (owedWrites === 0 && (this.isShort || (isDelivered && openPayments(states) === 0))) return;
        if (Date.now() > until) {
          const left = JSON.stringify({ owedWrites, waitingEvents, openDeliveries });
          if (owedWrites > 0 || !isDelivered) this.problems.push(`not healed after ${MAX_HEALING_MS} ms: ${left}`);
          this.settings.log(`${openPayments(states)} payments are still leased.`);
          return;
        }
        await delay(1_000);
      }
    } finally {
      await view.close();
    }
  }

  private async storedPayments(references: readonly string[]): Promise<StoredPayment[]> {
    const view = await this.store.connect();
    await view.open();
    const payments: StoredPayment[] = [];
    try {
      for (const reference of references) {
        for (const record of await view.findByReference(ACCOUNT, reference)) {
          payments.push({ record, history: await view.history(ACCOUNT, record.conversationId) });
        }
      }
    } finally {
      await view.close();
    }
    return payments;
  }

  private async leftInStore(): Promise<string[]> {
    const view = await this.store.connect();
    await view.open();
    try {
      const { waitingEvents, openDeliveries, parkedDeliveries } = await view.counts(ACCOUNT);
      const left = { waitingEvents, openDeliveries, parkedDeliveries };
      return Object.entries(left).flatMap(([name, count]) => (count > 0 ? [`${count} ${name} in the end`] : []));
    } finally {
      await view.close();
    }
  }

  private handledEvents(): HandledEvent[] {
    if (!existsSync(this.journal)) return [];
    const lines = readFileSync(this.journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as HandledEvent);
  }
}

/** Payments on their way; one that is not known waits for the gateway to be asked again. */
function openPayments({ charging, initiating, awaiting, authorizing }: StoreCounts['states']): number {
  return charging.count + initiating.count + awaiting.count + authorizing.count;
}

function countBy<Key extends string>(
  payments: readonly StoredPayment[],
  keyOf: (payment: StoredPayment) => Key | null,
): Partial<Record<Key, number>> {
  const counts: Partial<Record<Key, number>> = {};
  for (const payment of payments) {
    const key = keyOf(payment);
    if (key !== null) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

function growthProblem({ start, end }: { start: number; end: number }): string[] {
  const isFlat = end <= start * MAX_GROWTH.factor + MAX_GROWTH.bytes;
  return isFlat ? [] : [`the heap of a process grew from ${start} to ${end} bytes`];
}
