import { SchemaError } from './driver-errors.js';
import { CREATE_MIGRATION_TABLE, MIGRATION_TABLE, migrationTo, SCHEMA_VERSION } from './payment-schema.js';
import type { PaymentDb } from './payment-tables.js';
import { run, runAll, type SqlDatabase } from './sql-database.js';
import type { SqlEngine } from './sql-engine.js';

/** Makes or updates the tables, one process at a time; without `migrate` it only checks them. */
export async function migrateSchema(database: SqlDatabase, migrate: boolean): Promise<void> {
  const { db, engine } = database;
  const version = await versionOf(db, engine);
  if (version > SCHEMA_VERSION) throw new SchemaError(newer(version));
  if (version === SCHEMA_VERSION) return;
  if (!migrate) throw new SchemaError(older(version, engine));
  await database.transaction(async (transaction) => {
    await runAll(transaction, engine.migrationLock.take);
    try {
      await migrateFrom(transaction, engine);
    } finally {
      await runAll(transaction, engine.migrationLock.release);
    }
  });
}

async function migrateFrom(db: PaymentDb, engine: SqlEngine): Promise<void> {
  let version = await versionOf(db, engine);
  if (version > SCHEMA_VERSION) throw new SchemaError(newer(version));
  if (version === 0 && !(await hasMigrationTable(db, engine))) await run(db, { sql: CREATE_MIGRATION_TABLE });
  while (version < SCHEMA_VERSION) {
    version += 1;
    for (const sql of migrationTo(version, engine.schema)) await run(db, { sql });
    await db.insertInto(MIGRATION_TABLE).values({ version, applied_at: Date.now() }).execute();
  }
}

async function versionOf(db: PaymentDb, engine: SqlEngine): Promise<number> {
  if (!(await hasMigrationTable(db, engine))) return 0;
  const row = await db
    .selectFrom(MIGRATION_TABLE)
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst();
  return row?.version ?? 0;
}

async function hasMigrationTable(db: PaymentDb, engine: SqlEngine): Promise<boolean> {
  return (await run(db, engine.hasTable(MIGRATION_TABLE))).length > 0;
}

function newer(version: number): string {
  return (
    `the payment tables are of version ${version}, newer than this release of nestjs-card-payment, ` +
    `which knows version ${SCHEMA_VERSION}: update nestjs-card-payment`
  );
}

function older(version: number, { name }: SqlEngine): string {
  return (
    `the payment tables are ${version === 0 ? 'missing' : `of version ${version}`}, and this release of ` +
    `nestjs-card-payment needs version ${SCHEMA_VERSION}: apply what ` +
    `"npx nestjs-card-payment schema --dialect ${name}" prints, or leave \`migrate\` on`
  );
}
