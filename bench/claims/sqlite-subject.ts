import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SqliteDialect } from 'kysely';
import { sqlitePaymentStore } from 'nestjs-card-payment/sql';
import type { ClaimSubject } from './claim-subject.js';
import { type Statement, StatementRecorder } from './statement-recorder.js';

const BEGIN: Statement = { sql: 'begin immediate', parameters: [] };
const COMMIT: Statement = { sql: 'commit', parameters: [] };

/** @param commits whether the bare driver commits each claim, or all waiting claims together, as the store does */
export async function sqliteSubject(commits: 'each' | 'shared'): Promise<ClaimSubject> {
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

  let waiting: { readonly statements: readonly Statement[]; readonly done: () => void }[] = [];
  const commitWaiting = (): void => {
    const together = waiting;
    waiting = [];
    run(BEGIN);
    together.forEach(({ statements }) => statements.forEach(run));
    run(COMMIT);
    together.forEach(({ done }) => done());
  };
  const commitTogether = (statements: readonly Statement[]): Promise<void> =>
    new Promise((done) => {
      if (waiting.push({ statements, done }) === 1) setImmediate(commitWaiting);
    });

  return {
    name: `SQLite (synchronous FULL), bare: ${commits === 'each' ? 'a commit each' : 'shared commits, too'}`,
    openStores: () => Promise.resolve(stores),
    async bareClaims(records) {
      const claims = [];
      for (const record of records) {
        const statements = await recorder.ofClaim(record);
        const [first, last] = [statements[0], statements.at(-1)];
        if (first?.sql !== BEGIN.sql || last?.sql !== COMMIT.sql) throw new Error('a claim is not one transaction');
        if (commits === 'each') claims.push(() => Promise.resolve(statements.forEach(run)));
        else claims.push(() => commitTogether(statements.slice(1, -1)));
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
