import { readFileSync } from 'node:fs';
import pg from 'pg';
import { postgresPaymentStore } from 'nestjs-card-payment/sql';
import { startPostgres } from '../../test/services/postgres.js';
import { pagesSoFar, sizes, wholesOf } from './pages.js';
import { Plans, SHOW_PLANS } from './plans.js';
import { fill } from './postgres-fill.js';
import type { ScaleServer } from './scale-server.js';

/** Durable, as in production, with room for filling the tables quickly. */
const SETTINGS = {
  fsync: 'on',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
};

/** @param partitioned whether the tables are those of docs/partitioned-postgres.sql */
export async function postgresScale(partitioned: boolean): Promise<ScaleServer> {
  const postgres = await startPostgres(SETTINGS);
  return {
    unit: 'pages of 8 KiB',
    async create() {
      const url = await postgres.createDatabase();
      if (partitioned) await run(url, readFileSync('docs/partitioned-postgres.sql', 'utf8'));
      const store = postgresPaymentStore({ connectionString: url });
      await store.open();
      await store.close();
      return url;
    },
    drop: (url) => run(postgres.url, `drop database ${new URL(url).pathname.slice(1)}`),
    fill,
    storeOf: (connectionString, maxConnections) => postgresPaymentStore({ connectionString, maxConnections }),
    timedStoreOf(connectionString, used) {
      const pool = new pg.Pool({ connectionString, max: 2 });
      const acquired = new WeakMap<object, number>();
      pool.on('acquire', (client) => void acquired.set(client, performance.now()));
      pool.on('release', (_error, client) => used(performance.now() - acquired.get(client)!));
      return { store: postgresPaymentStore({ pool }), end: () => pool.end() };
    },
    async watch(connectionString) {
      const pool = new pg.Pool({ connectionString, max: 1, options: SHOW_PLANS });
      const plans = new Plans(pool);
      const store = postgresPaymentStore({ pool });
      await store.open();
      const wholes = await wholesOf(pool);
      plans.take(wholes);
      return {
        store,
        sizes: () => sizes(pool),
        analyze: async () => void (await pool.query('analyze')),
        reads: () => pagesSoFar(pool),
        searched: () => Promise.resolve(plans.take(wholes)),
        async end() {
          await store.close();
          await pool.end();
        },
      };
    },
    stop: () => postgres.stop(),
  };
}

async function run(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statements);
  await client.end();
}
