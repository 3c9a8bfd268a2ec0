import pg from 'pg';
import { startPostgres } from '../services/postgres.js';
import { POOLS } from './frozen.js';
import { patientStore } from './postgres-shops.js';
import { describeVanished } from './vanished.js';

describeVanished({
  start: startPostgres,
  async connect(connectionString) {
    const client = new pg.Client({ connectionString });
    await client.connect();
    return { run: async (sql) => (await client.query<object>(sql)).rows, end: () => client.end() };
  },
  patientStore,
  limitedPools: POOLS,
  fanOutLock: (account) => `select pg_advisory_xact_lock(hashtextextended('card_payment ${account}', 0))`,
  nextFanOut: 'leaves it',
  migrationLock: { sql: 'select pg_advisory_xact_lock(7242073316)', name: 'PostgreSQL' },
  waitingPurge: `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
});
