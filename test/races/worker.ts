import type { Auth3dDto, DoPaymentDto, PaymentOptions } from 'nestjs-card-payment';
import { TaskProcess } from '../rigs/task-process.js';

const SCRIPT = new URL('worker-process.ts', import.meta.url);

export interface WorkerStore {
  readonly storeUrl: string;
  /** Takes the read-then-write store. */
  readonly isFlawed: boolean;
}

/** What the bank sends of a payment: each process gets a copy. */
export type CallbackCopy = Auth3dDto;

/** One of a merchant's processes, as the test sees it. */
export class Worker {
  private constructor(private readonly process: TaskProcess) {}

  static async fork(account: PaymentOptions): Promise<Worker> {
    return new Worker(await TaskProcess.fork(SCRIPT, account));
  }

  /** Starts its application, in place of the one before. */
  serve(store: WorkerStore): Promise<null> {
    return this.process.ask('serve', store);
  }

  start(sales: readonly DoPaymentDto[]): Promise<string[]> {
    return this.process.ask('start', sales);
  }

  warmUp(conversationIds: readonly string[]): Promise<null> {
    return this.process.ask('warmUp', conversationIds);
  }

  /** @returns what was thrown */
  race(callbacks: readonly CallbackCopy[], copies: number): Promise<string[]> {
    return this.process.ask('race', { callbacks, copies });
  }

  end(): Promise<void> {
    return this.process.end();
  }
}
