import pg from 'pg';
import type { PaymentClock } from '../../../../../lib/payment/clock.js';
import type { SqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import type { RacingDatabase } from '../../lease-races.js';

/** Sessions that wait for a lock. */
const WAITING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

/** PostgreSQL for `describeLeaseRaces`. */
export function racingPostgres(
  open: (pool: pg.Pool, clock: PaymentClock) => SqlPaymentStore,
  createDatabase: () => Promise<string>,
): RacingDatabase<pg.Pool> {
  return {
    async connect() {
      const connectionString = await createDatabase();
      return [new pg.Pool({ connectionString }), new pg.Pool({ connectionString })];
    },
    open,
    isAnyoneWaiting: async (pool) => (await pool.query(WAITING)).rowCount !== 0,
    end: (pool) => pool.end(),
    connection: pg.Client.prototype,
  };
}
