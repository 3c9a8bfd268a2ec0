import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MariaDb, startMariaDb } from '../../test/services/mariadb.js';
import { type Postgres, startPostgres } from '../../test/services/postgres.js';
import type { StoreKind } from './subjects.js';

/** Servers flush what they have acknowledged to the disk, as in production. */
export const DURABLE = {
  postgres: { fsync: 'on' },
  mariadb: { debug_no_sync: '0', innodb_flush_log_at_trx_commit: '1' },
};

/** An empty store for one process. */
export interface EmptyStore {
  readonly url: string;
  remove(): Promise<void>;
}

/** Makes stores, and starts the servers that they need. */
export class Stores {
  private postgres: Promise<Postgres> | null = null;
  private mariadb: Promise<MariaDb> | null = null;

  async empty(kind: StoreKind | undefined): Promise<EmptyStore> {
    const remove = () => Promise.resolve();
    switch (kind) {
      case 'sqlite': {
        const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
        const removeFolder = () => Promise.resolve(rmSync(folder, { recursive: true }));
        return { url: `sqlite:${join(folder, 'payments.db')}`, remove: removeFolder };
      }
      case 'postgres':
        this.postgres ??= startPostgres(DURABLE.postgres);
        return { url: await (await this.postgres).createDatabase(), remove };
      case 'mariadb':
        this.mariadb ??= startMariaDb(DURABLE.mariadb);
        return { url: await (await this.mariadb).createDatabase(), remove };
      default:
        return { url: 'memory:', remove };
    }
  }

  async close(): Promise<void> {
    await (await this.postgres)?.stop();
    await (await this.mariadb)?.stop();
  }
}
