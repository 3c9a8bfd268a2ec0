import type { TestClock } from 'nestjs-card-payment/testing';
import type { LeasedDelivery, PaymentStore } from '../../lib/store/payment-store.js';
import type { Chance } from '../rigs/chance.js';
import { interceptCalls } from '../rigs/store-calls.js';
import type { Life } from './life.js';
import type { Trace } from './trace.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** What happens to a call. `lost`: done, but the caller gets an error. `late`: rejected, and done some time later. */
type Fate = 'prompt' | 'slow' | 'refused' | 'lost' | 'late';

export type StoreWeather = Readonly<Record<Fate, number>>;

export const FINE_STORE: StoreWeather = { prompt: 1, slow: 0, refused: 0, lost: 0, late: 0 };
const DOWN: StoreWeather = { prompt: 0, slow: 0, refused: 3, lost: 0, late: 1 };

/** Calls that change nothing: for them, lost and late are the same as refused. */
const READS = /^(now|find|list|history|counts)/;
/** Calls of the background work, which the trace shows only when something happens to them. */
const QUIET = /^(now|find|list|history|counts|leaseDue|fanOut|leaseDeliveries|open|close)/;
/** When the store hangs, its client gives up after this time. */
const MAX_CALL_MS = 12_000;
const MAX_LATE_MS = 45_000;

/** The connection of one process to the store: calls are slow, overtake each other, and get lost. */
export class StoreLine {
  weather: StoreWeather;
  /** While the store is down, calls fail, and some are done once it is back. */
  isDown = false;
  /** Events of which a lease could not be renewed. */
  readonly failedRenewals = new Set<string>();
  /** Openings and claims that were not confirmed, by their attempt, with the payment. */
  readonly unconfirmed = new Map<string, string>();

  constructor(
    private readonly name: string,
    weather: StoreWeather,
    private readonly clock: TestClock,
    private readonly life: Life,
    private readonly chance: Chance,
    private readonly trace: Trace,
  ) {
    this.weather = weather;
  }

  /** The store as this process sees it. */
  to(store: PaymentStore): PaymentStore {
    return interceptCalls(store, ({ method, args, proceed }) =>
      this.life.ask(() => this.suffer(this.fateOf(method), method, args, proceed)),
    );
  }

  private fateOf(method: string): Fate {
    const drawn = this.chance.weighted(this.isDown ? DOWN : this.weather);
    return READS.test(method) && (drawn === 'lost' || drawn === 'late') ? 'refused' : drawn;
  }

  private async suffer(
    fate: Fate,
    method: string,
    args: readonly unknown[],
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    if (fate !== 'prompt' || !QUIET.test(method))
      this.trace.add(() => `${this.name} ${method} ${summary(args)} ${fate}`);
    if (fate !== 'prompt' && fate !== 'slow') this.note(method, args[0]);
    switch (fate) {
      case 'prompt':
        return work();
      case 'slow': {
        await this.clock.sleep(this.chance.between(1, this.chance.oneOf([20, 500, 3_000])));
        const result = await work();
        await this.clock.sleep(this.chance.between(1, this.chance.oneOf([20, 500, 3_000])));
        return result;
      }
      case 'refused':
        await this.clock.sleep(this.chance.between(1, 2_000));
        throw new Error('refused');
      case 'lost':
        await this.clock.sleep(this.chance.between(1, 500));
        await work();
        await this.clock.sleep(this.chance.between(1, 5_000));
        throw new Error('lost');
      case 'late':
        void this.clock.sleep(this.chance.between(1, MAX_LATE_MS)).then(() => {
          this.trace.add(() => `${this.name} ${method} ${summary(args)} lands late`);
          return work().catch(() => undefined);
        });
        await this.clock.sleep(this.chance.between(1, MAX_CALL_MS));
        throw new Error('timed out');
    }
  }

  private note(method: string, subject: unknown): void {
    if (method === 'renewLease') this.failedRenewals.add((subject as LeasedDelivery).eventId);
    if (method !== 'insert' && method !== 'replace') return;
    const { attemptId, conversationId, state } = subject as PaymentRecord;
    if (method === 'insert' || state === 'authorizing') this.unconfirmed.set(attemptId, conversationId);
  }
}

/** The arguments of a call that a reader of the trace needs. */
function summary(args: readonly unknown[]): string {
  return args.map((arg) => (typeof arg === 'object' && arg !== null ? summaryOf(arg) : String(arg))).join(' ');
}

function summaryOf(arg: object): string {
  const { conversationId, version, state, handlerId, eventId } = arg as Readonly<Record<string, string | undefined>>;
  if (Array.isArray(arg)) return `[${arg.length}]`;
  if (conversationId !== undefined) return `${conversationId}:${version} ${state}`;
  return [handlerId, eventId].filter((part) => part !== undefined).join(' ');
}
