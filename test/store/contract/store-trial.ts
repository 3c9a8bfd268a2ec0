import assert from 'node:assert/strict';
import { refundsAccountOf } from '../../../lib/payment/account.js';
import type { LedgerEvent, LedgerEventType } from '../../../lib/payment/ledger-event.js';
import { eventIdOf, PaymentEvent } from '../../../lib/payment/payment-event.js';
import {
  EVENT_STATES,
  type LedgerState,
  type PaymentEventState,
  REFUND_EVENT_STATES,
  type RefundEventState,
} from '../../../lib/payment/payment-state.js';
import { isRefund, type PaymentRecord, toPayment } from '../../../lib/payment/payment.js';
import { newRefundEvent } from '../../../lib/payment/refund-event.js';
import { type RefundIn, saleOf, saleText, toRefund } from '../../../lib/payment/refund.js';
import { referenceLockIn } from '../../../lib/payment/transitions.js';
import type {
  Delivery,
  PaymentStore,
  Postponement,
  PurgeCounts,
  Retention,
  StoreCounts,
} from '../../../lib/store/payment-store.js';
import { aPaymentEvent } from '../../../lib/testing/index.js';
import type { TestClock } from '../../../lib/testing/index.js';
import { aPostponement, at, eventIds, fullFields, leased, unique } from './trial-values.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

export * from './trial-values.js';

/** One thing that every store must do. */
export interface PaymentStoreCase {
  readonly name: string;
  readonly run: (trial: StoreTrial) => Promise<void>;
}

const ALL_TYPES: readonly LedgerEventType[] = [
  ...EVENT_STATES.map((state) => `payment.${state}` as const),
  ...REFUND_EVENT_STATES.map((state) => `refund.${state}` as const),
];

/** Long enough that a purge forgets no pair and no key. */
const FOR_YEARS_MS = 10 * 365 * 86_400_000;

/** How many calls run at a time if a case needs many. */
const CHUNK = 50;

/** How many concurrent callers a race has. */
export const RACERS = 16;

/** The store that is tested, in an account that nothing else uses, and the steps that cases have in common. */
export class StoreTrial {
  constructor(
    readonly store: PaymentStore,
    /** A second connection to the same data, or the same store if there is none. */
    readonly second: PaymentStore,
    private readonly clock: TestClock,
    readonly account = unique('account'),
  ) {}

  /** The same steps in the account of this account's refunds. */
  get refunds(): StoreTrial {
    return new StoreTrial(this.store, this.second, this.clock, refundsAccountOf(this.account));
  }

  /** Sets the clock of both connections to this many milliseconds after the start. */
  moveTo(ms: number): void {
    this.clock.set(at(ms));
  }

  /** The connection that this caller of a race uses: every second one uses the second. */
  racer(index: number): PaymentStore {
    return index % 2 === 0 ? this.store : this.second;
  }

  /** Runs this many callers at once, over both connections. */
  race<T>(run: (store: PaymentStore, index: number) => Promise<T>, racers = RACERS): Promise<T[]> {
    return Promise.all(Array.from({ length: racers }, (_, index) => run(this.racer(index), index)));
  }

  /** Runs a call for each of many, a few at a time. */
  async inChunks<T, R>(many: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
    const done: R[] = [];
    for (let start = 0; start < many.length; start += CHUNK) {
      done.push(...(await Promise.all(many.slice(start, start + CHUNK).map(run))));
    }
    return done;
  }

  /** A new record of this account, in which every field that may be null is null. */
  record(changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return aPaymentRecord({
      conversationId: unique('conversation'),
      account: this.account,
      state: 'awaiting',
      reference: null,
      maskedCardNumber: null,
      createdAt: at(0),
      updatedAt: at(0),
      finalizedAt: null,
      version: 1,
      referenceLock: null,
      expiresAt: null,
      dueAt: null,
      ...changes,
    });
  }

  /** A record with a value in each field that a careless store would change. */
  fullRecord(changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return this.record({ ...fullFields(), ...changes });
  }

  /** A new record of a refund of this payment. Unless it is settled, it holds the payment's lock. */
  refund(payment: PaymentRecord, changes: Partial<PaymentRecord> = {}): PaymentRecord {
    const { state = 'refunding', kind = 'refund' } = changes;
    const reference = payment.conversationId;
    return this.record({
      account: refundsAccountOf(payment.account),
      conversationId: unique('refund'),
      reference,
      kind,
      state,
      referenceLock: referenceLockIn(state, { kind, reference, allowRepeat: false }),
      sale: saleText(toPayment(payment)),
      ...changes,
    });
  }

  // The ledger.

  /** Stores this new record. */
  async put(record: PaymentRecord, event?: LedgerEvent): Promise<void> {
    assert.equal(await this.store.insert(record, event), null, `the ${nounOf(record)} must be stored`);
  }

  /** Stores a new payment. */
  async insert(changes: Partial<PaymentRecord> = {}, event?: LedgerEvent): Promise<PaymentRecord> {
    const record = this.record(changes);
    await this.put(record, event);
    return record;
  }

  /** Stores a new payment in a state that has events, with its event. */
  async insertWithEvent(state: PaymentEventState, changes: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    const record = this.record({ state, ...changes });
    await this.put(record, this.event(record, state));
    return record;
  }

  /** Stores a new refund of this payment. */
  async insertRefund(payment: PaymentRecord, changes: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    const refund = this.refund(payment, changes);
    await this.put(refund);
    return refund;
  }

  /** The next version of a record. */
  next(record: PaymentRecord, changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return { ...record, ...changes, version: record.version + 1 };
  }

  /** Replaces a stored record by its next version. */
  async replace(record: PaymentRecord, changes: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    const next = this.next(record, changes);
    assert.equal(await this.store.replace(next, record), 'replaced', `the ${nounOf(record)} must be replaced`);
    return next;
  }

  find(record: PaymentRecord): Promise<PaymentRecord | null> {
    return this.store.find(record.account, record.conversationId);
  }

  findByIdempotencyKey(key: string): Promise<PaymentRecord | 'purged' | null> {
    return this.store.findByIdempotencyKey(this.account, key);
  }

  findByReference(reference: string): Promise<PaymentRecord[]> {
    return this.store.findByReference(this.account, reference);
  }

  listByState(states: readonly LedgerState[], limit = 10): Promise<PaymentRecord[]> {
    return this.store.listByState(this.account, states, limit);
  }

  /** The versions in the history of a payment. */
  async versions(record: PaymentRecord): Promise<number[]> {
    const history = await this.store.history(record.account, record.conversationId);
    return history.map((entry) => entry.version);
  }

  leaseDue({ leaseMs = 60_000, limit = 100, store = this.store } = {}): Promise<PaymentRecord[]> {
    return store.leaseDue({ account: this.account, leaseMs, limit });
  }

  // Events, which a write of the ledger leaves in the outbox.

  /** Replaces a stored record by its next version in a state that has events, with its event. */
  async publish(
    record: PaymentRecord,
    state: PaymentEventState,
    updatedAt: Date,
    store = this.store,
  ): Promise<{ record: PaymentRecord; event: LedgerEvent }> {
    const next = this.next(record, { state, updatedAt });
    const event = this.event(next, state);
    assert.equal(await store.replace(next, record, event), 'replaced', `the ${nounOf(record)} must be replaced`);
    return { record: next, event };
  }

  /**
   * Stores a new payment and publishes it in that state, this many milliseconds after the start. @returns the event's
   * id
   */
  async publishNew(state: PaymentEventState, ms = 1): Promise<string> {
    return (await this.publish(await this.insert(), state, at(ms))).event.eventId;
  }

  /** Stores a new payment that becomes `unknown` and then `succeeded`. @returns the ids of both events */
  async publishTwice(): Promise<[string, string]> {
    const unknown = await this.publish(await this.insert(), 'unknown', at(1));
    const succeeded = await this.publish(unknown.record, 'succeeded', at(2));
    return [unknown.event.eventId, succeeded.event.eventId];
  }

  /** A handler of both types that {@link publishTwice} publishes, and the ids of both events. */
  async twoVersions(): Promise<{ handler: string; first: string; second: string }> {
    const handler = await this.handler('payment.unknown', 'payment.succeeded');
    const [first, second] = await this.publishTwice();
    return { handler, first, second };
  }

  /** A handler of `payment.failed`, and the id of an event that waits for it. */
  async oneEvent(): Promise<{ handler: string; eventId: string }> {
    return { handler: await this.handler('payment.failed'), eventId: await this.publishNew('failed') };
  }

  /** The event of a record in that state. */
  event(record: PaymentRecord, state: PaymentEventState): LedgerEvent {
    if (isRefund(record)) return refundEvent({ ...record, state });
    const event = aPaymentEvent({ ...toPayment(record), state });
    return new PaymentEvent({ ...event, eventId: eventIdOf(record) });
  }

  // The outbox.

  /** Announces a new handler. @returns its id */
  async handler(...types: LedgerEventType[]): Promise<string> {
    const handlerId = unique('Orders.handler');
    await this.announce(handlerId, ...types);
    return handlerId;
  }

  announce(handlerId: string, ...types: LedgerEventType[]): Promise<void> {
    return this.store.announce(
      this.account,
      types.map((type) => ({ handlerId, type })),
    );
  }

  fanOut({ limit = 1_000, store = this.store } = {}): Promise<number> {
    return store.fanOut(this.account, limit);
  }

  /** Leases what is due to the handler, by default of every type and for a minute. */
  lease(handlerId: string, options: LeaseOptions = {}): Promise<Delivery[]> {
    const { types = ALL_TYPES, lease = unique('lease'), leaseMs = 60_000, limit = 100, store = this.store } = options;
    return store.leaseDeliveries({ account: this.account, handlerId, types, lease, leaseMs, limit });
  }

  /** Fans out, then leases. */
  async take(handlerId: string, options: LeaseOptions = {}): Promise<Delivery[]> {
    await this.fanOut();
    return this.lease(handlerId, options);
  }

  /** Takes the next delivery and postpones it. @returns the delivery as it was leased */
  async fail(handlerId: string, to: Partial<Postponement>): Promise<Delivery> {
    const lease = unique('lease');
    const [delivery] = await this.take(handlerId, { lease, limit: 1 });
    assert.ok(delivery, 'there must be a delivery that is due');
    await this.postpone(delivery, lease, to);
    return delivery;
  }

  /** Takes and acknowledges until nothing is due. @returns the ids of the events in the order of their delivery */
  async drain(handlerId: string): Promise<string[]> {
    const drained: string[] = [];
    for (let ids = await this.ofOneTake(handlerId); ids.length > 0; ids = await this.ofOneTake(handlerId)) {
      drained.push(...ids);
    }
    return drained;
  }

  renew(delivery: Delivery, lease: string, leaseMs: number): Promise<boolean> {
    return this.store.renewLease(leased(delivery, lease), leaseMs);
  }

  postpone(delivery: Delivery, lease: string, to: Partial<Postponement>): Promise<void> {
    return this.store.postpone(leased(delivery, lease), aPostponement(to));
  }

  acknowledge(handlerId: string, eventId: string): Promise<void> {
    return this.store.acknowledge(this.account, handlerId, eventId);
  }

  listParked(limit = 10): Promise<Delivery[]> {
    return this.store.listDeliveries({ account: this.account, parked: true, after: null, limit: limit });
  }

  async replay(handlerId: string, eventId: string): Promise<boolean> {
    return (await this.store.replay(this.account, handlerId, eventId)) !== 'absent';
  }

  // Both.

  /** Purges every settled payment, but no pair and no key, unless told otherwise. */
  purge(retention: Partial<Retention> = {}): Promise<PurgeCounts> {
    const { paymentsMs = 0, pairsMs = FOR_YEARS_MS, keysMs = FOR_YEARS_MS } = retention;
    return this.store.purge(this.account, { paymentsMs, pairsMs, keysMs });
  }

  counts(): Promise<StoreCounts> {
    return this.store.counts(this.account);
  }

  private async ofOneTake(handlerId: string): Promise<string[]> {
    const taken = eventIds(await this.take(handlerId));
    for (const eventId of taken) await this.acknowledge(handlerId, eventId);
    return taken;
  }
}

interface LeaseOptions {
  readonly types?: readonly LedgerEventType[];
  readonly lease?: string;
  readonly leaseMs?: number;
  readonly limit?: number;
  readonly store?: PaymentStore;
}

function refundEvent(record: PaymentRecord): LedgerEvent {
  const sale = saleOf(record);
  assert.ok(sale, 'a refund must have its payment');
  return newRefundEvent(toRefund(record) as RefundIn<RefundEventState>, sale, eventIdOf(record));
}

function nounOf(record: PaymentRecord): string {
  return isRefund(record) ? 'refund' : 'payment';
}
