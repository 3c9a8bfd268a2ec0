import type { LedgerEvent } from '../payment/ledger-event.js';
import type { LedgerState } from '../payment/payment-state.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../payment/payment.js';

/** The fields whose values must be unique among the payments of an account. Null may occur any number of times. */
export type UniqueKey = 'conversationId' | 'idempotencyKey' | 'tokenHash' | 'referenceLock';

/**
 * What `replace` did. `stale`: the stored version differs from the expected one. `locked`: another payment holds the
 * `referenceLock`. In both cases nothing was written.
 */
export type ReplaceOutcome = 'replaced' | 'stale' | 'locked';

/** What to lease. */
export interface LeaseRequest {
  readonly account: string;
  /** How long the lease lasts, in milliseconds from the store's time on. Until then no one else can lease the same. */
  readonly leaseMs: number;
  /** How many are leased at most. */
  readonly limit: number;
}

/**
 * The first part of a store: payments, each with its history. A write may bring an event with it, which goes to the
 * second part, the {@link PaymentOutbox}, in the same transaction.
 */
export interface PaymentLedger {
  /**
   * Stores a new record together with its first line of history and, if there is one, its event, which then waits to be
   * fanned out.
   *
   * The `idempotencyKey` of a purged payment is taken for as long as `purge` remembers it. So is its `conversationId`,
   * which has to be checked only where the `hostIdNonce` of the new record is a text.
   * @returns null when the record is stored, otherwise the key that is taken, with nothing written; `conversationId` if
   *   several are
   */
  insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null>;

  /**
   * Replaces the record of the same `account` and `conversationId` if its version is still `expectedVersion`. The same
   * transaction adds the line of history and, if there is one, the event, which then waits to be fanned out. A replace
   * waits only for writes of the same record or of the same `referenceLock`.
   *
   * A key that the record had and no longer has is free afterwards. Where `pinsReference` is true, the lock of the
   * record's `reference` has no owner from then on, whether it was free or held: no payment can release it, and a
   * record that pins its reference is never `locked` by it.
   * @returns `stale` if both answers apply
   * @throws Error when another payment has its `idempotencyKey` or its `tokenHash`; nothing is written
   */
  replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome>;

  find(account: string, conversationId: string): Promise<PaymentRecord | null>;
  /** Finds by the SHA-256 of the callback token, in lowercase hex. */
  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null>;
  /** @returns `purged` when the payment that had the key was purged and the key is still remembered */
  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null>;
  /** All payments of a reference, the oldest `createdAt` first. */
  findByReference(account: string, reference: string): Promise<PaymentRecord[]>;
  /** At most `limit` payments that are in one of these states, the oldest `updatedAt` first. */
  listByState(account: string, states: readonly LedgerState[], limit: number): Promise<PaymentRecord[]>;
  /** The lines of history of a payment, one for each version, the oldest first. */
  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]>;

  /**
   * Takes records whose `dueAt` has come, the oldest first, and moves their `dueAt` to the end of the lease. The
   * version stays the same. Two calls at once never take the same record.
   * @returns the records, with their new `dueAt`
   */
  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]>;
  /** Ends a lease early: sets `dueAt`, if the record still has this version. Otherwise it changes nothing. */
  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void>;
}
