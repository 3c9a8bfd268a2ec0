import type { PaymentOptions } from 'nestjs-card-payment';
import { TaskProcess } from '../rigs/task-process.js';
import type { HandlerWork, ShopVersion } from './order-handlers.js';

const SCRIPT = new URL('shop-process.ts', import.meta.url);
const MAX_TASK_MS = 60_000;

/** What a process of the shop is started with. */
export interface ShopSetup {
  readonly adapter: 'express' | 'fastify';
  readonly version: ShopVersion;
  readonly work: HandlerWork;
  readonly options: PaymentOptions;
}

/** A process of the shop, as the soak sees it. */
export class Shop {
  private isWanted = true;

  private constructor(
    private readonly process: TaskProcess,
    readonly url: string,
  ) {}

  /** Resolves when it takes payments. Rejects when it ends before that, as it does while the store is away. */
  static async start(setup: ShopSetup): Promise<Shop> {
    const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
    const process = await TaskProcess.fork(SCRIPT, setup, { execArgv: ['--expose-gc'], stdio: [...stdio] });
    try {
      return new Shop(process, await process.ask('url', null, MAX_TASK_MS));
    } catch (error) {
      await process.kill();
      throw error;
    }
  }

  /** What it said last if it ended though nobody had ended it; null otherwise. */
  async ownEnd(): Promise<string | null> {
    if (this.process.isRunning || !this.isWanted) return null;
    const [code, signal] = await this.process.exit;
    return `${code ?? signal}: ${this.process.errors}`;
  }

  /** Bytes in use after a garbage collection. */
  heap(): Promise<number> {
    return this.process.ask('heap', null, MAX_TASK_MS);
  }

  owedWrites(): Promise<number> {
    return this.process.ask('owedWrites', null, MAX_TASK_MS);
  }

  /** Shuts it down as a deploy does. When it does not end in time, it is killed, and this rejects with what it held. */
  async end(): Promise<void> {
    this.isWanted = false;
    await this.process.end();
  }

  async kill(): Promise<void> {
    this.isWanted = false;
    await this.process.kill();
  }
}
