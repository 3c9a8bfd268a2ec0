import type { Connection, Pool, RowDataPacket } from 'mysql2/promise';

type Asking = Pick<Connection | Pool, 'query'>;

/** Whether some session of the server waits for the lock of a row. */
export async function isAnyoneWaiting(db: Asking): Promise<boolean> {
  // Not `information_schema.innodb_trx`: while that is read often, it shows what was true at first.
  const [rows] = await db.query<RowDataPacket[]>(`show global status like 'Innodb_row_lock_current_waits'`);
  return Number((rows[0] as { Value: string }).Value) > 0;
}

/** The sessions of a database but for the one that asks. */
export async function sessionsOf(db: Asking, database: string): Promise<number[]> {
  const [rows] = await db.query<RowDataPacket[]>(
    'select id from information_schema.processlist where db = ? and id <> connection_id()',
    [database],
  );
  return rows.map(({ id }) => Number(id));
}
