import type { LedgerEvent, LedgerEventType } from '../payment/ledger-event.js';
import type { LeaseRequest } from './payment-ledger.js';

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
   * Creates deliveries for waiting events: one for each pair that is known for the event's type, due at once. It takes
   * the events of at most `limit` payments, and all waiting events of a payment together. Events of types for which no
   * pair is known keep waiting, and do not delay others. Any number of processes may call it at once.
   * @returns how many events were fanned out
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

  /** At most `limit` parked deliveries, the oldest event first. */
  listParked(account: string, limit: number): Promise<Delivery[]>;

  /**
   * Makes a parked delivery due now, with no failed attempts and no error.
   * @returns false when there is no such parked delivery; nothing changed
   */
  replay(account: string, handlerId: string, eventId: string): Promise<boolean>;
}
