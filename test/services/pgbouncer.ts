import { join } from 'node:path';
import { requireExecutable } from './executables.mjs';
import { queryPostgres } from './postgres.js';
import { freePort, newPlace, startServer, writeAt } from './server.js';

export interface PgBouncer {
  /** How a database of the server is reached through it. */
  urlOf(url: string): string;
  stop(): Promise<void>;
}

/** Starts PgBouncer in transaction mode, in front of the server of that URL, on a free port of the loopback address. */
export async function startPgBouncer(
  serverUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const place = newPlace('pgbouncer');
  const port = await freePort();
  const server = new URL(serverUrl);
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: `${port}`,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: '20',
    max_client_conn: '300',
    ...settings,
  };
  const file = join(place.folder, 'pgbouncer.ini');
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=${server.hostname} port=${server.port} user=${server.username}`;
  writeAt(place, file, ['[databases]', database, '[pgbouncer]', ...lines]);

  const command = requireExecutable('pgbouncer');
  const bouncer = startServer({ ...place, command, args: [file], stopSignal: 'SIGTERM' });
  const urlOf = (url: string): string => url.replace(`:${server.port}/`, `:${port}/`);
  await bouncer.ready(() => queryPostgres(urlOf(serverUrl), 'select 1'));
  return { urlOf, stop: () => bouncer.stop() };
}
