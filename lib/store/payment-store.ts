import type { LedgerEvent, LedgerEventType } from '../payment/payment-event.js';
import type { LedgerState } from '../payment/states.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../payment/payment.js';

/** What a record is of. They share one namespace of ids, and have keys of their own. */
export type RecordType = 'payment' | 'refund';

/** The fields whose values must be unique in an account. Null may occur any number of times. */
export type UniqueKey = 'conversationId' | 'idempotencyKey' | 'tokenHash' | 'referenceLock';

/** Why a new record is refused: its key is another's, or there is no payment with the `parentId` of a refund. */
export type RefusedKey = UniqueKey | 'parentId';

/**
 * What `replace` did. `stale`: the stored version differs from that of `previous`. `locked`: another payment holds the
 * `referenceLock`. In both cases nothing was written.
 */
export type ReplaceOutcome = 'replaced' | 'stale' | 'locked';

/** A page of a list. A place in its order is that of a record or delivery, whether or not it is still there. */
interface Page<Place> {
  readonly account: string;
  /** Only what follows this place; null from the beginning. */
  readonly after: Place | null;
  readonly limit: number;
}

export type ListPlace = Pick<PaymentRecord, 'createdAt' | 'conversationId'>;

/** Which records to list. */
export interface ListPage extends Page<ListPlace> {
  readonly type: RecordType;
  /** Only those in one of these states. */
  readonly states?: readonly LedgerState[];
  /** Only those with this reference. */
  readonly reference?: string;
}

export interface SettledPlace {
  readonly finalizedAt: Date;
  readonly conversationId: string;
}

/** Which settled records to list: those with `from <= finalizedAt < to`. */
export interface SettledPage extends Page<SettledPlace> {
  readonly from: Date;
  readonly to: Date;
}

export interface DeliveryPlace {
  readonly occurredAt: Date;
  readonly eventId: string;
  readonly handlerId: string;
}

/** Which deliveries to list. */
export interface DeliveryPage extends Page<DeliveryPlace> {
  /** True for the parked ones, false for the open ones. */
  readonly parked: boolean;
  /** Only those about these payments and refunds. */
  readonly ids?: readonly string[];
}

/** What to lease. */
export interface LeaseRequest {
  readonly account: string;
  /** How long the lease lasts, in milliseconds from the store's time on. Until then no one else can lease the same. */
  readonly leaseMs: number;
  /** How many are leased at most. */
  readonly limit: number;
}

/**
 * The first part of a store: payments and refunds, each with its history. A write may bring an event with it, which
 * goes to the second part, the {@link PaymentOutbox}, in the same transaction.
 */
export interface PaymentLedger {
  /**
   * Stores a new record: its first version, which is its first line of history, and, if there is one, its event, which
   * then waits to be fanned out. The event is that of the record (`ledgerEventOf`): it is not stored a second time.
   *
   * The `idempotencyKey` of a purged payment is taken for as long as `purge` remembers it. So is its `conversationId`,
   * which has to be checked only where the `hostIdNonce` of the new record is a text.
   * @returns null when the record is stored, otherwise the key that is taken, with nothing written; `conversationId` if
   *   several are; `parentId` for a refund whose payment is not stored, or is being purged
   */
  insert(record: PaymentRecord, event?: LedgerEvent): Promise<RefusedKey | null>;

  /**
   * Replaces `previous`, the record as it was read, by its next version, if the stored version is still that of
   * `previous`. The same transaction adds the version to the history and, if there is one, the event of `next`, which
   * then waits to be fanned out. A replace waits only for writes of the same record or of the same `referenceLock`.
   *
   * A key that `previous` had and `next` has not is free afterwards: `previous` must have the keys that are stored.
   * Where `pinsReference` of `next` is true, the lock of its `reference` has no owner from then on, whether it was free
   * or held: no payment can release it, and a record that pins its reference is never `locked` by it, nor is one that
   * held the lock before and goes on.
   * @returns `stale` if both answers apply
   * @throws Error when another payment has its `idempotencyKey` or its `tokenHash`; nothing is written
   */
  replace(next: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome>;

  /** Finds a payment, or a refund. */
  find(account: string, conversationId: string): Promise<PaymentRecord | null>;
  /** Finds by the SHA-256 of the callback token, in lowercase hex. */
  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null>;
  /** @returns `purged` when the record that had the key was purged and the key is still remembered */
  findByIdempotencyKey(
    account: string,
    type: RecordType,
    idempotencyKey: string,
  ): Promise<PaymentRecord | 'purged' | null>;
  /** @returns `purged` when the lock has no owner any more: its payment was purged, or another one pinned it */
  findByReferenceLock(account: string, reference: string): Promise<PaymentRecord | 'purged' | null>;
  /**
   * Whether the lock of a reference is taken, with an owner or without, or a payment of it is in another state than
   * these. It reads no record, so that an order of very many payments costs little more.
   */
  isHeld(account: string, reference: string, unless: readonly LedgerState[]): Promise<boolean>;
  /** All payments of a reference, the oldest `createdAt` first. */
  findByReference(account: string, reference: string): Promise<PaymentRecord[]>;
  /** All refunds of a payment, the oldest `createdAt` first. */
  findRefunds(account: string, conversationId: string): Promise<PaymentRecord[]>;
  /**
   * A page of the payments or refunds of an account: the newest `createdAt` first, and of those with the same one the
   * highest `conversationId`, compared byte by byte in UTF-8. What a call costs does not grow with what is stored.
   */
  list(page: ListPage): Promise<PaymentRecord[]>;
  /**
   * The payments and refunds of an account that were settled in a period: `from <= finalizedAt < to`, the
   * oldest `finalizedAt` first, and of those with the same one the lowest `conversationId` first, compared byte by byte
   * in UTF-8. A record that is not settled any more is not listed. What a call costs does not grow with what is stored.
   */
  listSettled(page: SettledPage): Promise<PaymentRecord[]>;

  /** The lines of history of a record, one for each version, the oldest first. */
  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]>;
  /**
   * How many unsettled records name another gateway than these, by that gateway. Those that name none are not counted.
   */
  otherGateways(account: string, own: readonly string[]): Promise<Readonly<Record<string, number>>>;

  /**
   * Takes records whose `dueAt` has come, the oldest first, and moves their `dueAt` to the end of the lease. The
   * version stays the same. Two calls at once never take the same record.
   * @returns the records, with their new `dueAt`
   */
  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]>;
  /** Ends a lease early: sets `dueAt`, if the record still has this version. Otherwise it changes nothing. */
  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void>;
}

/** A handler and one type of event that it takes. Announcements, expiry and deliveries are all by such pairs. */
export interface HandlerPair {
  /** The id of the handler, unique within an account. */
  readonly handlerId: string;
  readonly type: LedgerEventType;
}

/** An event on its way to one handler. It is open until it is acknowledged or parked. */
export interface Delivery {
  readonly account: string;
  readonly handlerId: string;
  readonly event: LedgerEvent;
  /** How many attempts have failed so far. */
  readonly attempts: number;
  /** Whether it was given up: it is not leased again until it is replayed. */
  readonly parked: boolean;
  /** What the last failed attempt said; null before the first. */
  readonly error: string | null;
  /** When it can be leased, by the store's time; during a lease, when that ends. */
  readonly dueAt: Date;
}

/** Which deliveries to lease: those to one handler, of the types that this process takes for it. */
export interface DeliveryLeaseRequest extends LeaseRequest {
  readonly handlerId: string;
  readonly types: readonly LedgerEventType[];
  /**
   * A random text, different for each call. A caller that renews or postpones proves with it that it holds the lease.
   */
  readonly lease: string;
}

/** A delivery under a lease. */
export interface LeasedDelivery {
  readonly account: string;
  readonly handlerId: string;
  readonly eventId: string;
  /** The text that the delivery was leased with. */
  readonly lease: string;
}

/** What to store for a delivery after an attempt has failed. */
export interface Postponement {
  /** How many attempts have failed, including this one. */
  readonly attempts: number;
  readonly error: string;
  /** When it is due again, in milliseconds from the store's time on. */
  readonly retryInMs: number;
  /** Whether to park it instead of trying again. */
  readonly parked: boolean;
}

/**
 * What `replay` did. `absent`: there is no such parked delivery, and nothing changed. `overtaken`: it is due again, and
 * the handler takes a type of which a later event of the same payment is no longer on its way to it. The handler has
 * most likely had that one, and will now learn of the older state.
 */
export type ReplayOutcome = 'replayed' | 'overtaken' | 'absent';

/**
 * How long a pair counts as alive after it was announced: 600,000 ms (10 minutes). After that the pair is orphaned, and
 * its deliveries no longer delay later versions.
 */
export const PAIR_ALIVE_MS = 600_000;

/**
 * The second part of a store: events on their way to handlers. A write of the {@link PaymentLedger} leaves its event
 * here. Fanning out creates a delivery of it for each handler of its type. A handler's deliveries are leased, and then
 * acknowledged or postponed.
 */
export interface PaymentOutbox {
  /** Records that these pairs, known or new, were announced now. Other pairs stay as they are. */
  announce(account: string, pairs: readonly HandlerPair[]): Promise<void>;

  /**
   * Creates deliveries for waiting events, at most `limit` of them: one for each pair that is known for the event's
   * type, due at once. Each type has its turn. Events of types for which no pair is known keep waiting, and do not
   * delay others. Any number of processes may call it at once.
   * @returns how many events were fanned out; fewer than `limit` if none was left, or others fan out some
   */
  fanOut(account: string, limit: number): Promise<number>;

  /**
   * Takes due deliveries to a handler, only of these types, the oldest `dueAt` first, and moves their `dueAt` to the
   * end of the lease. Two calls at once never take the same delivery.
   *
   * The events of a payment reach a handler in the order of their versions. So at most one delivery of a payment is
   * taken, and none while the handler has an open delivery of a lower version, of whatever type. A lower version does
   * not count when its pair was not announced within {@link PAIR_ALIVE_MS} and it is not leased at the moment.
   * @returns the deliveries, with their new `dueAt`
   */
  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]>;

  /**
   * Makes a lease end `leaseMs` from now. A lease that has run out is renewed as well, unless another caller has leased
   * the delivery since.
   * @returns false when another lease has taken its place or the delivery is gone; nothing changed
   */
  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean>;

  /** Deletes a delivery, because its handler has done its work, even when another caller has leased it meanwhile. */
  acknowledge(account: string, handlerId: string, eventId: string): Promise<void>;

  /** Stores a failed attempt and ends the lease. Changes nothing when another lease has taken its place. */
  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void>;

  /**
   * A page of the deliveries that are parked, or of those that are open, the oldest event first; of the same moment by
   * the id of the event and then of the handler, compared byte by byte in UTF-8. What a call costs does not grow with
   * what is stored.
   */
  listDeliveries(page: DeliveryPage): Promise<Delivery[]>;

  /** Makes a parked delivery due now, with no failed attempts and no error. */
  replay(account: string, handlerId: string, eventId: string): Promise<ReplayOutcome>;
}

/** How long a purge keeps data, in milliseconds before the store's time. */
export interface Retention {
  /** Settled payments, counted from the newest `finalizedAt` of them and their refunds; null keeps them for good. */
  readonly paymentsMs: number | null;
  /** Pairs of handler and type, counted from their last announcement. */
  readonly pairsMs: number;
  /** Hashes of the idempotency keys and conversationIds of purged payments, counted from when those were purged. */
  readonly keysMs: number;
}

/** What a purge deleted. */
export interface PurgeCounts {
  /** Without their refunds. */
  readonly payments: number;
  /** Of payments, and of their refunds. */
  readonly events: number;
  /** How many of these events waited for {@link MAX_WAIT_MS} without a handler of their type. */
  readonly unheard: number;
  /** True when the purge ran out of time and left more for the next one; absent otherwise. */
  readonly hasMore?: boolean;
}

/** How long an event of a type that no handler has ever taken keeps its payment from being purged: 30 days. */
export const MAX_WAIT_MS = 30 * 86_400_000;

/** After how long a purge stops and leaves the rest for the next one, in milliseconds. */
export const MAX_PURGE_MS = 5_000;

/** Up to how many records of a settled state are counted. */
export const MAX_SETTLED_COUNT = 10_000;

/** How many payments, or refunds, are in a state now. */
export interface StateCount {
  /** In a settled state, 10,000 where there are as many or more. */
  readonly count: number;
  /** The oldest `updatedAt` of those that were counted, the first created ones; null if there are none. */
  readonly oldest: Date | null;
}

/** The counts of an account, for health checks and statistics. */
export interface StoreCounts {
  /** Of payments. */
  readonly states: Readonly<Record<LedgerState, StateCount>>;
  readonly refunds: Readonly<Record<LedgerState, StateCount>>;
  /** Events that are not fanned out yet, including those of types that no handler takes. */
  readonly waitingEvents: number;
  /** Deliveries that are neither acknowledged nor parked, including the orphaned ones. */
  readonly openDeliveries: number;
  readonly parkedDeliveries: number;
  /** Open deliveries to handlers that no process has announced for ten minutes. */
  readonly orphanedDeliveries: number;
}

/** The token of the store of an account. */
export const PAYMENT_STORE = Symbol('PaymentStore');

/**
 * Marks the stores of this package. It is the same in its ESM and its CommonJS build, which have classes of their own;
 * the types of the two builds would not be, so it is no member of {@link PaymentStore}.
 */
export const STORE_MARK: unique symbol = Symbol.for('nestjs-card-payment.store');

/** Whether this package made the store, in whichever of its builds. */
export function isPaymentStore(value: unknown): value is PaymentStore {
  return typeof value === 'object' && value !== null && STORE_MARK in value;
}

/**
 * Where payments are stored. It has two parts, {@link PaymentLedger} and {@link PaymentOutbox}, which describe their
 * methods. Both are one object, because one transaction writes a payment together with its event. A store makes no
 * decisions about payments: it stores, finds and leases what it is told to.
 *
 * - **Writes** are all or nothing, and durable when their promise resolves. A write whose promise rejects may have been
 *   done all the same, or may still be done later; callers expect that.
 * - **Errors**: a method rejects only when the store cannot do its work, and does so within seconds, even when the
 *   database hangs. Only the error of {@link open} is shown to anyone.
 * - **Time** is the store's own ({@link now}), the same for all processes that use it. Dates are to the millisecond.
 * - **Accounts** share nothing: payments, keys and handlers of another account are never found, taken or changed.
 * - **Values** come back as they were given, with every character of a text, and as copies: changing an object that was
 *   given or returned changes nothing that is stored.
 *
 * `test/store/contract` checks this, except what happens when the database hangs or crashes.
 */
export interface PaymentStore extends PaymentLedger, PaymentOutbox {
  /**
   * Connects, migrates and checks. It may be called again.
   * @throws Error that tells an operator what is wrong, without credentials
   */
  open(): Promise<void>;

  /** Closes the connections that the store itself opened. */
  close(): Promise<void>;

  /** The store's time, by which it judges what is due, leased and old. */
  now(): Promise<Date>;

  /**
   * Deletes of this account, in this order:
   *
   * - pairs that were not announced within `pairsMs`, with their deliveries, open or parked;
   * - hashes of keys that have been remembered for `keysMs`;
   * - settled payments older than `paymentsMs`, with their refunds, their history and events, in one transaction. A
   *   payment stays while it or a refund of it
   *   - was settled within `paymentsMs`, or is not settled (its `finalizedAt` is null, in whatever state);
   *   - has a delivery, open or parked, or an event that waits to be fanned out: to a known pair, or since less than
   *     {@link MAX_WAIT_MS}.
   *
   *   It also stays while it has a `dueAt`. Refunds are deleted in no other way, and none is stored meanwhile: its
   *   insert waits, and then finds no payment.
   *
   * A deleted record leaves behind a hash of its `idempotencyKey`, and of its `conversationId` unless its `hostIdNonce`
   * is null. A payment's `referenceLock` stays taken for good and has no owner, even if the `conversationId` is used
   * again.
   *
   * Stops after {@link MAX_PURGE_MS}, because background work and shutdowns wait for it.
   */
  purge(account: string, retention: Retention): Promise<PurgeCounts>;

  counts(account: string): Promise<StoreCounts>;
}
