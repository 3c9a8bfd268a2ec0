import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { requireExecutable } from './executables.mjs';
import { databasesAt, freePort, newPlace, type Place, runAt, type Server, startServer } from './server.js';

export interface MariaDb {
  /** The database `test`, as a user with every right and a password. */
  readonly url: string;
  /** Makes an empty database on this server and returns its URL. */
  createDatabase(): Promise<string>;
  /** Stops it by SIGSTOP: connections stay open, and nothing is answered until {@link thaw}. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  stop(): Promise<void>;
}

export type MariaDbSettings = Readonly<Record<string, string>>;

const USER = 'shop';
const PASSWORD = 'password-of-the-shop';

/**
 * Starts a MariaDB server on a free port of the loopback address, in a scratch folder.
 *
 * By default nothing waits for the disk: data survive a killed server, but not a crash of the machine. Benchmarks set
 * `debug_no_sync` to 0 and `innodb_flush_log_at_trx_commit` to 1.
 */
export async function startMariaDb(settings: MariaDbSettings = {}): Promise<MariaDb> {
  const place = newPlace('mariadb');
  const data = await makeDataFolder(place);
  const port = await freePort();
  const args = mariaDbArgs(place, { datadir: data, port: `${port}`, ...settings });
  const server = startMariaDbServer(place, args);
  await server.ready(() => createShop(port));

  const url = urlAt(port);
  return {
    url,
    createDatabase: databasesAt(url, queryMariaDb),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    stop: () => server.stop(),
  };
}

export function startMariaDbServer(place: Place, args: readonly string[]): Server {
  return startServer({ ...place, command: requireExecutable('mariadbd'), args, stopSignal: 'SIGKILL' });
}

/** Without waiting for the disk this takes half a second, and otherwise two. @returns the folder */
export async function makeDataFolder(place: Place): Promise<string> {
  const options = ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'];
  const datadir = join(place.folder, 'data');
  await runAt(place, requireExecutable('mariadb-install-db'), [...mariaDbArgs(place, { datadir }), ...options]);
  return datadir;
}

/** Arguments that set these and, unless they say otherwise, the settings of a small server for tests. */
export function mariaDbArgs({ folder }: Place, settings: MariaDbSettings): string[] {
  const all = {
    socket: join(folder, 'socket'),
    // A server that starts deletes the temporary tables that it finds, and they may be another one's.
    tmpdir: folder,
    bind_address: '127.0.0.1',
    skip_name_resolve: '1',
    character_set_server: 'utf8mb4',
    max_connections: '300',
    performance_schema: '0',
    innodb_buffer_pool_size: '64M',
    innodb_log_file_size: '32M',
    // As in production, but nobody waits until the disk has it.
    innodb_flush_log_at_trx_commit: '1',
    debug_no_sync: '1',
    ...settings,
  };
  // The machine's own configuration must not count.
  return ['--no-defaults', ...Object.entries(all).map(([name, value]) => `--${name}=${value}`)];
}

export function urlAt(port: number): string {
  return `mariadb://${USER}:${PASSWORD}@127.0.0.1:${port}/test`;
}

/** Makes the database and the user of {@link urlAt}, as the root that a new data folder has. */
export async function createShop(port: number): Promise<void> {
  const root = `mariadb://root@127.0.0.1:${port}`;
  await queryMariaDb(root, 'create database if not exists test');
  await queryMariaDb(root, `create user if not exists ${USER} identified by '${PASSWORD}'`);
  await queryMariaDb(root, `grant all on *.* to ${USER} with grant option`);
}

/** The rows of one statement, over a connection of its own. */
export async function queryMariaDb(url: string, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ uri: url, connectTimeout: 5000 });
  connection.on('error', () => undefined);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    connection.destroy();
  }
}
