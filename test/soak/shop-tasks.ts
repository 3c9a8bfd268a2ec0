import type { PaymentOptions } from 'nestjs-card-payment';
import type { HandlerWork, ShopVersion } from './order-handlers.js';

/** What a process of the shop is started with. */
export interface ShopSetup {
  readonly adapter: 'express' | 'fastify';
  readonly version: ShopVersion;
  readonly work: HandlerWork;
  readonly options: PaymentOptions;
}

/** What a process can be asked for, and what it answers. */
export interface ShopTasks {
  /** Bytes in use after a garbage collection. */
  readonly heap: number;
  readonly health: { readonly isStoreUp: boolean; readonly owedWrites: number };
  /** What keeps the process alive. */
  readonly resources: readonly string[];
  /** Shuts the application down. */
  readonly end: null;
}
export type ShopTaskName = keyof ShopTasks;

export interface ShopTask {
  readonly number: number;
  readonly task: ShopTaskName;
}

/** The answer to the task of that number; number 0 brings the port, once the application listens. */
export interface ShopAnswer {
  readonly number: number;
  readonly output?: unknown;
  readonly error?: string;
}
