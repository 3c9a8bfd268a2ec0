import { type RawBuilder, sql } from 'kysely';
import { type PaymentClock, SystemClock } from '../../payment/clock.js';

/** The store's time in SQL: the database's, or a clock's. */
export class StoreTime {
  private readonly clock: PaymentClock | null;

  /**
   * @param expression what time it is in the database's words; null for this process's clock
   * @param clock counts instead of the database's time, where given
   */
  constructor(
    private readonly expression: string | null,
    clock?: PaymentClock,
  ) {
    this.clock = clock ?? (expression === null ? new SystemClock() : null);
  }

  /** So many milliseconds from now. */
  fromNow(ms = 0): RawBuilder<number> {
    const whole = Math.round(ms);
    if (this.clock) return sql<number>`${this.clock.now().getTime() + whole}`;
    return sql<number>`(${sql.raw(this.expression ?? '')} + ${sql.lit(whole)})`;
  }
}
