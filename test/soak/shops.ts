import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentOptions } from 'nestjs-card-payment';
import type { Chance } from '../rigs/chance.js';
import { TaskProcess } from '../rigs/task-process.js';
import type { HandlerWork, ShopVersion } from './order-handlers.js';
import type { ShopSetup } from './shop-process.js';

/** The first two run from beginning to end, one of each version; the others are killed and deployed anew. */
const VERSIONS: readonly ShopVersion[] = [2, 1, 2, 1];
const STEADY = 2;
const MAX_STARTS = 60;
const MAX_TASK_MS = 60_000;
const SCRIPT = new URL('shop-process.ts', import.meta.url);

/** A process of the shop. */
interface Shop {
  readonly process: TaskProcess;
  readonly url: string;
}

/** The processes that share a store. */
export class Shops {
  readonly problems: string[] = [];
  kills = 0;
  deploys = 0;
  longestEndMs = 0;
  private readonly shops: (Shop | null)[] = VERSIONS.map(() => null);
  private isOver = false;

  constructor(
    private readonly options: PaymentOptions,
    private readonly newWork: () => HandlerWork,
    private readonly random: Chance,
    private readonly isShort: boolean,
  ) {}

  get count(): number {
    return this.running.length;
  }

  async start(): Promise<void> {
    await Promise.all(VERSIONS.map((version, slot) => this.startIn(slot, version)));
  }

  /** The address of a process that runs, or ran a moment ago. */
  someUrl(): string {
    return this.random.oneOf(this.running).url;
  }

  /** Kills and deploys processes until the signal comes; then all slots are taken again. */
  async disturb(signal: AbortSignal): Promise<void> {
    const [minPauseMs, maxPauseMs] = this.isShort ? [1_000, 2_000] : [3_000, 10_000];
    while (!signal.aborted) {
      await delay(this.random.between(minPauseMs, maxPauseMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const slot = this.random.between(STEADY, VERSIONS.length - 1);
      const shop = this.shops[slot];
      this.shops[slot] = null;
      if (shop) await (this.random.happens(0.7) ? this.kill(shop) : this.shutDown(shop));
      // The old version may come again after the new one.
      await this.startIn(slot, this.random.oneOf<ShopVersion>([1, 2]));
    }
  }

  /** The heaps of the processes that run from beginning to end. */
  heaps(): Promise<number[]> {
    return Promise.all(
      this.running.slice(0, STEADY).map(({ process }) => process.ask<number>('heap', null, MAX_TASK_MS)),
    );
  }

  async owedWrites(): Promise<number> {
    const owed = await Promise.all(
      this.running.map(({ process }) => process.ask<number>('owedWrites', null, MAX_TASK_MS)),
    );
    return owed.reduce((sum, count) => sum + count, 0);
  }

  async endAll(): Promise<void> {
    this.isOver = true;
    await Promise.all(
      this.shops.map(async (shop, slot) => {
        this.shops[slot] = null;
        if (shop) await this.shutDown(shop);
      }),
    );
  }

  async killAll(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running.map(({ process }) => process.kill()));
  }

  private get running(): Shop[] {
    return this.shops.filter((shop) => shop !== null);
  }

  private async kill(shop: Shop): Promise<void> {
    this.kills += 1;
    await this.noteOwnEnd(shop);
    await shop.process.kill();
  }

  private async shutDown(shop: Shop): Promise<void> {
    this.deploys += 1;
    await this.noteOwnEnd(shop);
    const began = performance.now();
    await shop.process
      .end()
      .catch((error: unknown) => this.problems.push(`A process was not shut down: ${String(error)}`));
    this.longestEndMs = Math.max(this.longestEndMs, performance.now() - began);
  }

  private async noteOwnEnd({ process }: Shop): Promise<void> {
    if (process.isRunning) return;
    const [code, signal] = await process.exit;
    this.problems.push(`A process ended by itself: ${code ?? signal}: ${process.errors}`);
  }

  /** While the store is down an application does not start: it is started again, as a supervisor does. */
  private async startIn(slot: number, version: ShopVersion): Promise<void> {
    const adapter = slot % 2 === 0 ? 'express' : 'fastify';
    for (let starts = 1; !this.isOver; starts += 1) {
      try {
        this.shops[slot] = await startShop({ adapter, version, work: this.newWork(), options: this.options });
        return;
      } catch (error) {
        if (starts === MAX_STARTS) throw error;
        await delay(500);
      }
    }
  }
}

/** Resolves when it takes payments. Rejects when it ends before that, as it does while the store is away. */
async function startShop(setup: ShopSetup): Promise<Shop> {
  const process = await TaskProcess.fork(SCRIPT, setup, { execArgv: ['--expose-gc'] });
  try {
    return { process, url: await process.ask('url', null, MAX_TASK_MS) };
  } catch (error) {
    await process.kill();
    throw error;
  }
}
