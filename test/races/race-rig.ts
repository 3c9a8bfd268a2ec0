import type { LedgerState } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { inWhole } from '../rigs/extent.js';
import { openedStoreAt, SHARED_STORES, type SharedStore, type SharedStoreName } from '../rigs/shared-stores.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { Worker } from './worker.js';

export const PROCESSES = inWhole(8, 4);

/** How many callbacks race. */
export const RACES = inWhole(500, 50);

/** Eight processes of a shop that share a store, and the gateway, whose own ledger says what they did. */
export class RaceRig {
  simulator!: Simulator;
  workers: readonly Worker[] = [];
  private store!: SharedStore;
  private url = '';

  constructor(private readonly name: SharedStoreName) {}

  async start(): Promise<void> {
    [this.store, this.simulator] = await Promise.all([
      SHARED_STORES[this.name](),
      startSimulator({ dialect: 'morpos' }),
    ]);
    this.workers = await Promise.all(Array.from({ length: PROCESSES }, () => Worker.fork(accountAt(this.simulator))));
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.end()));
    await this.simulator.close();
    await this.store.stop();
  }

  /** Starts the shop in each process, on a new store. */
  async serve({ isFlawed }: { isFlawed: boolean }): Promise<void> {
    const { store } = this;
    const url = await store.create();
    this.url = url;
    await Promise.all(
      this.workers.map((worker, turn) => worker.serve({ storeUrl: store.urlFor?.(url, turn) ?? url, isFlawed })),
    );
  }

  /** The states that each payment was in. */
  async histories(conversationIds: readonly string[]): Promise<LedgerState[][]> {
    const store = await openedStoreAt(this.url);
    try {
      const histories = await Promise.all(conversationIds.map((id) => store.history('default', id)));
      return histories.map((lines) => lines.map(({ state }) => state));
    } finally {
      await store.close();
    }
  }

  /** Shares things out among the processes, and gathers what each makes of its own, in the order of the things. */
  async share<T, Made>(things: readonly T[], work: (worker: Worker, share: T[]) => Promise<Made[]>): Promise<Made[]> {
    const { length } = this.workers;
    const shares = this.workers.map((worker, turn) =>
      work(
        worker,
        things.filter((_thing, i) => i % length === turn),
      ),
    );
    const made = await Promise.all(shares);
    return things.map((_thing, i) => made[i % length]![Math.floor(i / length)]!);
  }
}
