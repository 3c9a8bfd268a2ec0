import { type Dialect, Kysely } from 'kysely';
import type { PaymentRecord } from 'nestjs-card-payment';
import { type SqlDialect, sqlPaymentStore } from 'nestjs-card-payment/sql';
import { claimedRecord } from '../records.js';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Makes claims on a database of its own and records the statements of each. */
export class StatementRecorder {
  private recorded: Statement[] = [];
  private readonly store;

  constructor(driver: Dialect, dialect: SqlDialect) {
    const db = new Kysely<object>({
      dialect: driver,
      log: ({ query: { sql, parameters } }) => void this.recorded.push({ sql, parameters }),
    });
    this.store = sqlPaymentStore({ db, dialect });
  }

  open(): Promise<void> {
    return this.store.open();
  }

  async ofClaim(record: PaymentRecord): Promise<Statement[]> {
    await this.store.insert(record);
    this.recorded = [];
    await this.store.replace(claimedRecord(record), record.version);
    return this.recorded.splice(0);
  }
}
