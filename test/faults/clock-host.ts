import type { DoPaymentDto, HostedPaymentDto, PaymentOptions, PaymentState } from 'nestjs-card-payment';
import { TaskProcess } from '../rigs/task-process.js';

const SCRIPT = new URL('clock-host-process.ts', import.meta.url);
const SHIFTED_DATE = new URL('shifted-date.mjs', import.meta.url);

/** A host whose wall clock is wrong: a process of its own, whose `Date` is set ahead before anything is loaded. */
export class ClockHost {
  private constructor(private readonly process: TaskProcess) {}

  static async fork(account: PaymentOptions, aheadMs: number): Promise<ClockHost> {
    const env = { ...process.env, CLOCK_AHEAD_MS: String(aheadMs) };
    return new ClockHost(await TaskProcess.fork(SCRIPT, account, { env, execArgv: ['--import', SHIFTED_DATE.href] }));
  }

  /** Starts its application, in place of the one before. */
  serve(options: PaymentOptions): Promise<null> {
    return this.process.ask('serve', options);
  }

  /** Its wall clock, by each way to read it. */
  clock(): Promise<number[]> {
    return this.process.ask('clock');
  }

  /** What its application warned of. */
  warnings(): Promise<string[]> {
    return this.process.ask('warnings');
  }

  /** Starts a 3D payment. @returns its conversationId */
  start(sale: DoPaymentDto): Promise<string> {
    return this.process.ask('start', sale);
  }

  /** A direct payment. */
  pay(sale: DoPaymentDto): Promise<PaymentState> {
    return this.process.ask('pay', sale);
  }

  /** Starts a payment at the gateway's own page. @returns its conversationId, or the reason why there is no page */
  open(sale: HostedPaymentDto): Promise<string> {
    return this.process.ask('open', sale);
  }

  /** Asks the gateway about a payment. */
  inquire(conversationId: string): Promise<PaymentState> {
    return this.process.ask('inquire', conversationId);
  }

  complete(conversationId: string, fields: object): Promise<PaymentState> {
    return this.process.ask('complete', { conversationId, fields });
  }

  stateOf(conversationId: string): Promise<PaymentState | null> {
    return this.process.ask('stateOf', conversationId);
  }

  reconcile(): Promise<object> {
    return this.process.ask('reconcile');
  }

  /** Ids of the events that its handler was called with. */
  heard(): Promise<string[]> {
    return this.process.ask('heard');
  }

  end(): Promise<void> {
    return this.process.end();
  }
}
