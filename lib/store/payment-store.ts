import type { UnsettledState } from '../payment/payment-state.js';
import type { PaymentRecord } from '../payment/payment.js';
import type { PaymentLedger } from './payment-ledger.js';
import type { PaymentOutbox } from './payment-outbox.js';

/** How long a purge keeps data, in milliseconds before the store's time. */
export interface Retention {
  /**
   * Settled payments, counted from `finalizedAt`; null keeps them for good. Of an account of refunds it says nothing.
   */
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
  /** True when the purge ran out of time and left more for the next one; absent otherwise. */
  readonly hasMore?: boolean;
}

/** After how long a purge stops and leaves the rest for the next one, in milliseconds. */
export const MAX_PURGE_MS = 5_000;

/** How many payments or refunds are in a state now. */
export interface StateCount {
  readonly count: number;
  /** The oldest `updatedAt` of these; null if there are none. */
  readonly oldest: Date | null;
}

/** A place in the order of {@link PaymentStore.listSettled}: that of this record, whether or not it is still there. */
export interface SettledPlace {
  readonly finalizedAt: Date;
  readonly conversationId: string;
}

/** Which settled records to list. */
export interface SettledPage {
  readonly account: string;
  /** The first `finalizedAt` that counts. */
  readonly from: Date;
  /** The first `finalizedAt` that no longer counts. */
  readonly to: Date;
  /** Only what follows this place; null from the beginning. */
  readonly after: SettledPlace | null;
  readonly limit: number;
}

/** The counts of an account, for health checks and statistics. */
export interface StoreCounts {
  readonly states: Readonly<Record<UnsettledState, StateCount>>;
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
 * - **Accounts** share nothing: payments, keys and handlers of another account are never found, taken or changed. The
 *   refunds of an account are records of another one, named by `refundsAccountOf`; only {@link purge} looks at both.
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
   * - settled payments older than `paymentsMs`, with their history and events. A payment stays while it has a `dueAt`, a
   *   delivery, open or parked, or an event that waits to be fanned out to a known pair.
   *
   * Refunds are deleted together with their payment, in one transaction, and in no other way: they are the records of
   * `refundsAccountOf(account)` whose `reference` is the payment's `conversationId`. The payment also stays while one
   * of them is not settled (its `finalizedAt` is null, in whatever state) or has, in the refunds' account, such a
   * delivery or event. A purge of an account of refunds deletes pairs and hashes alone, whatever `paymentsMs` is.
   *
   * A deleted payment leaves behind a hash of its `idempotencyKey`, a hash of its `conversationId` unless its
   * `hostIdNonce` is null, and its `referenceLock`, which stays taken for good and has no owner, even if the
   * `conversationId` is used again. A deleted refund leaves the same, in its own account.
   *
   * A refund that is stored while its payment is being deleted may stay without it. Like any other it can be found,
   * leased and replaced, and nothing is lost.
   *
   * Stops after {@link MAX_PURGE_MS}, because background work and shutdowns wait for it.
   */
  purge(account: string, retention: Retention): Promise<PurgeCounts>;

  counts(account: string): Promise<StoreCounts>;

  /**
   * How many unsettled records name another gateway than these, by that gateway. Those that name none are not counted.
   */
  otherGateways(account: string, own: readonly string[]): Promise<Readonly<Record<string, number>>>;

  /**
   * The records of an account (payments, or refunds) that were settled in a period: `from <= finalizedAt < to`, the
   * oldest `finalizedAt` first, and of those with the same one the lowest `conversationId` first, compared byte by byte
   * in UTF-8. A record that is not settled any more is not listed. What a call costs does not grow with what is stored.
   */
  listSettled(page: SettledPage): Promise<PaymentRecord[]>;
}
