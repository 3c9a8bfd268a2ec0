import type { PaymentEvent } from '../payment/payment-event.js';
import type { PaymentState } from '../payment/payment-state.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../payment/payment.js';

/** What no two payments of one account may share (null never collides). */
export type UniqueKey = 'conversationId' | 'idempotencyKey' | 'tokenHash' | 'referenceLock';

/**
 * `stale`: the record has moved on. `locked`: another payment holds the `referenceLock`. In both cases nothing was
 * written.
 */
export type ReplaceOutcome = 'replaced' | 'stale' | 'locked';

/** Which records to lease. */
export interface LeaseRequest {
  readonly account: string;
  /** How long nobody else gets what is leased, from the store's time on, in milliseconds. */
  readonly leaseMs: number;
  readonly limit: number;
}

/**
 * The first part of a store: the payments, each with its history. A new state is written together with its event, which
 * goes to the second part, the outbox, in the same transaction.
 */
export interface PaymentLedger {
  /**
   * Adds a record, with its first history line and, where given, its event (see `replace`). An `idempotencyKey`
   * or a `conversationId` that a purged payment had is taken as long as `purge` remembers it; of conversationIds
   * this has to be checked only where `hostIdNonce` is a text.
   * @returns null when stored; otherwise the key that is taken, and nothing was written.
   */
  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null>;

  /**
   * Replaces the record of that account and conversationId, if its version is still `expectedVersion`. In the same
   * transaction: the history line, and the event, marked as not fanned out yet. It knows nothing of handlers, and waits
   * for nobody but writers of the same record or of the same `referenceLock`.
   *
   * Keys that the record no longer has are free; rejects when another payment has its `idempotencyKey` or `tokenHash`.
   *
   * Where `pinsReference` is true, the lock of its `reference` has no owner from then on, as after a `purge`:
   * whoever held it, nobody releases it any more. It is taken if it was free. This never comes to `locked`.
   */
  replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome>;

  find(account: string, conversationId: string): Promise<PaymentRecord | null>;
  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null>;
  /** @returns `purged` when the payment that had the key is gone, and only its key is still known */
  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null>;
  /** All payments of a reference, oldest first. */
  findByReference(account: string, reference: string): Promise<PaymentRecord[]>;
  /** Payments in one of the states, the longest unchanged first. */
  listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]>;
  /** Every change of a payment, oldest first. */
  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]>;

  /**
   * Takes records whose `dueAt` has come, the longest due first, and moves their `dueAt` ahead by the lease; the
   * version stays.
   */
  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]>;
  /** Gives a leased record back: sets `dueAt`, if its version is still this one. */
  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void>;
}
