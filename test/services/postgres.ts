import { dirname, join } from 'node:path';
import pg from 'pg';
import { requireExecutable } from './executables.mjs';
import { databasesAt, freePort, newPlace, type Place, runAt, startServer } from './server.js';

export interface Postgres {
  /** The database `postgres`, as a superuser without a password. */
  readonly url: string;
  /** Makes an empty database on this server and returns its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

export type PostgresSettings = Readonly<Record<string, string>>;

/**
 * Starts a PostgreSQL server on a free port of the loopback address, in a scratch folder.
 *
 * `fsync` is off by default: data survive a killed server, but not a crash of the machine. Benchmarks turn it on.
 */
export async function startPostgres(settings: PostgresSettings = {}): Promise<Postgres> {
  const place = newPlace('postgres');
  const data = join(place.folder, 'data');
  await initializePostgres(data, place);

  const port = await freePort();
  const args = postgresArgs(data, port, settings);
  const server = startServer({ ...place, command: join(installedPostgres(), 'postgres'), args, stopSignal: 'SIGQUIT' });
  const url = postgresUrl(port);
  await server.ready(() => queryPostgres(url, 'select 1'));
  return { url, createDatabase: databasesAt(url, queryPostgres), stop: () => server.stop() };
}

/** The folder of `initdb` and `postgres` that the PATH or the system's packages have. */
export function installedPostgres(): string {
  return dirname(requireExecutable('initdb'));
}

export function initializePostgres(data: string, place: Place): Promise<void> {
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  return runAt(place, join(installedPostgres(), 'initdb'), [...options, `--pgdata=${data}`]);
}

/** Arguments that set these and, unless they say otherwise, the settings for tests. */
export function postgresArgs(data: string, port: number, settings: PostgresSettings): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    fsync: 'off',
    // A session looks for a deadlock once, after this time: on a busy machine, the other one may not wait yet after one second.
    deadlock_timeout: '3s',
    ...settings,
  };
  return ['-D', data, '-p', `${port}`, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

export function postgresUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** The rows of one statement, over a connection of its own. */
export async function queryPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
