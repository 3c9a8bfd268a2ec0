import type { Auth3dDto, DoPaymentDto, HostedPaymentDto, PaymentOptions, PaymentState } from 'nestjs-card-payment';
import { TaskProcess } from '../rigs/task-process.js';

const SCRIPT = new URL('clock-host-process.ts', import.meta.url);
const SHIFTED_DATE = new URL('shifted-date.mjs', import.meta.url);

/** What a host does when it is asked: the tasks of clock-host-process.ts. */
export interface ClockHost {
  /** Starts its application, in place of the one before. */
  serve(options: PaymentOptions): Promise<null>;
  /** Its wall clock, by each way to read it. */
  clock(): Promise<number[]>;
  /** What its application warned of. */
  warnings(): Promise<string[]>;
  /** Starts a 3D payment. @returns its conversationId */
  start(sale: DoPaymentDto): Promise<string>;
  /** A direct payment. */
  pay(sale: DoPaymentDto): Promise<PaymentState>;
  /** Starts a payment at the gateway's own page. @returns its conversationId, or the reason why there is no page */
  open(sale: HostedPaymentDto): Promise<string>;
  /** Asks the gateway about a payment. */
  inquire(conversationId: string): Promise<PaymentState>;
  complete(callback: Auth3dDto): Promise<PaymentState>;
  stateOf(conversationId: string): Promise<PaymentState | null>;
  reconcile(): Promise<object>;
  /** Ids of the events that its handler was called with. */
  heard(): Promise<string[]>;
  end(): Promise<void>;
}

/** A host whose wall clock is wrong: a process of its own, whose `Date` is set ahead before anything is loaded. */
export async function forkClockHost(account: PaymentOptions, aheadMs: number): Promise<ClockHost> {
  const env = { ...process.env, CLOCK_AHEAD_MS: String(aheadMs) };
  const forked = await TaskProcess.fork(SCRIPT, account, { env, execArgv: ['--import', SHIFTED_DATE.href] });
  return forked.as<ClockHost>();
}
