import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { requireExecutable } from './executables.mjs';
import { freePort, scratchFolder, startServer, unprivilegedUser } from './server.js';

export interface Postgres {
  /** The database `postgres`, as a superuser without a password. */
  readonly url: string;
  /** Makes an empty database on this server and returns its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server on a free port of the loopback address, in a scratch folder.
 *
 * `fsync` is off by default: data survive a killed server, but not a crash of the machine. Benchmarks turn it on.
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<Postgres> {
  const initdb = requireExecutable('initdb');
  const user = unprivilegedUser();
  const folder = scratchFolder('postgres', user);
  const data = join(folder, 'data');
  const initOptions = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  await promisify(execFile)(initdb, [...initOptions, `--pgdata=${data}`], { cwd: folder, ...user });

  const port = await freePort();
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    fsync: 'off',
    ...settings,
  };
  const server = startServer({
    command: join(dirname(initdb), 'postgres'),
    args: ['-D', data, '-p', `${port}`, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    folder,
    stopSignal: 'SIGQUIT',
    user,
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await server.ready(() => query(url, 'select 1'));

  let databases = 0;
  return {
    url,
    async createDatabase() {
      const name = `test_${process.pid}_${++databases}`;
      await query(url, `create database ${name}`);
      return url.replace(/postgres$/, name);
    },
    stop: () => server.stop(),
  };
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}
