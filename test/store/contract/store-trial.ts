import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { types } from 'node:util';
import { type LedgerEvent, ledgerEventOf, type LedgerEventType } from '../../../lib/payment/payment-event.js';
import { EVENT_STATES, type PaymentEventState, REFUND_EVENT_STATES } from '../../../lib/payment/states.js';
import { type PaymentRecord, toPayment } from '../../../lib/payment/payment.js';
import { saleText } from '../../../lib/payment/refund.js';
import { referenceLockIn } from '../../../lib/payment/transitions.js';
import type {
  Delivery,
  LeasedDelivery,
  ListPage,
  PaymentStore,
  Postponement,
  PurgeCounts,
  ReplayOutcome,
  ReplaceOutcome,
  Retention,
  StoreCounts,
} from '../../../lib/store/payment-store.js';
import type { TestClock } from '../../../lib/testing/index.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

/** Throws where a store does not do what it must. */
export type StoreCase = (trial: StoreTrial) => Promise<void>;

/** By what every store must do. */
export type StoreCases = Readonly<Record<string, StoreCase>>;

/** A case for each of these, which none hides by its name. */
export function casesOf<T>(
  each: readonly T[],
  caseOf: (one: T, index: number) => readonly [what: string, run: StoreCase],
): StoreCases {
  const cases = Object.fromEntries(each.map(caseOf));
  if (Object.keys(cases).length < each.length) throw new Error(`Of ${each.length} cases, two have one name.`);
  return cases;
}

const START = Date.parse('2026-03-01T10:00:00.123Z');

const ALL_TYPES: readonly LedgerEventType[] = [
  ...EVENT_STATES.map((state) => `payment.${state}` as const),
  ...REFUND_EVENT_STATES.map((state) => `refund.${state}` as const),
];

/** Long enough that a purge forgets no pair and no key. */
const FOR_YEARS_MS = 10 * 365 * 86_400_000;

/** How many concurrent callers a race has. */
export const RACERS = 16;

interface LeaseOptions {
  readonly types?: readonly LedgerEventType[];
  readonly lease?: string;
  readonly leaseMs?: number;
  readonly limit?: number;
  readonly store?: PaymentStore;
}

/** The store that is tested, in an account that nothing else uses, and the steps that cases have in common. */
export class StoreTrial {
  constructor(
    readonly store: PaymentStore,
    /** A second connection to the same data, or the same store if there is none. */
    readonly second: PaymentStore,
    private readonly clock: TestClock,
    readonly account = unique('account'),
  ) {}

  /** Both connections. */
  get stores(): readonly PaymentStore[] {
    return [this.store, this.second];
  }

  /** The same steps, with the connections the other way round. */
  get swapped(): StoreTrial {
    return new StoreTrial(this.second, this.store, this.clock, this.account);
  }

  /** The same steps in another account. */
  in(account = unique('account')): StoreTrial {
    return new StoreTrial(this.store, this.second, this.clock, account);
  }

  /** Sets the clock of both connections to this many milliseconds after the start. */
  moveTo(ms: number): void {
    this.clock.set(at(ms));
  }

  /** The connection that this caller of a race uses: every second one uses the second. */
  racer(index: number): PaymentStore {
    return this.stores[index % 2]!;
  }

  /** Runs this many callers at once, over both connections. */
  race<T>(run: (store: PaymentStore, index: number) => Promise<T>, racers = RACERS): Promise<T[]> {
    return many(racers, (index) => run(this.racer(index), index));
  }

  // Records.

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
    const { account, conversationId: parentId, reference } = payment;
    return this.record({
      account,
      conversationId: unique('refund'),
      parentId,
      reference,
      kind,
      state,
      referenceLock: referenceLockIn(state, { kind, parentId, reference, allowRepeat: false }),
      sale: saleText(toPayment(payment)),
      ...changes,
    });
  }

  /** The next version of a record. */
  next(record: PaymentRecord, changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return { ...record, ...changes, version: record.version + 1 };
  }

  /** The event of a record in that state. */
  event(record: PaymentRecord, state: PaymentEventState): LedgerEvent {
    return ledgerEventOf({ ...record, state })!;
  }

  // The ledger.

  /** Every replace of the contract, whatever comes of it. */
  tryReplace(
    next: PaymentRecord,
    previous: PaymentRecord,
    event?: LedgerEvent,
    store = this.store,
  ): Promise<ReplaceOutcome> {
    return store.replace(next, previous, event);
  }

  /** Stores this new record. */
  async put(record: PaymentRecord, event?: LedgerEvent, store = this.store): Promise<PaymentRecord> {
    assert.equal(await store.insert(record, event), null, 'the record must be stored');
    return record;
  }

  /** Stores a new payment. */
  insert(changes: Partial<PaymentRecord> = {}, event?: LedgerEvent): Promise<PaymentRecord> {
    return this.put(this.record(changes), event);
  }

  /** Stores this new record with the event of its state. */
  putWithEvent(record: PaymentRecord): Promise<PaymentRecord> {
    return this.put(record, ledgerEventOf(record));
  }

  /** Stores a new refund of this payment. */
  insertRefund(payment: PaymentRecord, changes: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    return this.put(this.refund(payment, changes));
  }

  /** Replaces a stored record by its next version. */
  async replace(
    record: PaymentRecord,
    changes: Partial<PaymentRecord> = {},
    event?: LedgerEvent,
    store = this.store,
  ): Promise<PaymentRecord> {
    const next = this.next(record, changes);
    assert.equal(await this.tryReplace(next, record, event, store), 'replaced', 'the record must be replaced');
    return next;
  }

  /** Replaces a stored record by its next version in a state that has events, with its event. */
  async publish(
    record: PaymentRecord,
    state: PaymentEventState,
    updatedAt: Date,
    store = this.store,
  ): Promise<{ record: PaymentRecord; event: LedgerEvent }> {
    const changes = { state, updatedAt };
    const event = this.event(this.next(record, changes), state);
    return { record: await this.replace(record, changes, event, store), event };
  }

  /** A new payment, published in that state this many milliseconds after the start. @returns the event's id */
  async publishNew(state: PaymentEventState, ms = 1): Promise<string> {
    return (await this.publish(await this.insert(), state, at(ms))).event.eventId;
  }

  findByReference(reference: string): Promise<PaymentRecord[]> {
    return this.store.findByReference(this.account, reference);
  }

  find(record: PaymentRecord): Promise<PaymentRecord | null> {
    return this.store.find(record.account, record.conversationId);
  }

  /** The newest records of the account, payments unless told otherwise. */
  list(page: Partial<ListPage>, store = this.store): Promise<PaymentRecord[]> {
    return store.list({ account: this.account, type: 'payment', after: null, limit: 100, ...page });
  }

  /** That these are stored as they are here. */
  async expectStored(...records: readonly PaymentRecord[]): Promise<void> {
    for (const record of records) same(await this.find(record), record);
  }

  /** That neither these nor their history are there. */
  async expectGone(...records: readonly PaymentRecord[]): Promise<void> {
    for (const record of records) same([await this.find(record), await this.versions(record)], [null, []]);
  }

  /** The versions in the history of a payment. */
  async versions(record: PaymentRecord): Promise<number[]> {
    const history = await this.second.history(record.account, record.conversationId);
    return history.map((entry) => entry.version);
  }

  leaseDue({ leaseMs = 60_000, limit = 100, store = this.store } = {}): Promise<PaymentRecord[]> {
    return store.leaseDue({ account: this.account, leaseMs, limit });
  }

  // The outbox.

  /** Announces a new handler. @returns its id */
  async handler(...types: LedgerEventType[]): Promise<string> {
    const handlerId = unique('Orders.handler');
    await this.announce(handlerId, ...types);
    return handlerId;
  }

  announce(handlerId: string, ...types: LedgerEventType[]): Promise<void> {
    const pairs = types.map((type) => ({ handlerId, type }));
    return this.store.announce(this.account, pairs);
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

  /** Takes and acknowledges until nothing is due. @returns the ids of the events in the order of their delivery */
  async drain(handlerId: string): Promise<string[]> {
    const drained: string[] = [];
    for (;;) {
      const taken = eventIds(await this.take(handlerId));
      if (taken.length === 0) return drained;
      for (const eventId of taken) await this.store.acknowledge(this.account, handlerId, eventId);
      drained.push(...taken);
    }
  }

  listParked(limit = 10, store = this.store): Promise<Delivery[]> {
    return store.listDeliveries({ account: this.account, parked: true, after: null, limit });
  }

  replay(handlerId: string, eventId: string, store = this.store): Promise<ReplayOutcome> {
    return store.replay(this.account, handlerId, eventId);
  }

  // Both.

  /** Purges every settled payment, but no pair and no key, unless told otherwise. */
  purge(retention: Partial<Retention> = {}, store = this.store): Promise<PurgeCounts> {
    return store.purge(this.account, { paymentsMs: 0, pairsMs: FOR_YEARS_MS, keysMs: FOR_YEARS_MS, ...retention });
  }

  counts(store = this.store): Promise<StoreCounts> {
    return store.counts(this.account);
  }
}

/** The time this many milliseconds after the start of a case. */
export function at(ms: number): Date {
  return new Date(START + ms);
}

/** What a file of scripts says. */
export function scriptsText(name: string): string {
  return readFileSync(join(import.meta.dirname, 'scripts', name), 'utf8');
}

export function unique(name: string): string {
  return `${name}-${randomUUID()}`;
}

/** Makes many at once. */
export function many<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

/** A value for each field that a careless store would change. */
export function fullFields(): Partial<PaymentRecord> {
  return {
    reference: unique('sipariş "1" \'2\' \\ ; -- 🧾'),
    reason: 'amount_mismatch',
    amount: '999999999999999.99',
    installmentCount: 12,
    chargedAmount: '0.10',
    code: 'B0000',
    message: `İşlem “onaylandı” 🟢\t\n\\"'{}[]$1 %s \u0000 \u2028 ${'çok uzun '.repeat(20_000)}`,
    orderId: '00012345678901234567890',
    paymentId: '9007199254740993',
    bankUniqueReferenceNumber: '1e400',
    authCode: '007',
    transactionDate: '01.03.2026 13:00:00',
    transactionAt: at(1),
    maskedCardNumber: '450803******4509',
    commissionRate: '1.50',
    commissionAmount: '2.2485',
    createdAt: at(2),
    updatedAt: at(999),
    finalizedAt: at(4),
    version: 7,
    tokenHash: unique('token'),
    idempotencyKey: unique('key'),
    referenceLock: unique('kilit 🔒'),
    allowRepeat: true,
    expiresAt: at(5),
    dueAt: at(6),
    attemptId: unique('deneme №'),
    inquiries: 3,
    notFoundAt: at(7),
    note: "Aradık; banka 'çekildi' dedi.",
    by: 'Ayşe "iade" 🧾',
    gateway: '1f3a5b7c',
    isUnproven: true,
    traceparent: `00-${'a'.repeat(32)}-01`,
    pinsReference: false,
    hostIdNonce: '09382017465f',
  };
}

/** A delivery under this lease. */
export function leased({ account, handlerId, event }: Delivery, lease: string): LeasedDelivery {
  return { account, handlerId, eventId: event.eventId, lease };
}

/** A first failed attempt, after which the delivery is due again in a second. */
export function aPostponement(changes: Partial<Postponement> = {}): Postponement {
  return { attempts: 1, error: 'Error: no', retryInMs: 1_000, parked: false, ...changes };
}

export function ids(records: readonly PaymentRecord[]): string[] {
  return records.map((record) => record.conversationId);
}

export function eventIds(deliveries: readonly Delivery[]): string[] {
  return deliveries.map((delivery) => delivery.event.eventId);
}

/** How often each outcome occurred. */
export function tally(outcomes: readonly (string | null)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[`${outcome}`] = (counts[`${outcome}`] ?? 0) + 1;
  return counts;
}

/** Asserts that two values are deeply equal; a field that is undefined is as good as absent. */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(copyOf(actual), copyOf(expected));
}

/** A deep copy. A test runner may use a realm whose `Array` and `Date` differ from those of the driver's rows. */
export function copyOf<T>(value: T): T;
export function copyOf(value: unknown): unknown {
  if (types.isDate(value)) return new Date(value.getTime());
  if (Array.isArray(value)) return Array.from(value, copyOf<unknown>);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, copyOf<unknown>(field)]));
}
