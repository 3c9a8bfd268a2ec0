import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { ReplaceOutcome, UniqueKey } from '../payment-ledger.js';
import type { Delivery, DeliveryLeaseRequest } from '../payment-outbox.js';
import type { DeliveryKey } from './deliveries.js';
import type { SqlDatabase } from './sql-database.js';

/** What one look at the first due deliveries came to. */
export interface LeaseLook {
  readonly leased: Delivery[];
  /** Whether none was put off, so that there is nothing behind them to look at. */
  readonly isDone: boolean;
}

/** The writes of the money path and of deliveries, which differ most between databases. Each is atomic. */
export interface SqlWrites {
  /** See `PaymentStore.insert`. */
  readonly insert: (database: SqlDatabase, record: PaymentRecord, event?: PaymentEvent) => Promise<UniqueKey | null>;
  /** See `PaymentStore.replace`. */
  readonly replace: (
    database: SqlDatabase,
    record: PaymentRecord,
    expectedVersion: number,
    event?: PaymentEvent,
  ) => Promise<ReplaceOutcome>;
  /** See `PaymentStore.fanOut`. Gives way to another process that is at it. */
  readonly fanOut: (database: SqlDatabase, account: string, limit: number) => Promise<number>;
  /**
   * Looks at the first due deliveries and leases those that wait for no earlier one. Where many wait, they are put off,
   * so that they are in nobody's way: until that one is gone, which makes them due again, or may be passed over.
   */
  readonly leaseSome: (database: SqlDatabase, request: DeliveryLeaseRequest) => Promise<LeaseLook>;
  /** See `PaymentStore.acknowledge`. */
  readonly acknowledge: (database: SqlDatabase, delivery: DeliveryKey) => Promise<void>;
}
