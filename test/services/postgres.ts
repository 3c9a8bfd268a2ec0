import { execFile } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findPostgres18, requireExecutable, requireFound } from './executables.mjs';
import { databaseNames, freePort, scratchFolder, startServer, unprivilegedUser, type User } from './server.js';

export interface Postgres {
  /** The database `postgres`, as a superuser without a password. */
  readonly url: string;
  /** Makes an empty database on this server and returns its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

export type PostgresSettings = Readonly<Record<string, string>>;

export interface PostgresOptions {
  /** The folder of `initdb` and `postgres`, by default that of the first `initdb` in the PATH. */
  readonly binaries?: string;
}

/**
 * Starts a PostgreSQL server on a free port of the loopback address, in a scratch folder.
 *
 * `fsync` is off by default: data survive a killed server, but not a crash of the machine. Benchmarks turn it on.
 */
export async function startPostgres(
  settings: PostgresSettings = {},
  { binaries = installedPostgres() }: PostgresOptions = {},
): Promise<Postgres> {
  const user = unprivilegedUser();
  const folder = scratchFolder('postgres', user);
  const data = join(folder, 'data');
  const bin = await readableBinaries(binaries, folder, user);
  await initializePostgres(bin, data, user);

  const port = await freePort();
  const server = startServer({
    command: join(bin, 'postgres'),
    args: postgresArgs(data, port, settings),
    folder,
    stopSignal: 'SIGQUIT',
    user,
  });
  const url = postgresUrl(port);
  await server.ready(() => queryPostgres(url, 'select 1'));

  const newName = databaseNames();
  return {
    url,
    async createDatabase() {
      const name = newName();
      await queryPostgres(url, `create database ${name}`);
      return url.replace(/postgres$/, name);
    },
    stop: () => server.stop(),
  };
}

/** The folder of the binaries that the PATH or the system's packages have. */
export function installedPostgres(): string {
  return dirname(requireExecutable('initdb'));
}

/** The folder of PostgreSQL 18's `initdb` and `postgres`, which come from the npm registry. */
export function postgres18(): string {
  return requireFound('PostgreSQL 18', findPostgres18());
}

/** The same folder, or a copy below `folder` if that user may not run what is in it, such as root's own node_modules. */
export async function readableBinaries(binaries: string, folder: string, user: User | undefined): Promise<string> {
  try {
    await promisify(execFile)('test', ['-x', join(binaries, 'postgres')], { cwd: folder, ...user });
    return binaries;
  } catch {
    await promisify(execFile)('cp', ['-R', dirname(binaries), join(folder, 'server')]);
    return join(folder, 'server', basename(binaries));
  }
}

export async function initializePostgres(binaries: string, data: string, user: User | undefined): Promise<void> {
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  await promisify(execFile)(join(binaries, 'initdb'), [...options, `--pgdata=${data}`], {
    cwd: dirname(data),
    ...user,
  });
}

/** Arguments that set these and, unless they say otherwise, the settings for tests. */
export function postgresArgs(data: string, port: number, settings: PostgresSettings): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    fsync: 'off',
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
