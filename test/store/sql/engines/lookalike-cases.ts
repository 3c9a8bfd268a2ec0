import {
  type Answers,
  type Lookalike,
  startMysqlLookalike,
  startPostgresLookalike,
} from '../../../services/lookalikes.js';

/** A database that only looks like PostgreSQL or MySQL, or is too old, and why it is refused. */
export interface LookalikeCase {
  readonly name: string;
  readonly start: () => Promise<Lookalike>;
  readonly message: string;
}

const SHARDS =
  'enforces a unique key within each shard only, and by unique keys the store lets only one process charge an order';
const SKIP_LOCKED =
  'or later, the first with the "skip locked" that keeps two processes from the same work, and this is';
const ADVISORY =
  'payments need YugabyteDB 2025.1 or later, the first with the advisory locks that keep two processes from the same ' +
  'work, and this is';

/** What these servers say of themselves: `version()`, `@@version_comment`, and why they are refused. */
const MYSQL_LOOKALIKES: readonly (readonly [name: string, version: string, comment: string, message: string])[] = [
  [
    'TiDB',
    '8.0.11-TiDB-v8.5.6',
    'TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible',
    'payments cannot be kept in TiDB: it does not lock the rows of "for update skip locked", by which the store keeps ' +
      'two processes from the same work',
  ],
  [
    'Vitess',
    '8.0.31-Vitess',
    `Version: 19.0.3 (Git revision 3b4fcf8e8d branch 'HEAD') built on Fri Apr 12 2024 by vitess@host using go1.22.2`,
    `payments cannot be kept in Vitess: it ${SHARDS}`,
  ],
  [
    'Vitess that was given the version of MySQL',
    '8.0.22',
    `Version: 10.0.0-SNAPSHOT (Git revision a577cc4da branch 'master') built on Sat Feb 13 2021 using go1.15.6`,
    `payments cannot be kept in Vitess: it ${SHARDS}`,
  ],
  [
    'PlanetScale',
    '8.0.34-PlanetScale',
    `Version: 21.0.1 (Git revision 0f0bf4f branch 'HEAD') built on Mon Dec 2 2024`,
    `payments cannot be kept in PlanetScale: it runs on Vitess, which ${SHARDS}`,
  ],
  ['MySQL 5.7', '5.7.44-log', 'MySQL Community Server (GPL)', `payments need MySQL 8.0.1 ${SKIP_LOCKED} 5.7.44`],
  ['MySQL 8.0.0', '8.0.0-dmr', 'MySQL Community Server (GPL)', `payments need MySQL 8.0.1 ${SKIP_LOCKED} 8.0.0`],
  [
    'MariaDB 10.5',
    '10.5.23-MariaDB-1:10.5.23+maria~ubu2004',
    'mariadb.org binary distribution',
    `payments need MariaDB 10.6 ${SKIP_LOCKED} 10.5.23`,
  ],
  [
    'MariaDB of a service',
    '10.4.13-MariaDB-log',
    'Source distribution',
    `payments need MariaDB 10.6 ${SKIP_LOCKED} 10.4.13`,
  ],
];

/** What these servers say of themselves: `version()`, a catalog of their own, and why they are refused. */
const POSTGRES_LOOKALIKES: readonly (readonly [name: string, version: string, catalog: RegExp, message: string])[] = [
  [
    'CockroachDB',
    'CockroachDB CCL v24.1.2 (x86_64-pc-linux-gnu, built 2024/06/26 19:57:48, go1.22.4 X:nocoverageredesign)',
    /crdb_internal/,
    'payments cannot be kept in CockroachDB: it refuses a statement that writes to one table twice, and the store ' +
      'changes a payment by such a statement',
  ],
  [
    'Redshift',
    'PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.77467',
    /svv_/,
    'payments cannot be kept in Amazon Redshift: it does not enforce unique keys, and by those the store lets only one ' +
      'process charge an order',
  ],
  [
    'Spanner behind PGAdapter',
    'PostgreSQL 14.1',
    /spanner_sys/,
    'payments cannot be kept in Spanner: it has no advisory locks and no "skip locked", and by those the store keeps ' +
      'two processes from the same work',
  ],
  [
    'Aurora DSQL by a name of its own',
    'PostgreSQL 16',
    /iam_pg_role_mappings/,
    'payments cannot be kept in Aurora DSQL: it locks no rows and finds conflicts only at commit, and the store has to ' +
      'skip rows that another process has locked',
  ],
  ['YugabyteDB 2.20', 'PostgreSQL 11.2-YB-2.20.3.1-b2 on x86_64-pc-linux-gnu, 64-bit', /yb_/, `${ADVISORY} 2.20`],
  ['YugabyteDB 2.25', 'PostgreSQL 15.2-YB-2.25.0.0-b0 on aarch64-unknown-linux-gnu', /yb_/, `${ADVISORY} 2.25`],
  ['YugabyteDB 2024.2', 'PostgreSQL 11.2-YB-2024.2.2.0-b0 on x86_64-pc-linux-gnu', /yb_/, `${ADVISORY} 2024.2`],
];

/** @param refuses what it answers with an error, as a server that knows fewer settings does */
export function mysqlAnswers(version: string, comment: string, refuses = /^$/): Answers {
  return (sql) => {
    if (refuses.test(sql)) return { code: '1193', message: 'Unknown system variable' };
    return /version\(\)/i.test(sql) ? [{ version, comment }] : [];
  };
}

export function postgresAnswers(version: string, catalog: RegExp, refuses = /^$/): Answers {
  return (sql) => {
    if (refuses.test(sql)) return { code: '42P01', message: 'relation does not exist' };
    if (/version\(\)/i.test(sql)) return [{ version }];
    return catalog.test(sql) ? [{ one: '1' }] : [];
  };
}

export const LOOKALIKES: readonly LookalikeCase[] = [
  ...MYSQL_LOOKALIKES.flatMap(([name, version, comment, message]) => [
    { name, message, start: () => startMysqlLookalike(mysqlAnswers(version, comment)) },
    {
      name: `${name}, which does not know the settings of a session`,
      message,
      start: () => startMysqlLookalike(mysqlAnswers(version, comment, /^set session/)),
    },
  ]),
  ...POSTGRES_LOOKALIKES.flatMap(([name, version, catalog, message]) => [
    { name, message, start: () => startPostgresLookalike(postgresAnswers(version, catalog)) },
    {
      name: `${name}, which does not know the settings of a session`,
      message,
      start: () => startPostgresLookalike(postgresAnswers(version, catalog, /pg_settings/), 'lock_timeout'),
    },
  ]),
];

/** Statements that do more than ask, or set the session. */
export function writesAmong(asked: readonly string[]): string[] {
  return asked.filter((sql) => !/^(select|show|set names|set session)\b/i.test(sql) || /\bfor update\b/i.test(sql));
}
