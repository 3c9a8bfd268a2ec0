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
        // On its own connections the store sends only this; on a given connection it also sets time limits.
        const claim = statements.find(({ sql }) => sql.startsWith('with written'));
        if (!claim) throw new Error('a claim is not one statement');
        claims.push(() => pool.query(claim.sql, [...claim.parameters]));
      }
      return claims;
    },
    close: async () => {
      await Promise.all([pool.end(), recorderPool.end()]);
      await postgres.stop();
    },
  };
}
