import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SqliteDialect } from 'kysely';
import { sqlitePaymentStore } from 'nestjs-card-payment/sql';
import type { ClaimSubject } from './claim-subject.js';
import { type Statement, StatementRecorder } from './statement-recorder.js';

export async function sqliteSubject(): Promise<ClaimSubject> {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
  const recorderFile = new Database(':memory:');
  const recorder = new StatementRecorder(new SqliteDialect({ database: recorderFile }), 'sqlite');
  await recorder.open();
  const stores = {
    store: sqlitePaymentStore({ file: join(folder, 'store.db') }),
    twin: sqlitePaymentStore({ file: join(folder, 'bare.db') }),
  };
  await Promise.all([stores.store.open(), stores.twin.open()]);
  const bare = new Database(join(folder, 'bare.db'));
  bare.pragma('synchronous = FULL');
  const prepared = new Map<string, Database.Statement>();
  const run = ({ sql, parameters }: Statement): void => {
    const statement = prepared.get(sql) ?? bare.prepare(sql);
    prepared.set(sql, statement);
    if (statement.reader) statement.all(...parameters);
    else statement.run(...parameters);
  };

  return {
    name: 'SQLite (WAL, synchronous FULL)',
    openStores: () => Promise.resolve(stores),
    async bareClaims(records) {
      const claims = [];
      for (const record of records) {
        const statements = await recorder.ofClaim(record);
        claims.push(() => Promise.resolve(statements.forEach(run)));
      }
      return claims;
    },
    close: () => {
      bare.close();
      recorderFile.close();
      return Promise.resolve(rmSync(folder, { recursive: true }));
    },
  };
}
