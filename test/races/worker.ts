import type { DoPaymentDto, PaymentOptions } from 'nestjs-card-payment';
import { TaskProcess } from '../services/task-process.js';

const SCRIPT = new URL('worker-process.mjs', import.meta.url);

export interface SharedBooks {
  readonly storeUrl: string;
  /** Takes the read-then-write store. */
  readonly isFlawed: boolean;
}

export interface CallbackCopy {
  readonly conversationId: string;
  readonly fields: object;
}

/** A process of the merchant's, seen from the test. */
export class Worker {
  private constructor(private readonly process: TaskProcess) {}

  static async fork(gateway: PaymentOptions): Promise<Worker> {
    return new Worker(await TaskProcess.fork(SCRIPT, gateway));
  }

  /** Starts its application, in place of the one before. */
  serve(books: SharedBooks): Promise<null> {
    return this.process.ask('serve', books);
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
