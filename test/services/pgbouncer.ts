import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { requireExecutable } from './executables.mjs';
import { freePort, scratchFolder, startServer, unprivilegedUser } from './server.js';

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
  const user = unprivilegedUser();
  const folder = scratchFolder('pgbouncer', user);
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
  const file = join(folder, 'pgbouncer.ini');
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=${server.hostname} port=${server.port} user=${server.username}`;
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
  if (user) chownSync(file, user.uid, user.gid);

  const bouncer = startServer({
    command: requireExecutable('pgbouncer'),
    args: [file],
    folder,
    stopSignal: 'SIGTERM',
    user,
  });
  const urlOf = (url: string): string => url.replace(`:${server.port}/`, `:${port}/`);
  await bouncer.ready(async () => {
    const client = new pg.Client({ connectionString: urlOf(serverUrl) });
    client.on('error', () => undefined);
    await client.connect();
    await client.end();
  });
  return { urlOf, stop: () => bouncer.stop() };
}
