// One of the processes that share a merchant's store, with the built package. It does what its parent asks.
import { ConsoleLogger } from '@nestjs/common';
import type { Auth3dDto, DoPaymentDto, PaymentError, PaymentOptions, Refund, RefundDto } from 'nestjs-card-payment';
import { startShop, type Shop } from '../rigs/shop.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { readThenWriteStore } from './read-then-write-store.js';

/** A refund, or a void, which has no amount. */
export type RefundAsk = RefundDto & Pick<Refund, 'kind'>;

/** What a call gave, or the code of the error that it threw, with its reason. */
export type RefundAnswer =
  | { readonly given: Pick<Refund, 'refundId' | 'kind' | 'state' | 'amount'>; readonly error: null }
  | { readonly given: null; readonly error: string };

export type WorkerTasks = typeof tasks;

const account = JSON.parse(process.argv[2]!) as PaymentOptions;

let shop: Shop | undefined;

async function giveBack({ kind, ...input }: RefundAsk): Promise<RefundAnswer> {
  try {
    const { refundId, state, amount } = await shop!.payments[kind](input);
    return { given: { refundId, kind, state, amount }, error: null };
  } catch (error) {
    const { code, reason } = error as Partial<PaymentError> & { readonly reason?: string };
    return { given: null, error: code ? `${code} ${reason ?? ''}`.trim() : String(error) };
  }
}

const tasks = {
  /**
   * Starts the application, in place of the one before.
   *
   * @param isFlawed whether it takes the read-then-write store
   */
  serve: async ({ storeUrl, isFlawed }: { storeUrl: string; isFlawed: boolean }): Promise<null> => {
    await shop?.app.close();
    const store = isFlawed ? { store: await readThenWriteStore(storeUrl) } : { storeUrl };
    const logger = isFlawed ? undefined : new ConsoleLogger({ logLevels: ['error'] });
    // Each process gets more at once than its default limit.
    shop = await startShop({ options: { ...account, ...store, maxInFlight: 0 }, logger });
    return null;
  },
  /** Ends the application, not the process. */
  close: async (): Promise<null> => {
    await shop?.app.close();
    shop = undefined;
    return null;
  },
  /** Starts the 3D payments. */
  start: async (sales: readonly DoPaymentDto[]): Promise<string[]> => {
    const started: string[] = [];
    for (const sale of sales) started.push((await shop!.payments.init3d(sale)).conversationId);
    return started;
  },
  /** Looks at the payments, so that all connections are open. */
  warmUp: (ids: readonly string[]) => Promise.all(ids.map((id) => shop!.payments.find(id))).then(() => null),
  /** Completes each payment with each copy of its callback, all at once. @returns what was thrown */
  race: async ({ callbacks, copies }: { callbacks: readonly Auth3dDto[]; copies: number }): Promise<string[]> => {
    const runs = callbacks.flatMap((callback) => Array.from({ length: copies }, () => shop!.payments.auth3d(callback)));
    const outcomes = await Promise.allSettled(runs);
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
  },
  /** Pays directly. @returns the conversationIds */
  pay: async (sales: readonly DoPaymentDto[]): Promise<string[]> => {
    const paid = await Promise.all(sales.map((sale) => shop!.payments.doPayment(sale)));
    return paid.map(({ conversationId }) => conversationId);
  },
  /** Asks for the refunds, all at once. */
  giveBack: (asks: readonly RefundAsk[]): Promise<RefundAnswer[]> => Promise.all(asks.map(giveBack)),
  end: () => shop?.app.close(),
};

serveTasks(tasks);
