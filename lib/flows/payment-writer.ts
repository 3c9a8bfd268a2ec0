import { Inject, Injectable, Logger } from '@nestjs/common';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { isEventState, type PaymentEvent } from '../payment/payment-event.js';
import { PaymentDuplicateError } from '../errors/payment-duplicate.error.js';
import { PaymentStoreError } from '../errors/payment-store.error.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentStore, type ReplaceOutcome, type UniqueKey } from '../store/payment-store.js';
import { PaymentClock } from '../payment/clock.js';
import { type Payment, type PaymentRecord, type PaymentState, toPayment } from '../payment/payment.js';
import { advance, type PaymentChange } from '../payment/states.js';

/** What a known outcome makes of the record as it stands now; null when it changes nothing. */
export type Settlement = (record: PaymentRecord, now: Date) => PaymentRecord | null;

/** An outcome that the store could not take yet. */
interface OwedOutcome {
  readonly record: PaymentRecord;
  readonly settle: Settlement;
}

/** How long a caller waits for the store after the outcome is known; writing goes on behind its back. */
const MAX_WRITE_WAIT_MS = 5_000;
/** Longer than it takes to work through one batch. */
const WORK_LEASE_MS = 600_000;

/**
 * The account's payments: every change goes through here, by compare-and-set, with its event in the same write. Before sending,
 * a failing store is an error; after sending, the outcome is told all the same and owed to the store.
 */
@Injectable()
export class PaymentWriter {
  private readonly logger = new Logger('PaymentModule');
  private readonly owed = new Set<OwedOutcome>();

  constructor(
    private readonly store: PaymentStore,
    @Inject(EventDispatcher) private readonly events: Pick<EventDispatcher, 'raised'>,
    private readonly clock: PaymentClock,
    @Inject(PaymentSettings) private readonly settings: Pick<PaymentSettings, 'account'>,
  ) {}

  find(conversationId: string): Promise<PaymentRecord | null> {
    return this.reading(() => this.store.find(this.settings.account, conversationId));
  }

  findByTokenHash(tokenHash: string): Promise<PaymentRecord | null> {
    return this.reading(() => this.store.findByTokenHash(this.settings.account, tokenHash));
  }

  findByReference(reference: string): Promise<PaymentRecord[]> {
    return this.reading(() => this.store.findByReference(this.settings.account, reference));
  }

  /**
   * The payment that has this record's conversationId or idempotencyKey already.
   * @throws PaymentDuplicateError when that is one of another kind, reference, amount, currency or instalment count
   */
  async findTwin(record: PaymentRecord): Promise<PaymentRecord | null> {
    const { account, conversationId, idempotencyKey } = record;
    const byId = await this.find(conversationId);
    const byKey =
      idempotencyKey === null
        ? null
        : await this.reading(() => this.store.findByIdempotencyKey(account, idempotencyKey));
    const twin = byKey ?? byId;
    const isOther =
      twin && (!isSameSale(twin, record) || (byId && byKey && byId.conversationId !== byKey.conversationId));
    if (isOther) throw new PaymentDuplicateError(toPayment(twin), byKey ? 'idempotencyKey' : 'conversationId');
    return twin;
  }

  /** Opens a payment. @returns the key that is taken, or null when it is written */
  async open(record: PaymentRecord): Promise<UniqueKey | null> {
    const event = this.eventOf(record);
    const taken = await this.writing('opening the payment', () => this.store.insert(record, event));
    if (taken === null && event) await this.events.raised(event);
    return taken;
  }

  /**
   * Moves a payment on before anything is sent, or where nothing was.
   * @returns what the store said, and the record as it now stands when it was replaced
   */
  async move(
    record: PaymentRecord,
    state: PaymentState,
    change: PaymentChange = {},
  ): Promise<{ outcome: ReplaceOutcome; record: PaymentRecord }> {
    const next = advance(record, state, change, this.clock.now());
    const event = next.state === record.state ? undefined : this.eventOf(next);
    const outcome = await this.writing('moving the payment on', () => this.store.replace(next, record.version, event));
    if (outcome !== 'replaced') return { outcome, record };
    this.log(next);
    if (event) await this.events.raised(event);
    return { outcome, record: next };
  }

  /**
   * Writes what a person decided, however the record moves on meanwhile.
   * @returns null when the settlement changes nothing of the record as it now stands
   */
  async decide(record: PaymentRecord, settle: Settlement): Promise<Payment | null> {
    const { payment, event } = await this.writing('writing the decision', () => this.write({ record, settle }));
    if (!event) return null;
    await this.events.raised(event);
    return payment;
  }

  /**
   * Writes an outcome that is known, whatever became of the record meanwhile. Never throws: what the store cannot take now is owed to it, and
   * `stored` is false until it is written.
   */
  async settle(record: PaymentRecord, settle: Settlement): Promise<Payment> {
    const outcome = { record, settle };
    const writing = this.write(outcome).catch(() => null);
    const patience = new AbortController();
    const written = await Promise.race([
      writing,
      this.clock.sleep(MAX_WRITE_WAIT_MS, patience.signal).then(() => null),
    ]);
    patience.abort();
    if (written) {
      if (written.event) await this.events.raised(written.event);
      return written.payment;
    }
    // A write that was only slow still tells its event.
    void writing.then((late) => late?.event && this.events.raised(late.event));
    this.owed.add(outcome);
    const payment = toPayment(settle(record, this.clock.now()) ?? record, false);
    // Should the process end before the store is back, this line is all that knows.
    this.logger.error(`${lineOf(payment)}: the store did not take this; the module keeps trying.`);
    return payment;
  }

  /** Tries again to write what the store could not take. @returns how many were written */
  async writeOwed(): Promise<number> {
    let written = 0;
    for (const owed of [...this.owed]) {
      const outcome = await this.write(owed).catch(() => null);
      if (!outcome || !this.owed.delete(owed)) continue;
      written += 1;
      if (outcome.event) await this.events.raised(outcome.event);
    }
    return written;
  }

  /** Takes records that the background work is to look at; nobody else gets them for ten minutes. */
  leaseDue(limit: number): Promise<PaymentRecord[]> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + WORK_LEASE_MS);
    return this.reading(() => this.store.leaseDue({ account: this.settings.account, now, until, limit }));
  }

  /** Deletes old settled payments and forgets old handlers. @returns how many payments */
  purge(before: Date, handlersBefore: Date): Promise<number> {
    return this.writing('deleting old payments', async () => {
      const { payments } = await this.store.purge(this.settings.account, before, handlersBefore);
      return payments;
    });
  }

  /** Gives a leased record back, to be due then. */
  handBack(record: PaymentRecord, dueAt: Date): Promise<void> {
    return this.writing('handing work back', () =>
      this.store.handBack(record.account, record.conversationId, record.version, dueAt),
    );
  }

  private async write({ record, settle }: OwedOutcome): Promise<{ payment: Payment; event?: PaymentEvent }> {
    let current = record;
    for (;;) {
      const next = settle(current, this.clock.now());
      if (!next) return { payment: toPayment(current) };
      const event = next.state === current.state ? undefined : this.eventOf(next);
      let outcome = await this.store.replace(next, current.version, event);
      // Money that moved is told even when another payment holds the reference.
      if (outcome === 'locked') {
        outcome = await this.store.replace({ ...next, referenceLock: null }, current.version, event);
      }
      if (outcome === 'replaced') {
        this.log(next);
        return { payment: toPayment(next), event };
      }
      current = (await this.store.find(record.account, record.conversationId)) ?? raiseGone();
    }
  }

  private log(record: PaymentRecord): void {
    const { state } = record;
    if (state === 'unknown' || state === 'review') this.logger.warn(lineOf(record));
    else this.logger.log(lineOf(record));
  }

  private eventOf(record: PaymentRecord): PaymentEvent | undefined {
    if (!isEventState(record.state)) return undefined;
    return {
      eventId: `${record.conversationId}:${record.version}`,
      type: `payment.${record.state}`,
      payment: toPayment(record),
      occurredAt: record.updatedAt,
    };
  }

  private async reading<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch {
      throw new PaymentStoreError('reading');
    }
  }

  private async writing<T>(doing: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch {
      throw new PaymentStoreError(doing);
    }
  }
}

function isSameSale(one: PaymentRecord, other: PaymentRecord): boolean {
  return (
    one.kind === other.kind &&
    one.reference === other.reference &&
    one.amount === other.amount &&
    one.currencyCode === other.currencyCode &&
    one.installmentCount === other.installmentCount
  );
}

function lineOf({
  conversationId,
  state,
  reason,
  code,
}: Pick<Payment, 'conversationId' | 'state' | 'reason' | 'code'>): string {
  const detail = [reason, code].filter(Boolean).join(', ');
  return `Payment ${conversationId}: ${state}${detail ? ` (${detail})` : ''}`;
}

function raiseGone(): never {
  throw new Error('The payment is no longer in the store.');
}
