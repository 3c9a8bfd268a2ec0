import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { DoPaymentDto, PaymentOptions } from 'nestjs-card-payment';

const SCRIPT = fileURLToPath(new URL('worker-process.mjs', import.meta.url));

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
  private constructor(private readonly child: ChildProcess) {}

  static async fork(gateway: PaymentOptions): Promise<Worker> {
    const worker = new Worker(fork(SCRIPT, [JSON.stringify(gateway)]));
    await worker.answer();
    return worker;
  }

  /** Starts its application, in place of the one before. */
  serve(books: SharedBooks): Promise<null> {
    return this.ask('serve', books);
  }

  start(sales: readonly DoPaymentDto[]): Promise<string[]> {
    return this.ask('start', sales);
  }

  warmUp(conversationIds: readonly string[]): Promise<null> {
    return this.ask('warmUp', conversationIds);
  }

  /** @returns what was thrown */
  race(callbacks: readonly CallbackCopy[], copies: number): Promise<string[]> {
    return this.ask('race', { callbacks, copies });
  }

  async end(): Promise<void> {
    const exit = once(this.child, 'exit');
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.send({ task: 'end' });
    await exit;
  }

  private ask<T>(task: string, input: unknown): Promise<T> {
    this.child.send({ task, input });
    return this.answer<T>();
  }

  private answer<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        this.child.off('message', onMessage).off('exit', onExit);
        settle();
      };
      const onMessage = ({ output, error }: { output: T; error?: string }): void =>
        done(() => (error === undefined ? resolve(output) : reject(new Error(error))));
      const onExit = (code: number | null): void => done(() => reject(new Error(`a worker ended with ${code}`)));
      this.child.on('message', onMessage).on('exit', onExit);
    });
  }
}
