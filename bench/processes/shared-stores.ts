import pg from 'pg';
import { startPostgres } from '../../test/services/postgres.js';
import { cpuOfFamily, parentOf } from './cpu.js';

/** A database server that processes share, durable as in production. */
export interface SharedStore {
  readonly name: string;
  /** The URL of an empty store. */
  create(): Promise<string>;
  /** The CPU time of the server so far, in milliseconds. */
  cpuMs(): number;
  stop(): Promise<void>;
}

export async function sharedPostgres(): Promise<SharedStore> {
  const postgres = await startPostgres({ fsync: 'on' });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const server = parentOf(rows[0]!.pid);
  await client.end();
  return {
    name: 'PostgreSQL',
    create: () => postgres.createDatabase(),
    cpuMs: () => cpuOfFamily(server),
    stop: () => postgres.stop(),
  };
}
