import { refusalOf, refuseUnfit, ShownError, type UnfitDatabase } from '../errors.js';
import type { RunStatement } from '../engine.js';

/** Databases that speak PostgreSQL's protocol and cannot keep the promises, by their documentation. */
const UNFIT: readonly UnfitDatabase[] = [
  {
    name: 'CockroachDB',
    version: /CockroachDB/i,
    why: 'refuses a statement that writes to one table twice, and the store changes a payment by such a statement',
  },
  {
    name: 'Amazon Redshift',
    version: /Redshift/i,
    why: 'does not enforce unique keys, and by those the store lets only one process charge an order',
  },
  {
    name: 'Spanner',
    rowIn: `information_schema.schemata where schema_name in ('spanner_sys', 'SPANNER_SYS')`,
    why: 'has no advisory locks and no "skip locked", and by those the store keeps two processes from the same work',
  },
  {
    name: 'Aurora DSQL',
    // `ID.dsql.REGION.on.aws`, or with `dsql-SERVICE` inside a private network.
    host: /\.dsql(?:-[a-z0-9]+)?\.[a-z0-9-]+\.on\.aws$/i,
    rowIn: `pg_class join pg_namespace on pg_namespace.oid = relnamespace
where nspname = 'sys' and relname = 'iam_pg_role_mappings'`,
    why: 'locks no rows and finds conflicts only at commit; the store has to skip rows that another process holds',
  },
];
/** The first YugabyteDB with advisory locks unless they are turned off. */
const OLDEST_YUGABYTE = [2025, 1] as const;

/**
 * @param host of the URL
 * @throws ShownError when it is of a service that cannot keep the store's promises
 */
export function checkPostgresHost(host: string): void {
  refuseUnfit(UNFIT, (one) => one.host?.test(host));
}

/** Refuses servers that only look like PostgreSQL, and would break the store's promises; warns of what loses writes. */
export async function checkPostgresServer(run: RunStatement): Promise<string[]> {
  // Spanner's adapter answers this very text only.
  const [row] = (await run({ sql: 'select version()' })) as { readonly version: string }[];
  const version = row?.version ?? '';
  refuseUnfit(UNFIT, (one) => one.version?.test(version));
  checkYugabyte(version);
  for (const one of UNFIT) {
    if (one.rowIn && (await run({ sql: `select 1 from ${one.rowIn}` })).length > 0) throw refusalOf(one);
  }
  const [commits] = (await run({ sql: `select current_setting('synchronous_commit') as value` })) as {
    readonly value: string;
  }[];
  if (commits?.value !== 'off') return [];
  return [
    'synchronous_commit is off: a crash of the server can lose payments that were reported as stored; turn it on',
  ];
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
