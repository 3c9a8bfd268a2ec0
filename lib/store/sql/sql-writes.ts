import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { ReplaceOutcome, UniqueKey } from '../payment-store.js';
import type { SqlDatabase } from './sql-database.js';

/** The writes of the money path, and the fan-out, which differ most between databases. Each is atomic. */
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
}
