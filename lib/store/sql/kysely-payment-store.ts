import type { Kysely } from 'kysely';
import { engineNamed, type SqlDialect } from './engines.js';
import type { PaymentTables } from './payment-tables.js';
import { SqlPaymentStore, type SqlStoreOptions } from './sql-payment-store.js';

/** A Kysely instance of the host, so that payments can live beside its orders. The host destroys it. */
export interface KyselyStoreOptions<Tables> extends SqlStoreOptions {
  readonly db: Kysely<Tables>;
  readonly dialect: SqlDialect;
}

/**
 * Keeps payments in the database of a Kysely instance. On SQLite set `journal_mode = WAL` and `synchronous = FULL` on
 * its connection: without the second, a power cut can lose payments that were reported as stored.
 */
export function sqlPaymentStore<Tables>({ db, dialect, ...options }: KyselyStoreOptions<Tables>): SqlPaymentStore {
  return new SqlPaymentStore(db as unknown as Kysely<PaymentTables>, engineNamed(dialect), options);
}
