import type { PaymentHistoryEntry, PaymentRecord } from '../payment/payment.js';
import type { PaymentState, UnsettledState } from '../payment/payment-state.js';
import type { PaymentEvent, PaymentEventType } from '../payment/payment-event.js';

/** What no two payments of one account may share (null never collides). */
export type UniqueKey = 'conversationId' | 'idempotencyKey' | 'tokenHash' | 'referenceLock';

/**
 * `stale`: the record has moved on. `locked`: another payment holds the `referenceLock`. In both cases nothing was
 * written.
 */
export type ReplaceOutcome = 'replaced' | 'stale' | 'locked';

/**
 * What an awaited handler takes: one type of event under one handler id. What is announced, fanned out and leased is
 * this pair.
 */
export interface HandlerPair {
  /** The handler's id, unique within an account; deliveries are acknowledged under it. */
  readonly handlerId: string;
  readonly type: PaymentEventType;
}

/** One event on its way to one handler. */
export interface Delivery {
  readonly account: string;
  readonly handlerId: string;
  readonly event: PaymentEvent;
  /** Tries that failed so far. */
  readonly attempts: number;
  /** A parked delivery is not tried again until it is replayed. */
  readonly parked: boolean;
  /** What the last failed try said; null before the first. */
  readonly error: string | null;
  /** When it is due, by the store's time; a lease moves this ahead. */
  readonly dueAt: Date;
}

/** Which records to lease. */
export interface LeaseRequest {
  readonly account: string;
  /** How long nobody else gets what is leased, from the store's time on, in milliseconds. */
  readonly leaseMs: number;
  readonly limit: number;
}

/** Which deliveries to lease: those of one handler, of the types that it declares here and now. */
export interface DeliveryLeaseRequest extends LeaseRequest {
  readonly handlerId: string;
  readonly types: readonly PaymentEventType[];
  /** A random text, different for each call: who holds the lease. Renewing and postponing need it. */
  readonly lease: string;
}

/** One leased delivery. */
export interface LeasedDelivery {
  readonly account: string;
  readonly handlerId: string;
  readonly eventId: string;
  readonly lease: string;
}

/** What becomes of a delivery whose try failed. */
export interface Postponement {
  readonly attempts: number;
  readonly error: string;
  /** When it is tried again, from the store's time on, in milliseconds. */
  readonly retryInMs: number;
  readonly parked: boolean;
}

/** How long what is settled, announced or spent is remembered, each from the store's time back, in milliseconds. */
export interface Retention {
  /** Settled payments; null keeps them. */
  readonly paymentsMs: number | null;
  /** Pairs that nobody announces any more. */
  readonly pairsMs: number;
  /** Idempotency keys and conversationIds of payments that are gone. */
  readonly keysMs: number;
}

/** What a purge took away. */
export interface PurgeCounts {
  readonly payments: number;
  readonly events: number;
  /** Whether there is more, which was left for the next purge; absent where there is not. */
  readonly hasMore?: boolean;
}

/** How long a purge goes on before it leaves the rest for the next one, in milliseconds. */
export const MAX_PURGE_MS = 5_000;

/** Payments that are in a state now, and since when the one that has been in it the longest. */
export interface StateCount {
  readonly count: number;
  /** Its `updatedAt`; null where there is none. */
  readonly oldest: Date | null;
}

/** What health checks and statistics show of an account. */
export interface StoreCounts {
  readonly states: Readonly<Record<UnsettledState, StateCount>>;
  /** Events that no handler has been announced for, or that are not fanned out yet. */
  readonly waitingEvents: number;
  /** Deliveries that are neither acknowledged nor parked. */
  readonly openDeliveries: number;
  readonly parkedDeliveries: number;
  /** Open deliveries of pairs that nobody has announced for {@link PAIR_ALIVE_MS}. */
  readonly orphanedDeliveries: number;
}

/** A pair that nobody has announced for this long (ten minutes) holds up no other delivery. */
export const PAIR_ALIVE_MS = 600_000;

/**
 * Where payments are stored. Small and dumb on purpose: all policy stays outside, so that a merchant can write one. The
 * suite in `nestjs-card-payment/testing` proves a store right.
 *
 * Every write is atomic and durable when its promise resolves. A method rejects only when the store cannot do its work,
 * within seconds even where the database hangs; what it rejects with is never shown to anyone. A write that rejected
 * may have been done all the same, or may still be done later.
 *
 * The time that counts is the store's own ({@link now}), the same for every process that uses it.
 */
export abstract class PaymentStore {
  /**
   * Connects, migrates, checks; once more does no harm. Rejects with what an operator needs to know, without
   * credentials.
   */
  async open(): Promise<void> {}

  /** Lets go of connections that the store itself made. */
  async close(): Promise<void> {}

  /** What time it is: leases, due work and purges are judged by it. */
  abstract now(): Promise<Date>;

  /**
   * Adds a record, with its first history line and, where given, its event (see {@link replace}). An `idempotencyKey`
   * or a `conversationId` that a purged payment had is taken as long as {@link purge} remembers it; of conversationIds
   * this has to be checked only where `hostIdNonce` is a text.
   * @returns null when stored; otherwise the key that is taken, and nothing was written.
   */
  abstract insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null>;

  /**
   * Replaces the record of that account and conversationId, if its version is still `expectedVersion`. In the same
   * transaction: the history line, and the event, marked as not fanned out yet. It knows nothing of handlers, and waits
   * for nobody but writers of the same record or of the same `referenceLock`.
   *
   * Keys that the record no longer has are free; rejects when another payment has its `idempotencyKey` or `tokenHash`.
   *
   * Where `pinsReference` is true, the lock of its `reference` has no owner from then on, as after a {@link purge}:
   * whoever held it, nobody releases it any more. It is taken if it was free. This never comes to `locked`.
   */
  abstract replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome>;

  abstract find(account: string, conversationId: string): Promise<PaymentRecord | null>;
  abstract findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null>;
  /** @returns `purged` when the payment that had the key is gone, and only its key is still known */
  abstract findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null>;
  /** All payments of a reference, oldest first. */
  abstract findByReference(account: string, reference: string): Promise<PaymentRecord[]>;
  /** Payments in one of the states, the longest unchanged first. */
  abstract listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]>;
  /** Every change of a payment, oldest first. */
  abstract history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]>;

  /**
   * Takes records whose `dueAt` has come, the longest due first, and moves their `dueAt` ahead by the lease; the
   * version stays.
   */
  abstract leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]>;
  /** Gives a leased record back: sets `dueAt`, if its version is still this one. */
  abstract handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void>;

  /** Makes pairs known, or renews those that are known, as of now. Takes none away. */
  abstract announce(account: string, pairs: readonly HandlerPair[]): Promise<void>;
  /**
   * Makes deliveries, due at once, of at most `limit` payments' events that are not fanned out yet: one for each pair
   * that is known for the event's type. All such events of one payment are fanned out together, those of types that no
   * pair is known for stay as they are. Any number of processes may call it at once.
   * @returns how many events were fanned out
   */
  abstract fanOut(account: string, limit: number): Promise<number>;
  /**
   * Takes due deliveries to a handler, of these types alone, the longest due first. For one payment at most one, and
   * none while one of a lower version to this handler is open: unless that one is parked, or its pair was not announced
   * within {@link PAIR_ALIVE_MS} and it is not leased now.
   */
  abstract leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]>;
  /**
   * Moves the end of a lease ahead, to `leaseMs` from now.
   * @returns false when the lease is no longer this one's, or the delivery is gone
   */
  abstract renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean>;
  /** The handler has done its work: the delivery is gone, whoever has leased it meanwhile. */
  abstract acknowledge(account: string, handlerId: string, eventId: string): Promise<void>;
  /** The try failed. Changes nothing when the lease is no longer this one's. */
  abstract postpone(delivery: LeasedDelivery, to: Postponement): Promise<void>;
  /** Deliveries that are parked, oldest event first. */
  abstract listParked(account: string, limit: number): Promise<Delivery[]>;
  /**
   * Makes a parked delivery due now, with its tries forgotten.
   * @returns false when there is no such parked delivery.
   */
  abstract replay(account: string, handlerId: string, eventId: string): Promise<boolean>;

  /**
   * Deletes settled payments that have no delivery open and no event waiting to be fanned out to a known pair, with
   * their history and events; pairs that nobody has announced for long, with their deliveries; keys that have been
   * remembered long enough. A purged payment's idempotencyKey is remembered as a hash, and so is its conversationId
   * unless `hostIdNonce` is null. Its `referenceLock` stays taken for good, with no owner, even if the conversationId is
   * used again. Ends within some seconds ({@link MAX_PURGE_MS}), whatever there is: background work and shutdowns wait
   * for it.
   */
  abstract purge(account: string, retention: Retention): Promise<PurgeCounts>;

  /** Counts for health checks and statistics. */
  abstract counts(account: string): Promise<StoreCounts>;
}
