import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { StoreCall } from '../rigs/store-calls.js';

/**
 * What becomes of a call: it `fails`; is `lost`, done but not confirmed; comes `late`, done only when the store `lands`
 * it, after its caller was told that it failed; is `held` until then; finds a key `taken` that no payment has; or finds the order `locked`.
 */
type Fate = 'fails' | 'lost' | 'late' | 'held' | 'taken' | 'locked';

interface Plan {
  readonly method: string;
  /** Of a write: only into this state. */
  readonly state: string | undefined;
  readonly handle: (call: StoreCall) => Promise<unknown>;
  left: number;
}

/** What a script says of the next calls of its store. */
export class StoreFaults {
  /** Calls that have not ended, without those that are held. */
  running = 0;
  private plans: Plan[] = [];
  private readonly held: (() => Promise<unknown>)[] = [];

  /** @param onHeld told when a call is held */
  constructor(private readonly onHeld: () => void) {}

  /** `store replace fails`, `store insert lost times=2 state=charging` */
  plan(method: string, fate: Fate, { times = '1', state }: Readonly<Record<string, string>>): void {
    this.plans.push({ method, state, left: Number(times), handle: (call) => this.fail(fate, call) });
  }

  /** Has something done just before the next call of a method is made, or when it has been made. */
  around(when: 'before' | 'after', method: string, act: () => Promise<unknown>): void {
    const handle = async ({ proceed }: StoreCall): Promise<unknown> => {
      if (when === 'before') await act();
      const result = await this.counted(proceed);
      if (when === 'after') await act();
      return result;
    };
    this.plans.push({ method, state: undefined, left: 1, handle });
  }

  recover(): void {
    this.plans = [];
  }

  async land(): Promise<void> {
    for (const proceed of this.held.splice(0)) await proceed();
  }

  handle(call: StoreCall): Promise<unknown> {
    const plan = this.plans.find(({ method, state, left }) => {
      if (left === 0 || method !== call.method) return false;
      return state === undefined || (call.args[0] as PaymentRecord).state === state;
    });
    if (!plan) return this.counted(call.proceed);
    plan.left -= 1;
    return plan.handle(call);
  }

  private async fail(fate: Fate, { proceed }: StoreCall): Promise<unknown> {
    if (fate === 'taken') return 'idempotencyKey';
    if (fate === 'locked') return 'locked';
    if (fate === 'held') {
      this.onHeld();
      return new Promise((done) => this.held.push(async () => done(await this.counted(proceed))));
    }
    if (fate === 'lost') await this.counted(proceed);
    if (fate === 'late') this.held.push(() => this.counted(proceed));
    throw new Error('password=secret');
  }

  private async counted(proceed: () => Promise<unknown>): Promise<unknown> {
    this.running += 1;
    try {
      return await proceed();
    } finally {
      this.running -= 1;
    }
  }
}
