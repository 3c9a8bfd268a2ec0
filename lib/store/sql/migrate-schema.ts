import { SchemaError } from './driver-errors.js';
import { CREATE_MIGRATION_TABLE, lowestFor, MIGRATION_TABLE, migrationTo, SCHEMA_VERSION } from './payment-schema.js';
import type { PaymentDb } from './payment-tables.js';
import { run, runAll, type SqlDatabase } from './sql-database.js';
import type { SqlEngine } from './sql-engine.js';

/** The schema that a database has: version 0 where there is none. */
interface AppliedSchema {
  readonly version: number;
  readonly lowest: number;
}

/** Makes or updates the tables, one process at a time; without `migrate` it only checks them. */
export async function migrateSchema(database: SqlDatabase, migrate: boolean): Promise<void> {
  const { db, engine } = database;
  const applied = await appliedSchema(db, engine);
  if (isUsable(applied)) return;
  if (!migrate) throw new SchemaError(older(applied.version, engine));
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
  const applied = await appliedSchema(db, engine);
  if (isUsable(applied)) return;
  if (applied.version === 0 && !(await hasMigrationTable(db, engine))) await run(db, { sql: CREATE_MIGRATION_TABLE });
  for (let version = applied.version + 1; version <= SCHEMA_VERSION; version += 1) {
    for (const sql of migrationTo(version, engine.schema)) await run(db, { sql });
    const row = { version, lowest: lowestFor(version), applied_at: Date.now() };
    await db.insertInto(MIGRATION_TABLE).values(row).execute();
  }
}

/** @throws SchemaError when the tables are newer than this release may use */
function isUsable({ version, lowest }: AppliedSchema): boolean {
  if (lowest > SCHEMA_VERSION) throw new SchemaError(newer(version));
  return version >= SCHEMA_VERSION;
}

async function appliedSchema(db: PaymentDb, engine: SqlEngine): Promise<AppliedSchema> {
  const none = { version: 0, lowest: 0 };
  if (!(await hasMigrationTable(db, engine))) return none;
  const newest = db.selectFrom(MIGRATION_TABLE).select(['version', 'lowest']).orderBy('version', 'desc').limit(1);
  return (await newest.executeTakeFirst()) ?? none;
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
    `"npx nestjs-card-payment schema --dialect ${name}" prints, or start the application with \`migrate\` on`
  );
}
