import { refuseUnfit, ShownError, type UnfitDatabase } from '../errors.js';
import type { RunStatement } from '../engine.js';

const SHARDS =
  'enforces a unique key within each shard only, and by unique keys the store lets only one process charge an order';
/** Databases that speak MySQL's protocol and cannot keep the promises, by their documentation. */
const UNFIT: readonly UnfitDatabase[] = [
  {
    name: 'TiDB',
    version: /TiDB/i,
    why: 'locks no rows for "for update skip locked", by which the store keeps two processes from the same work',
  },
  { name: 'PlanetScale', version: /PlanetScale/i, host: /\.psdb\.cloud$/i, why: `runs on Vitess, which ${SHARDS}` },
  // One that gives itself another version still says its build.
  { name: 'Vitess', version: /Vitess|\bVersion: \S+ \(Git revision /i, why: SHARDS },
];

/** The first versions that skip rows which are locked. */
const OLDEST = { MariaDB: [10, 6], MySQL: [8, 0, 1] } as const;
/** The longest record and event of a transition take two thirds of it. */
const LEAST_PACKET_BYTES = 4 * 1024 * 1024;

const SETTINGS = [
  'autocommit',
  'binlog_format',
  'character_set_connection',
  'completion_type',
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'max_allowed_packet',
  'sql_mode',
  'sql_safe_updates',
  'sql_select_limit',
  'sync_binlog',
  'wsrep_on',
  'wsrep_provider_options',
  'wsrep_sync_wait',
];
/** Less than the greatest value, which a number cannot hold exactly, and more rows than there can be. */
const ALL_ROWS = 2 ** 63;
const ROWS_AS_LISTS = "its rows are not objects; leave out mysql2's rowsAsArray and nestTables";
/** Options of Galera by which nodes go on without most of the others. */
const SPLITS_CLUSTER = /\b(pc\.ignore_sb|pc\.ignore_quorum)\s*=\s*(?:true|yes|on|1)\b/i;
/** The bit of `wsrep_sync_wait` for reads. */
const WAITS_FOR_READS = 1;

/**
 * @param host of the URL
 * @throws ShownError when it is of a service that cannot keep the store's promises
 */
export function checkMysqlHost(host: string): void {
  refuseUnfit(UNFIT, (one) => one.host?.test(host));
}

/** Refuses servers that only look like MySQL, or are too old. */
export async function checkMysqlVersion(run: RunStatement): Promise<void> {
  const [server] = (await run({ sql: 'select version() as version, @@version_comment as comment' })) as {
    readonly version: string;
    readonly comment: string;
  }[];
  if (typeof server?.version !== 'string') throw unfit(ROWS_AS_LISTS);
  const { version, comment = '' } = server;
  const said = `${version} ${comment}`;
  refuseUnfit(UNFIT, (one) => one.version?.test(said));
  const name = /MariaDB/i.test(said) ? 'MariaDB' : 'MySQL';
  const parts = version.split(/\D+/).map(Number);
  const differs = OLDEST[name].findIndex((part, index) => part !== parts[index]);
  if (differs === -1 || (parts[differs] ?? 0) > (OLDEST[name][differs] ?? 0)) return;
  throw new ShownError(
    `payments need ${name} ${OLDEST[name].join('.')} or later, the first with the "skip locked" that keeps two ` +
      `processes from the same work, and this is ${parts.slice(0, 3).join('.')}`,
  );
}

/**
 * Refuses servers that would break the store's promises, and settings that would. The session of a connection of the
 * store's own is set as it has to be; that of a given pool or Kysely instance is only looked at.
 */
export async function checkMysqlServer(run: RunStatement): Promise<string[]> {
  await checkMysqlVersion(run);
  const names = SETTINGS.map((name) => `'${name}'`).join(', ');
  const rows = (await run({ sql: `show session variables where variable_name in (${names})` })) as {
    readonly Variable_name: string;
    readonly Value: string;
  }[];
  const settings = new Map(rows.map(({ Variable_name: name, Value: value }) => [name.toLowerCase(), value]));
  const problem = problemOf(settings);
  if (problem !== null) throw unfit(problem);
  return warningsOf(settings);
}

function unfit(problem: string): ShownError {
  return new ShownError(`this MySQL or MariaDB server cannot keep payments: ${problem}`);
}

function problemOf(settings: ReadonlyMap<string, string>): string | null {
  // First, since it cuts the list of the settings, too.
  const limit = Number(settings.get('sql_select_limit') ?? (settings.has('sql_mode') ? ALL_ROWS : 0));
  if (limit < ALL_ROWS) {
    return 'its sql_select_limit cuts what is read; set it to 18446744073709551615 on the connections that the store is given';
  }
  const modes = (settings.get('sql_mode') ?? '').split(',');
  if (settings.get('log_bin') === 'ON' && settings.get('binlog_format') === 'STATEMENT') {
    return 'its binlog_format is STATEMENT; set it to ROW';
  }
  if (Number(settings.get('max_allowed_packet') ?? LEAST_PACKET_BYTES) < LEAST_PACKET_BYTES) {
    return 'its max_allowed_packet is under 4 MiB; set it to 16M';
  }
  if (settings.get('autocommit') === 'OFF')
    return 'autocommit is off in the connections that the store is given; turn it on';
  if (!modes.some((mode) => mode === 'STRICT_ALL_TABLES' || mode === 'STRICT_TRANS_TABLES')) {
    return 'its sql_mode is not strict, so that values could be cut off; add STRICT_TRANS_TABLES';
  }
  if (modes.includes('NO_BACKSLASH_ESCAPES')) {
    return 'its sql_mode has NO_BACKSLASH_ESCAPES, with which mysql2 would not write values safely; remove it';
  }
  if (modes.includes('EMPTY_STRING_IS_NULL')) return 'its sql_mode has EMPTY_STRING_IS_NULL; remove it';
  if ((settings.get('completion_type') ?? 'NO_CHAIN') !== 'NO_CHAIN') {
    return 'its completion_type begins or ends more than a transaction; set it to NO_CHAIN';
  }
  if (settings.get('sql_safe_updates') === 'ON') return 'its sql_safe_updates is on; turn it off';
  if (settings.get('character_set_connection') !== 'utf8mb4') {
    return "its connections do not use utf8mb4; set mysql2's charset to utf8mb4_bin";
  }
  // What was given back of a payment could be added up without what another node has committed.
  if (isGalera(settings) && (Number(settings.get('wsrep_sync_wait')) & WAITS_FOR_READS) === 0) {
    return 'its connections do not wait for what other nodes have committed; set wsrep_sync_wait to 7 on them';
  }
  const [, splitting] = SPLITS_CLUSTER.exec(settings.get('wsrep_provider_options') ?? '') ?? [];
  if (isGalera(settings) && splitting) {
    return `with ${splitting} both sides of a partition take payments; turn it off in its wsrep_provider_options`;
  }
  return null;
}

function isGalera(settings: ReadonlyMap<string, string>): boolean {
  return settings.get('wsrep_on') === 'ON';
}

function warningsOf(settings: ReadonlyMap<string, string>): string[] {
  const losesWrites = (name: string): string =>
    `${name} is ${settings.get(name)}: a crash of its machine can lose payments that were reported as stored; set it to 1`;
  return [
    ...(settings.get('innodb_flush_log_at_trx_commit') === '1' ? [] : ['innodb_flush_log_at_trx_commit']),
    ...(settings.get('log_bin') !== 'ON' || settings.get('sync_binlog') === '1' || isGalera(settings)
      ? []
      : ['sync_binlog']),
  ].map(losesWrites);
}
