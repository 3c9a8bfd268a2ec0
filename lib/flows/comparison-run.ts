import { setTimeout as sleep } from 'node:timers/promises';
import { refundsAccountOf } from '../payment/account.js';
import type { LedgerState } from '../payment/payment-state.js';
import { isRefund, type PaymentRecord } from '../payment/payment.js';
import type { PaymentStore } from '../store/payment-store.js';
import { type Compared, type Comparison, isAmountHidden, isAskable } from './comparison.js';
import {
  FROM_THE_BEGINNING,
  type Period,
  placesAfter,
  SETTLED_KINDS,
  type SettledKind,
  type SettledPlaces,
  settledRecords,
} from './settled-records.js';

/** A payment or refund that did not agree, which a later run asks about again. */
export interface OpenComparison {
  readonly kind: SettledKind;
  /** Its id at the gateway: a conversationId or a refundId. */
  readonly id: string;
  /** `waiting`: a run was stopped just before it asked. */
  readonly result: 'differing' | 'unclear' | 'unanswered' | 'waiting';
}

/** How far a comparison has come, so that a later run can go on. It holds ids, and nothing else of a payment. */
export interface ComparisonProgress {
  readonly after: SettledPlaces;
  readonly open: readonly OpenComparison[];
  readonly agreed: number;
  /** Of those that agreed, how many whose amount the gateway did not show. */
  readonly amountHidden: number;
  readonly notAsked: number;
  readonly changed: number;
  /** Whether all of the period has been looked at. Those that are open may still be. */
  readonly isThrough: boolean;
}

export const NO_PROGRESS: ComparisonProgress = {
  after: FROM_THE_BEGINNING,
  open: [],
  agreed: 0,
  amountHidden: 0,
  notAsked: 0,
  changed: 0,
  isThrough: false,
};

/** Why a run ended before it was through. */
export type StopReason = 'deadline' | 'signal' | 'gateway';

export interface ComparisonRunOptions {
  readonly account: string;
  readonly period: Period;
  readonly kinds?: readonly SettledKind[];
  /** Only those that are in one of these states; by default all. */
  readonly states?: readonly LedgerState[];
  /** How many inquiries are under way at once. */
  readonly atOnce: number;
  /** How many inquiries begin in a minute at most: the shop that is running shares the limits of the gateway. */
  readonly perMinute: number;
  /** Aborted with a {@link StopReason}: nothing more is asked, and what is under way is left. */
  readonly signal: AbortSignal;
  /** Called with each result as it comes. */
  readonly onCompared: (compared: Compared) => Promise<void>;
  /** Called now and then, and at the end. */
  readonly onProgress: (progress: ComparisonProgress) => Promise<void>;
}

/** A gateway that leaves so many inquiries in succession without an answer is left alone. */
export const MAX_UNANSWERED = 10;
/** After how many records the progress is told. */
const TELL_EVERY = 50;

const ENDED = Symbol('ended');

/** Compares what was settled in a period, a few at a time, beginning where an earlier run stopped. */
export class ComparisonRun {
  private after: SettledPlaces;
  private readonly open: Map<string, OpenComparison>;
  private readonly counts: { agreed: number; amountHidden: number; notAsked: number; changed: number };
  private isThrough: boolean;
  private stopped: StopReason | 'failure' | null = null;
  /** Called when nothing more is to be asked. */
  private readonly waiting = new Set<() => void>();
  /** How many inquiries in succession got no answer. */
  private unanswered = 0;
  private nextTurnAt = 0;
  private looked = 0;

  constructor(
    private readonly store: Pick<PaymentStore, 'listSettled' | 'find'>,
    private readonly comparison: Pick<Comparison, 'compare'>,
    private readonly options: ComparisonRunOptions,
    { after, open, isThrough, ...counts }: ComparisonProgress = NO_PROGRESS,
  ) {
    this.after = after;
    this.open = new Map(open.map((one) => [keyOf(one), one]));
    this.counts = { ...counts };
    this.isThrough = isThrough;
  }

  /**
   * @returns why it stopped before it was through; null if it is
   * @throws what the store throws
   */
  async run(): Promise<StopReason | null> {
    const { signal, onProgress } = this.options;
    const stop = (): void => this.stop(signal.reason as StopReason);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const earlier = [...this.open.values()];
    try {
      await this.compareAll(this.newRecords());
      if (this.stopped === null) this.isThrough = true;
      await this.compareAll(this.earlierRecords(earlier));
      return this.stopped === 'failure' ? null : this.stopped;
    } finally {
      signal.removeEventListener('abort', stop);
      await onProgress(this.progress());
    }
  }

  progress(): ComparisonProgress {
    return { after: this.after, open: [...this.open.values()], ...this.counts, isThrough: this.isThrough };
  }

  private stop(reason: StopReason | 'failure'): void {
    this.stopped ??= reason;
    for (const end of this.waiting) end();
  }

  private async *newRecords(): AsyncGenerator<PaymentRecord> {
    const { account, period, kinds = SETTLED_KINDS, states } = this.options;
    for await (const record of settledRecords(this.store, { account, period, kinds, after: this.after })) {
      this.after = placesAfter(this.after, record);
      if (states?.includes(record.state) === false) continue;
      // Whoever takes it may be stopped before the gateway has answered. A later run then asks about it again.
      const one = openOf(record, 'waiting');
      this.open.set(keyOf(one), one);
      yield record;
    }
  }

  /** What did not agree in an earlier run, as it is now. */
  private async *earlierRecords(earlier: readonly OpenComparison[]): AsyncGenerator<PaymentRecord> {
    const { account } = this.options;
    for (const one of earlier) {
      const record = await this.store.find(one.kind === 'sales' ? account : refundsAccountOf(account), one.id);
      if (record) yield record;
      // One that was purged cannot be asked about, and still did not agree.
      else if (one.result === 'waiting') this.close(one, 'changed');
    }
  }

  private async compareAll(records: AsyncGenerator<PaymentRecord>): Promise<void> {
    const workOn = async (): Promise<void> => {
      while (this.stopped === null) {
        const next = await this.unlessEnded(records.next());
        if (next === ENDED || next.done === true) return;
        if (isAskable(next.value) && !(await this.hasTurn())) return;
        this.noteStart(next.value);
        const compared = await this.unlessEnded(this.comparison.compare(next.value));
        if (compared === ENDED) return;
        await this.note(next.value, compared);
      }
    };
    const work = async (): Promise<void> => {
      try {
        await workOn();
      } catch (error) {
        this.stop('failure');
        throw error;
      }
    };
    await Promise.all(Array.from({ length: this.options.atOnce }, work));
  }

  /** Waits, so that no more inquiries begin than may. @returns false when nothing more is to be asked */
  private async hasTurn(): Promise<boolean> {
    const now = performance.now();
    const at = Math.max(now, this.nextTurnAt);
    this.nextTurnAt = at + 60_000 / this.options.perMinute;
    if (at > now) await this.unlessEnded(sleep(at - now));
    return this.stopped === null;
  }

  private noteStart(record: PaymentRecord): void {
    const one = openOf(record, 'unanswered');
    if (this.open.get(keyOf(one))?.result === 'waiting') this.open.set(keyOf(one), one);
  }

  private async note(record: PaymentRecord, compared: Compared): Promise<void> {
    const { result } = compared;
    if (result === 'differing' || result === 'unclear' || result === 'unanswered') {
      const one = openOf(record, result);
      this.open.set(keyOf(one), one);
    } else {
      this.close(openOf(record, 'unanswered'), result === 'not_asked' ? 'notAsked' : result);
      if (result === 'agreed' && isAmountHidden(compared.word)) this.counts.amountHidden += 1;
    }
    if (result === 'unanswered') this.unanswered += 1;
    else if (result !== 'not_asked') this.unanswered = 0;
    if (this.unanswered >= MAX_UNANSWERED) this.stop('gateway');
    await this.options.onCompared(compared);
    this.looked += 1;
    if (this.looked % TELL_EVERY === 0) await this.options.onProgress(this.progress());
  }

  private close(one: OpenComparison, as: 'agreed' | 'notAsked' | 'changed'): void {
    this.open.delete(keyOf(one));
    this.counts[as] += 1;
  }

  /**
   * Does not wait for work that goes on when nothing more is to be asked: the gateway or the store may hang. (Races
   * with one promise that lasts as long as the run would keep every result until its end.)
   */
  private unlessEnded<T>(work: Promise<T>): Promise<T | typeof ENDED> {
    return new Promise((resolve, reject) => {
      const end = (): void => resolve(ENDED);
      this.waiting.add(end);
      work.then(resolve, reject).finally(() => this.waiting.delete(end));
      if (this.stopped !== null) end();
    });
  }
}

function openOf(record: PaymentRecord, result: OpenComparison['result']): OpenComparison {
  return { kind: isRefund(record) ? 'refunds' : 'sales', id: record.conversationId, result };
}

function keyOf({ kind, id }: OpenComparison): string {
  return `${kind} ${id}`;
}
