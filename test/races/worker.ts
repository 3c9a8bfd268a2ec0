import type {
  Auth3dDto,
  DoPaymentDto,
  HostedPaymentDto,
  PaymentOptions,
  PaymentState,
  Refund,
  RefundDto,
} from 'nestjs-card-payment';
import { TaskProcess } from '../rigs/task-process.js';

const SCRIPT = new URL('worker-process.ts', import.meta.url);

export interface WorkerStore {
  readonly storeUrl: string;
  /** Takes the read-then-write store. */
  readonly isFlawed: boolean;
}

/** What the bank sends of a payment: each process gets a copy. */
export type CallbackCopy = Auth3dDto;

/** A refund, or a void, which has no amount. */
export type RefundAsk = RefundDto & Pick<Refund, 'kind'>;

/** What became of it: the refund, or the code of the error that was thrown, with its reason. */
export type RefundAnswer =
  | (Pick<Refund, 'refundId' | 'kind' | 'state' | 'amount'> & { readonly error: null })
  | {
      readonly refundId: null;
      readonly kind: Refund['kind'];
      readonly state: null;
      readonly amount: null;
      readonly error: string;
    };

export type PageSale = HostedPaymentDto;

/** The gateway's own page that a process was given, or the code of the error that was thrown, with its reason. */
export type PageAnswer =
  | { readonly conversationId: string; readonly redirectUrl: string | null; readonly error: null }
  | { readonly conversationId: null; readonly redirectUrl: null; readonly error: string };

/** An open page, and the token with which its buyer comes back; null for one who does not. */
export interface PageReturn {
  readonly conversationId: string;
  readonly token: string | null;
}

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

  /** Direct payments of the orders that are free. @returns their conversationIds */
  pay(sales: readonly DoPaymentDto[]): Promise<string[]> {
    return this.process.ask('pay', sales);
  }

  /** Asks for the refunds, all at once. */
  giveBack(asks: readonly RefundAsk[]): Promise<RefundAnswer[]> {
    return this.process.ask('giveBack', asks);
  }

  /** Starts the sales at the gateway's own page, each so many times, all at once. */
  openPages(sales: readonly PageSale[], times: number): Promise<PageAnswer[]> {
    return this.process.ask('openPages', { sales, times });
  }

  /** Brings the buyers back, asks about the pages and gives them up, all at once. @returns what was thrown */
  endPages(pages: readonly PageReturn[]): Promise<string[]> {
    return this.process.ask('endPages', pages);
  }

  /** Asks the gateway about each. @returns their states */
  inquire(conversationIds: readonly string[]): Promise<PaymentState[]> {
    return this.process.ask('inquire', conversationIds);
  }

  end(): Promise<void> {
    return this.process.end();
  }
}
