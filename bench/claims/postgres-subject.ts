import { PostgresDialect } from 'kysely';
import pg from 'pg';
import { postgresPaymentStore } from 'nestjs-card-payment/sql';
import { startPostgres } from '../../test/services/postgres.js';
import type { ClaimSubject } from './claim-subject.js';
import { StatementRecorder } from './statement-recorder.js';

export async function postgresSubject(): Promise<ClaimSubject> {
  const postgres = await startPostgres({ fsync: 'on' });
  const [recorderUrl, storeUrl, bareUrl] = [
    await postgres.createDatabase(),
    await postgres.createDatabase(),
    await postgres.createDatabase(),
  ];
  const recorderPool = new pg.Pool({ connectionString: recorderUrl, max: 1 });
  const recorder = new StatementRecorder(new PostgresDialect({ pool: recorderPool }), 'postgres');
  await recorder.open();
  const stores = {
    store: postgresPaymentStore({ connectionString: storeUrl }),
    twin: postgresPaymentStore({ connectionString: bareUrl }),
  };
  await Promise.all([stores.store.open(), stores.twin.open()]);
  const pool = new pg.Pool({ connectionString: bareUrl, max: 10 });

  return {
    name: 'PostgreSQL (fsync on)',
    openStores: () => Promise.resolve(stores),
    async bareClaims(records) {
      const claims = [];
      for (const record of records) {
        const statements = await recorder.ofClaim(record);
        claims.push(async () => {
          const client = await pool.connect();
          for (const { sql, parameters } of statements) await client.query(sql, [...parameters]);
          client.release();
        });
      }
      return claims;
    },
    close: async () => {
      await Promise.all([pool.end(), recorderPool.end()]);
      await postgres.stop();
    },
  };
}
