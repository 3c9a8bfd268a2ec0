import { beforeAll, describe } from '@jest/globals';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { inWhole } from '../rigs/extent.js';
import { SHARED_STORES, type SharedStore, type SharedStoreName } from '../rigs/shared-stores.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { type AskedTasks, TaskProcess } from '../rigs/task-process.js';
import type { WorkerTasks } from './worker-process.js';

const SCRIPT = new URL('worker-process.ts', import.meta.url);

export const PROCESSES = inWhole(8, 4);

/** How many callbacks race. */
export const RACES = inWhole(500, 50);

/** One of a merchant's processes. */
export type Worker = AskedTasks<WorkerTasks>;

/**
 * Processes of a shop, which share one store after the other, and the gateway, whose own ledger says what they did.
 */
export class RaceRig {
  simulator!: Simulator;
  workers: readonly Worker[] = [];
  private store!: SharedStore;

  async start(): Promise<void> {
    this.simulator = await startSimulator({ dialect: 'morpos' });
    const forks = Array.from({ length: PROCESSES }, () => TaskProcess.fork(SCRIPT, accountAt(this.simulator)));
    this.workers = (await Promise.all(forks)).map((process) => process.as<WorkerTasks>());
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.end()));
    await this.simulator.close();
  }

  async openStore(name: SharedStoreName): Promise<void> {
    this.store = await SHARED_STORES[name]();
  }

  async closeStore(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
    await this.store.stop();
  }

  /** Starts the shop in each process, on a new store. */
  async serve({ isFlawed }: { isFlawed: boolean }): Promise<void> {
    const { store } = this;
    const url = await store.create();
    await Promise.all(
      this.workers.map((worker, turn) => worker.serve({ storeUrl: store.urlFor?.(url, turn) ?? url, isFlawed })),
    );
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

/** Races on a store as it is. */
export function describeRaces(rig: RaceRig, describeThem: () => void): void {
  describe('with the store as it is', () => {
    beforeAll(() => rig.serve({ isFlawed: false }), 30_000);
    describeThem();
  });
}

/** Negative controls, with a flawed store: were these not caught, what the other tests count would prove nothing. */
export function describeControls(rig: RaceRig, store: SharedStoreName, describeThem: () => void): void {
  // In the short tests on one store: what goes wrong is the flawed store's doing, whatever is below it.
  if (!inWhole(true, store === 'SQLite')) return;
  describe('with a store that reads, then writes, and holds no locks', () => {
    beforeAll(() => rig.serve({ isFlawed: true }), 30_000);
    describeThem();
  });
}
