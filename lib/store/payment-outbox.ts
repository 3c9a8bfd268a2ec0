import type { PaymentEvent, PaymentEventType } from '../payment/payment-event.js';
import type { LeaseRequest } from './payment-ledger.js';

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

/** A pair that nobody has announced for this long (ten minutes) holds up no other delivery. */
export const PAIR_ALIVE_MS = 600_000;

/**
 * The second part of a store: the events that the ledger's writes left here, on their way to handlers. An event becomes
 * a delivery for each handler that takes its type, and a delivery stays until its handler has done its work.
 */
export interface PaymentOutbox {
  /** Makes pairs known, or renews those that are known, as of now. Takes none away. */
  announce(account: string, pairs: readonly HandlerPair[]): Promise<void>;
  /**
   * Makes deliveries, due at once, of at most `limit` payments' events that are not fanned out yet: one for each pair
   * that is known for the event's type. All such events of one payment are fanned out together, those of types that no
   * pair is known for stay as they are. Any number of processes may call it at once.
   * @returns how many events were fanned out
   */
  fanOut(account: string, limit: number): Promise<number>;
  /**
   * Takes due deliveries to a handler, of these types alone, the longest due first. For one payment at most one, and
   * none while one of a lower version to this handler is open: unless that one is parked, or its pair was not announced
   * within {@link PAIR_ALIVE_MS} and it is not leased now.
   */
  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]>;
  /**
   * Moves the end of a lease ahead, to `leaseMs` from now.
   * @returns false when the lease is no longer this one's, or the delivery is gone
   */
  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean>;
  /** The handler has done its work: the delivery is gone, whoever has leased it meanwhile. */
  acknowledge(account: string, handlerId: string, eventId: string): Promise<void>;
  /** The try failed. Changes nothing when the lease is no longer this one's. */
  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void>;
  /** Deliveries that are parked, oldest event first. */
  listParked(account: string, limit: number): Promise<Delivery[]>;
  /**
   * Makes a parked delivery due now, with its tries forgotten.
   * @returns false when there is no such parked delivery.
   */
  replay(account: string, handlerId: string, eventId: string): Promise<boolean>;
}
