import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { SqlDatabase } from './sql-database.js';

/** What a write came to. `taken`: a unique key is another payment's. Only with `done` was anything written. */
export type WriteOutcome = 'done' | 'stale' | 'taken';

/** The writes of the money path, and the fan-out, which differ most between databases. Each is atomic. */
export interface SqlWrites {
  /** Writes a record with its keys, its line of history and its event. */
  readonly insert: (database: SqlDatabase, record: PaymentRecord, event?: PaymentEvent) => Promise<WriteOutcome>;
  /** Writes a record over the one of the expected version; `stale` when there is none such. */
  readonly replace: (
    database: SqlDatabase,
    record: PaymentRecord,
    expectedVersion: number,
    event?: PaymentEvent,
  ) => Promise<WriteOutcome>;
  /** See `PaymentStore.fanOut`. Gives way to another process that is at it. */
  readonly fanOut: (database: SqlDatabase, account: string, limit: number) => Promise<number>;
}
