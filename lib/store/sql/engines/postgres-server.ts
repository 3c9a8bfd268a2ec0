import { ShownError, unfitDatabase } from '../errors.js';
import type { RunStatement } from '../engine.js';

/** Why each database that speaks PostgreSQL's protocol cannot keep the promises, by its documentation. */
const OTHERS = {
  CockroachDB:
    'refuses a statement that writes to one table twice, and the store changes a payment by such a statement',
  'Aurora DSQL':
    'locks no rows and finds conflicts only at commit, and the store has to skip rows that another process has locked',
  'Amazon Redshift': 'does not enforce unique keys, and by those the store lets only one process charge an order',
  Spanner: 'has no advisory locks and no "skip locked", and by those the store keeps two processes from the same work',
} as const;

/** `ID.dsql.REGION.on.aws`, or with `dsql-SERVICE` inside a private network. */
const DSQL_HOST = /\.dsql(?:-[a-z0-9]+)?\.[a-z0-9-]+\.on\.aws$/i;
const BY_VERSION: readonly (readonly [version: RegExp, name: keyof typeof OTHERS])[] = [
  [/CockroachDB/i, 'CockroachDB'],
  [/Redshift/i, 'Amazon Redshift'],
];
/** Each finds a row in one that says it is PostgreSQL, in a catalog that PostgreSQL does not have. */
const BY_CATALOG: readonly (readonly [rowIn: string, name: keyof typeof OTHERS])[] = [
  [`information_schema.schemata where schema_name in ('spanner_sys', 'SPANNER_SYS')`, 'Spanner'],
  [
    `pg_class join pg_namespace on pg_namespace.oid = relnamespace
where nspname = 'sys' and relname = 'iam_pg_role_mappings'`,
    'Aurora DSQL',
  ],
];
/** The first YugabyteDB with advisory locks unless they are turned off. */
const OLDEST_YUGABYTE = [2025, 1] as const;

/**
 * @param host of the URL
 * @throws ShownError when it is of a service that cannot keep the store's promises
 */
export function checkPostgresHost(host: string): void {
  if (DSQL_HOST.test(host)) throw refusalOf('Aurora DSQL');
}

/** Refuses servers that only look like PostgreSQL, and would break the store's promises; warns of what loses writes. */
export async function checkPostgresServer(run: RunStatement): Promise<string[]> {
  // Spanner's adapter answers this very text only.
  const [row] = (await run({ sql: 'select version()' })) as { readonly version: string }[];
  const version = row?.version ?? '';
  const [, byVersion] = BY_VERSION.find(([pattern]) => pattern.test(version)) ?? [];
  if (byVersion) throw refusalOf(byVersion);
  checkYugabyte(version);
  for (const [rowIn, name] of BY_CATALOG) {
    if ((await run({ sql: `select 1 from ${rowIn}` })).length > 0) throw refusalOf(name);
  }
  const [commits] = (await run({ sql: `select current_setting('synchronous_commit') as value` })) as {
    readonly value: string;
  }[];
  if (commits?.value !== 'off') return [];
  return [
    'synchronous_commit is off: a crash of the server can lose payments that were reported as stored; turn it on',
  ];
}

function refusalOf(name: keyof typeof OTHERS): ShownError {
  return unfitDatabase(name, OTHERS[name]);
}

function checkYugabyte(version: string): void {
  const [, year = '', month = ''] = /-YB-(\d+)\.(\d+)/.exec(version) ?? [];
  const [oldestYear, oldestMonth] = OLDEST_YUGABYTE;
  if (year === '' || Number(year) > oldestYear || (Number(year) === oldestYear && Number(month) >= oldestMonth)) return;
  throw new ShownError(
    `payments need YugabyteDB ${OLDEST_YUGABYTE.join('.')} or later, the first with the advisory locks that keep two ` +
      `processes from the same work, and this is ${year}.${month}`,
  );
}
