import type { PaymentEvent } from '../payment/payment-event.js';
import type { PaymentState, UnsettledState } from '../payment/payment-state.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../payment/payment.js';
import type { LeaseRequest, PaymentLedger, ReplaceOutcome, UniqueKey } from './payment-ledger.js';
import type {
  Delivery,
  DeliveryLeaseRequest,
  HandlerPair,
  LeasedDelivery,
  PaymentOutbox,
  Postponement,
} from './payment-outbox.js';

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

/**
 * Where payments are stored. It has two parts, {@link PaymentLedger} and {@link PaymentOutbox}, in one object, since one
 * transaction spans both. Small and dumb on purpose: all policy stays outside, so that a merchant can write one. The
 * suite in `nestjs-card-payment/testing` proves a store right.
 *
 * Every write is atomic and durable when its promise resolves. A method rejects only when the store cannot do its work,
 * within seconds even where the database hangs; what it rejects with is never shown to anyone. A write that rejected
 * may have been done all the same, or may still be done later.
 *
 * The time that counts is the store's own ({@link now}), the same for every process that uses it.
 */
export abstract class PaymentStore implements PaymentLedger, PaymentOutbox {
  /**
   * Connects, migrates, checks; once more does no harm. Rejects with what an operator needs to know, without
   * credentials.
   */
  async open(): Promise<void> {}

  /** Lets go of connections that the store itself made. */
  async close(): Promise<void> {}

  /** What time it is: leases, due work and purges are judged by it. */
  abstract now(): Promise<Date>;

  // The ledger.
  abstract insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null>;
  abstract replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome>;
  abstract find(account: string, conversationId: string): Promise<PaymentRecord | null>;
  abstract findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null>;
  abstract findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null>;
  abstract findByReference(account: string, reference: string): Promise<PaymentRecord[]>;
  abstract listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]>;
  abstract history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]>;
  abstract leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]>;
  abstract handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void>;

  // The outbox.
  abstract announce(account: string, pairs: readonly HandlerPair[]): Promise<void>;
  abstract fanOut(account: string, limit: number): Promise<number>;
  abstract leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]>;
  abstract renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean>;
  abstract acknowledge(account: string, handlerId: string, eventId: string): Promise<void>;
  abstract postpone(delivery: LeasedDelivery, to: Postponement): Promise<void>;
  abstract listParked(account: string, limit: number): Promise<Delivery[]>;
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
