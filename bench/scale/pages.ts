import type pg from 'pg';
import type { ReadsByName } from './scale-server.js';

/** Pages of 8 KiB that were asked for, in memory or not, by index and by table (partitions under their parent's name). */
const PAGES = `
  select coalesce(pg_partition_root(indexrelid), indexrelid)::regclass::text as name,
    sum(idx_blks_hit + idx_blks_read) as pages
  from pg_statio_user_indexes group by 1
  union all
  select coalesce(pg_partition_root(relid), relid)::regclass::text, sum(heap_blks_hit + heap_blks_read)
  from pg_statio_user_tables group by 1`;

/** What the only connection of a pool has asked for so far. */
export async function pagesSoFar(pool: pg.Pool): Promise<ReadsByName> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ name: string; pages: string }>(PAGES);
  return new Map(rows.map(({ name, pages }) => [name, Number(pages)]));
}

/** Bytes of each table and index (partitions under their parent's name). */
export async function sizes(pool: pg.Pool): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ name: string; bytes: string }>(
    `select coalesce(pg_partition_root(oid), oid)::regclass::text as name, sum(pg_relation_size(oid)) as bytes
     from pg_class where relname like 'card_payment%' and relkind in ('r', 'i') group by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** The name of the whole by the name of each partition, of tables and indexes. */
export async function wholesOf(pool: pg.Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ part: string; whole: string }>(
    `select relname as part, pg_partition_root(oid)::regclass::text as whole
     from pg_class where relispartition and relname like 'card_payment%'`,
  );
  return new Map(rows.map(({ part, whole }) => [part, whole]));
}
