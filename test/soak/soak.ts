import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentOptions, StoreCounts } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { Chance } from '../rigs/chance.js';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { readJournal } from '../rigs/journal.js';
import { owedEvents, storedLedger } from '../rigs/ledger-comparison.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { reconcileUntilIdle, startShop } from '../rigs/shop.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { Buyers, RESULT_URLS } from './buyers.js';
import { differences } from './differences.js';
import { GatewayFaults } from './gateway-faults.js';
import { type HandledEvent, type HandlerWork, orderHandlers } from './order-handlers.js';
import { DISTURBED_STORES, type DisturbedStore, type StoreName } from './shared-store.js';
import { Shops } from './shops.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export interface SoakSettings {
  readonly minutes: number;
  readonly store: StoreName;
  readonly seed: number;
  /** Called with each line of progress. */
  readonly log: (line: string) => void;
}

export interface SoakReport {
  /** What happened, in lines. */
  readonly summary: readonly string[];
  /** One line for each thing that is not as it must be. */
  readonly differences: readonly string[];
}

const ACCOUNT = 'default';
const BUYERS = 8;
const MINUTE_MS = 60_000;
/** A shorter run is a test of the soak itself, and does not wait for what takes minutes. */
const SHORT_MINUTES = 2;
const MAX_HEALING_MS = 150_000;
/** How often time is set ahead by two hours, at the most. */
const MAX_PASSES = 40;
/** How much the heap may grow. */
const MAX_GROWTH = { factor: 1.5, bytes: 20 * 1_048_576 };

/** Takes payments under faults for a while, lets everything heal, and compares what all sides say. */
export async function runSoak(settings: SoakSettings): Promise<SoakReport> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const store = await DISTURBED_STORES[settings.store]();
    ends.push(() => store.stop());
    const simulator = await startTimelessGateway({ requestLimit: 0, inquiryKnowsRefunds: true });
    ends.push(() => simulator.close());
    return await new Soak(settings, store, simulator, join(makeScratchFolder('soak').path, 'journal'), ends).run();
  } finally {
    for (const end of ends.reverse()) await end().catch((error) => settings.log(`While ending: ${String(error)}`));
  }
}

class Soak {
  private readonly random: Chance;
  private readonly isShort: boolean;
  private readonly problems: string[] = [];
  /** What was done to the store. */
  private readonly troubles: string[] = [];
  private readonly stopping = new AbortController();

  constructor(
    private readonly settings: SoakSettings,
    private readonly store: DisturbedStore,
    private readonly simulator: Simulator,
    private readonly journal: string,
    private readonly ends: (() => Promise<unknown>)[],
  ) {
    this.random = new Chance(settings.seed);
    this.isShort = settings.minutes < SHORT_MINUTES;
  }

  async run(): Promise<SoakReport> {
    const { random, simulator, isShort, settings } = this;
    const shops = new Shops(this.options, () => this.work(), new Chance(random.seed()), isShort);
    this.ends.push(() => shops.killAll());
    await shops.start();
    settings.log(`${shops.count} processes take payments.`);

    const buyers = new Buyers(simulator, new Chance(random.seed()), () => shops.someUrl(), isShort ? 50 : 150);
    const faults = new GatewayFaults(simulator, new Chance(random.seed()), isShort ? 150 : 400);
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
    settings.log('The clock is set ahead, for what takes hours.');
    const passes = await this.settleWhatIsLeft();
    settings.log(`Settled after ${passes} passes; now all is compared.`);

    const heaps = heapsAtStart.map((start, i) => ({ start, end: heapsAtEnd[i] ?? Infinity }));
    const { payments, refunds } = await this.view((store) => storedLedger(store, buyers.references));
    const handled = readJournal<HandledEvent>(this.journal);
    const { ledger } = simulator;
    const found = [
      ...this.problems,
      ...shops.problems,
      ...buyers.problems,
      ...heaps.flatMap(growthProblem),
      ...(await this.view(leftIn)),
      ...differences({ ledger, payments, refunds, shown: buyers.shown, repeats: buyers.repeats, handled }),
    ];
    return {
      summary: [
        `payments   ${payments.length} (${counted(payments.map(({ record }) => record.state))})`,
        `           ${ledger.charges.length} charges, ${ledger.calls('CheckPayment')} inquiries`,
        `failed     ${counted(payments.map(({ record }) => (record.state === 'failed' ? record.reason : null)))}`,
        `refunds    ${counted(refunds.map(({ record }) => record.state))}`,
        `events     ${[...payments, ...refunds].flatMap(owedEvents).length}, ${handled.length} times handled`,
        `faults     gateway ${faults.played}; store: ${counted(this.troubles) || 'none'}`,
        `processes  ${shops.kills} killed, ${shops.deploys} shut down`,
        `requests   ${buyers.requests}, the longest ${buyers.longestMs.toFixed(0)} ms`,
        `shutdown   at most ${shops.longestEndMs.toFixed(0)} ms`,
        `heap       ${heaps.map(({ start, end }) => `${megabytes(start)} → ${megabytes(end)} MB`).join(', ')}`,
      ],
      differences: found,
    };
  }

  private get options(): PaymentOptions {
    return {
      ...accountAt(this.simulator),
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
    const random = new Chance(this.random.seed());
    const names = Object.keys(this.store.troubles);
    const [minPauseMs, maxPauseMs, maxTroubleMs] = this.isShort ? [500, 1_500, 1_500] : [3_000, 12_000, 15_000];
    // In turn, so that each kind occurs.
    for (let turn = 0; !signal.aborted; turn += 1) {
      await delay(random.between(minPauseMs, maxPauseMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const name = names[turn % names.length] ?? '';
      this.troubles.push(name);
      await this.store.troubles[name]?.(random.between(500, maxTroubleMs));
    }
  }

  /**
   * Waits until the processes have finished all work by themselves; a short run waits only for owed writes. Payments that
   * a process had leased when it was killed stay leased for ten minutes: they are settled when the clock is set ahead.
   */
  private heal(shops: Shops): Promise<void> {
    const until = Date.now() + MAX_HEALING_MS;
    return this.view(async (store) => {
      for (;;) {
        const owedWrites = await shops.owedWrites();
        const { waitingEvents, openDeliveries, states, refunds } = await store.counts(ACCOUNT);
        const open = openPayments(states) + refunds.refunding.count;
        const isDelivered = waitingEvents + openDeliveries === 0;
        if (owedWrites === 0 && (this.isShort || (isDelivered && open === 0))) return;
        if (Date.now() > until) {
          const left = JSON.stringify({ owedWrites, waitingEvents, openDeliveries });
          if (owedWrites > 0 || !isDelivered) this.problems.push(`not healed after ${MAX_HEALING_MS} ms: ${left}`);
          this.settings.log(`${open} payments and refunds are still leased.`);
          return;
        }
        await delay(1_000);
      }
    });
  }

  /**
   * Starts an instance after all processes have ended, and settles what only time can settle.
   * @returns how many passes it took
   */
  private async settleWhatIsLeft(): Promise<number> {
    const clock = new ClockSetAhead();
    const store = await this.store.connect(clock);
    const options = { ...this.options, storeUrl: undefined, store, background: false };
    const providers = orderHandlers(2, { ...this.work(), failing: 0, hanging: 0 });
    const { app, payments } = await startShop({ options, providers, clock });
    try {
      return await reconcileUntilIdle(payments, clock, MAX_PASSES);
    } finally {
      await app.close();
    }
  }

  /** Looks into the store. */
  private async view<T>(look: (store: PaymentStore) => Promise<T>): Promise<T> {
    const store = await this.store.connect();
    await store.open();
    try {
      return await look(store);
    } finally {
      await store.close();
    }
  }
}

async function leftIn(store: PaymentStore): Promise<string[]> {
  const { waitingEvents, openDeliveries, parkedDeliveries } = await store.counts(ACCOUNT);
  const left = { waitingEvents, openDeliveries, parkedDeliveries };
  return Object.entries(left).flatMap(([name, count]) => (count > 0 ? [`${count} ${name} in the end`] : []));
}

/** Payments under way. Unknown ones do not count: they wait for the next inquiry. */
function openPayments({ charging, initiating, awaiting, authorizing }: StoreCounts['states']): number {
  return charging.count + initiating.count + awaiting.count + authorizing.count;
}

/** How often each name is there: `succeeded 12, failed 3`. */
function counted(names: readonly (string | null)[]): string {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}

function growthProblem({ start, end }: { start: number; end: number }): string[] {
  const isFlat = end <= start * MAX_GROWTH.factor + MAX_GROWTH.bytes;
  return isFlat ? [] : [`the heap of a process grew from ${start} to ${end} bytes`];
}
