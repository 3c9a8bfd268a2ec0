import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '../../test/services/postgres.js';
import type { StoreKind } from './subjects.js';

/** An empty store for one process. */
export interface EmptyStore {
  readonly url: string;
  remove(): Promise<void>;
}

/** Makes stores that keep what they have acknowledged, on the disk where one is needed. */
export class Stores {
  private postgres: Promise<Postgres> | null = null;

  async empty(kind: StoreKind | undefined): Promise<EmptyStore> {
    switch (kind) {
      case 'sqlite': {
        const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
        const remove = () => Promise.resolve(rmSync(folder, { recursive: true }));
        return { url: `sqlite:${join(folder, 'payments.db')}`, remove };
      }
      case 'postgres': {
        this.postgres ??= startPostgres({ fsync: 'on' });
        return { url: await (await this.postgres).createDatabase(), remove: () => Promise.resolve() };
      }
      default:
        return { url: 'memory:', remove: () => Promise.resolve() };
    }
  }

  async close(): Promise<void> {
    await (await this.postgres)?.stop();
  }
}
