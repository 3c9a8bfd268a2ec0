import type { PaymentEvent, PaymentEventType } from '../payment/payment-event.js';
import type { PaymentHistoryEntry, PaymentRecord, PaymentState } from '../payment/payment.js';

/** What no two payments of an account may share; null never collides. */
export type UniqueKey = 'conversationId' | 'idempotencyKey' | 'tokenHash' | 'referenceLock';

/**
 * `stale`: the record has moved on. `locked`: another payment holds the `referenceLock`. In both cases nothing was
 * written.
 */
export type ReplaceOutcome = 'replaced' | 'stale' | 'locked';

/** A handler as it announces itself. */
export interface HandlerAnnouncement {
  /** The handler's id, unique within an account; deliveries are acknowledged under it. */
  readonly id: string;
  readonly types: readonly PaymentEventType[];
}

/** One event on its way to one handler. */
export interface Delivery {
  readonly account: string;
  readonly handlerId: string;
  readonly event: PaymentEvent;
  /** How many tries have failed so far. */
  readonly attempts: number;
  /** A parked delivery is not tried again until it is replayed. */
  readonly parked: boolean;
  /** The error of the last failed try; null before the first. */
  readonly error: string | null;
  /** When it is due; a lease moves this ahead. */
  readonly dueAt: Date;
}

/** Which records or deliveries to lease, and until when. */
export interface LeaseRequest {
  readonly account: string;
  readonly now: Date;
  /** The new `dueAt` of what is leased; until then nobody else gets it. */
  readonly until: Date;
  readonly limit: number;
}

/** What a purge deleted. */
export interface PurgeCounts {
  readonly payments: number;
  readonly events: number;
}

/**
 * Where payments are kept. Small and dumb on purpose: all policy stays outside, so that a merchant can write one. The
 * suite in `nestjs-card-payment/testing` tests it.
 *
 * Every write is atomic, and durable when its promise resolves. A method rejects only when the store cannot do its
 * work; what it rejects with is never shown to anyone.
 */
export abstract class PaymentStore {
  /**
   * Connects, migrates, checks; calling it again does no harm. Rejects with what an operator needs to know, without
   * credentials.
   */
  async open(): Promise<void> {}

  /** Closes the connections that the store itself made. */
  async close(): Promise<void> {}

  /**
   * Adds a record, with its first history line and, where given, its event (see {@link replace}).
   * @returns null when stored; otherwise the key that is taken, and nothing was written.
   */
  abstract insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null>;

  /**
   * Replaces the record of that account and conversationId, if its version is still `expectedVersion`. Writes in the
   * same transaction: the history line, and the event with one delivery for each announced handler of its type. An
   * event of a type that nobody has announced waits for the first handler that does. A delivery is due from its event's
   * `occurredAt`.
   *
   * Keys that the record no longer has are free. Rejects when another payment has its `idempotencyKey` or `tokenHash`.
   */
  abstract replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome>;

  abstract find(account: string, conversationId: string): Promise<PaymentRecord | null>;
  abstract findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null>;
  abstract findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | null>;
  /** All payments of a reference, oldest first. */
  abstract findByReference(account: string, reference: string): Promise<PaymentRecord[]>;
  /** Payments in one of the states, the longest unchanged first. */
  abstract listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]>;
  /** Every change of a payment, oldest first. */
  abstract history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]>;

  /**
   * Leases records whose `dueAt` has come, the longest due first: moves their `dueAt` to `until` and leaves the version
   * as it is.
   */
  abstract leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]>;
  /** Hands a leased record back: sets `dueAt`, if its version is still this one. */
  abstract handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void>;

  /**
   * Makes handlers known. An announcement replaces the handler's earlier one and renews `at`. Events that waited for a
   * handler of their type are delivered to it.
   */
  abstract announceHandlers(account: string, handlers: readonly HandlerAnnouncement[], at: Date): Promise<void>;
  /**
   * Leases due deliveries to these handlers, oldest event first: moves their `dueAt` to `until`. Of one payment, a
   * handler gets at most one: the lowest version that is neither acknowledged nor parked, and none while that one is
   * not due.
   */
  abstract leaseDeliveries(lease: LeaseRequest & { readonly handlerIds: readonly string[] }): Promise<Delivery[]>;
  /** The handler has done its work: the delivery is gone. */
  abstract acknowledge(account: string, handlerId: string, eventId: string): Promise<void>;
  /** The try failed, or was never made: writes `attempts`, `error`, `dueAt` and `parked`. */
  abstract postpone(delivery: Delivery): Promise<void>;
  /** Deliveries that are parked, oldest event first. */
  abstract listParked(account: string, limit: number): Promise<Delivery[]>;
  /**
   * Makes a parked delivery due now, with no tries counted.
   * @returns false when there is no such parked delivery.
   */
  abstract replay(account: string, handlerId: string, eventId: string, now: Date): Promise<boolean>;

  /**
   * Deletes settled payments that were finalized before `before` and have no open delivery, with their history and
   * events; and handlers that nobody has announced since `handlersBefore`, with their deliveries. An event that waits
   * for a handler holds no payment back. A `referenceLock` outlives its payment and is nobody's then: not even a
   * payment of the same conversationId has it.
   */
  abstract purge(account: string, before: Date, handlersBefore: Date): Promise<PurgeCounts>;
}
