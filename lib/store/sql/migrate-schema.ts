import { sql } from 'kysely';
import { CREATE_MIGRATION_TABLE, migrationTo, SCHEMA_VERSION, type SqlDialect } from './payment-schema.js';
import { SchemaError } from './open-error.js';
import { type PaymentDb, run, transaction } from './sql-connection.js';

/** Any number, as long as every release uses the same. */
const MIGRATION_LOCK = 7_242_073_316;

/** Makes the tables, or brings them to this release's version, one process at a time; or only checks them. */
export async function migrateSchema(db: PaymentDb, dialect: SqlDialect, migrate: boolean): Promise<void> {
  const version = await versionOf(db, dialect);
  if (version > SCHEMA_VERSION) throw new SchemaError(newer(version));
  if (version === SCHEMA_VERSION) return;
  if (!migrate) throw new SchemaError(older(version, dialect));
  await transaction(db, dialect, async (locked) => {
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`.execute(locked);
    let reached = await versionOf(locked, dialect);
    if (reached === 0 && !(await hasMigrationTable(locked, dialect))) await run(locked, CREATE_MIGRATION_TABLE);
    while (reached < SCHEMA_VERSION) {
      reached += 1;
      for (const statement of migrationTo(reached, dialect)) await run(locked, statement);
      await locked.insertInto('card_payment_migration').values({ version: reached, applied_at: Date.now() }).execute();
    }
    if (reached > SCHEMA_VERSION) throw new SchemaError(newer(reached));
  });
}

async function versionOf(db: PaymentDb, dialect: SqlDialect): Promise<number> {
  if (!(await hasMigrationTable(db, dialect))) return 0;
  const row = await db
    .selectFrom('card_payment_migration')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst();
  return row?.version ?? 0;
}

async function hasMigrationTable(db: PaymentDb, dialect: SqlDialect): Promise<boolean> {
  const found =
    dialect === 'postgres'
      ? sql`select from pg_class where relname = 'card_payment_migration' and pg_table_is_visible(oid)`
      : sql`select name from sqlite_master where name = 'card_payment_migration'`;
  const { rows } = await found.execute(db);
  return rows.length > 0;
}

function newer(version: number): string {
  return (
    `the payment tables are of version ${version}, newer than this release of nestjs-card-payment, ` +
    `which knows version ${SCHEMA_VERSION}: update nestjs-card-payment`
  );
}

function older(version: number, dialect: SqlDialect): string {
  return (
    `the payment tables are ${version === 0 ? 'missing' : `of version ${version}`}, and this release of ` +
    `nestjs-card-payment needs version ${SCHEMA_VERSION}: apply what ` +
    `"npx nestjs-card-payment schema --dialect ${dialect}" prints, or leave \`migrate\` on`
  );
}
