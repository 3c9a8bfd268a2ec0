import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  initializePostgres,
  installedPostgres,
  postgresArgs,
  type PostgresSettings,
  postgresUrl,
  queryPostgres,
} from './postgres.js';
import { databasesAt, freePort, newPlace, runAt, startServer } from './server.js';
import { type Move, startTcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

export interface PostgresPair {
  /** The database `postgres` at the address, which leads to the primary until it is moved. */
  readonly url: string;
  /** Makes an empty database and returns its URL at the address. */
  createDatabase(): Promise<string>;
  /** Ends the primary and its sessions by SIGKILL, as a power cut would. */
  killPrimary(): Promise<void>;
  /** Shuts it down in an orderly way: sessions get 57P01, and the standby gets everything. */
  shutDownPrimary(): Promise<void>;
  freezePrimary(): Promise<void>;
  thawPrimary(): Promise<void>;
  /** The standby gets nothing more. Commits wait for it if it is synchronous, and otherwise may be lost. */
  cutReplication(): Promise<void>;
  /** Waits until the standby has, and shows, everything that the primary has. */
  caughtUp(): Promise<void>;
  /** Makes the standby a primary. Until then it refuses to write with 25006. */
  promote(): Promise<void>;
  /** Leads the address to the other server, by default the standby; see `moveTo` of a TCP proxy. */
  moveAddress(move?: Move & { readonly to?: 'primary' | 'standby' }): void;
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL primary with a streaming standby, behind one address of the loopback interface.
 *
 * @param synchronous whether a commit waits until the standby has it
 */
export async function startPostgresPair({ synchronous }: { synchronous: boolean }): Promise<PostgresPair> {
  const places = { primary: newPlace('postgres'), standby: newPlace('postgres') };
  const data = { primary: join(places.primary.folder, 'data'), standby: join(places.standby.folder, 'data') };
  const bin = installedPostgres();
  await initializePostgres(data.primary, places.primary);
  // A copy of a server that has never run is as good as pg_basebackup's, and takes less time.
  await runAt(places.standby, 'cp', ['-R', data.primary, data.standby]);
  writeFileSync(join(data.standby, 'standby.signal'), '');

  const port = { primary: await freePort(), standby: await freePort() };
  const link = await startTcpProxy({ port: port.primary });
  const start = (name: 'primary' | 'standby', own: PostgresSettings) =>
    startServer({
      ...places[name],
      command: join(bin, 'postgres'),
      args: postgresArgs(data[name], port[name], { wal_keep_size: '512MB', ...own }),
      stopSignal: 'SIGQUIT',
    });
  const primary = start('primary', synchronous ? { synchronous_standby_names: 'standby' } : {});
  const standby = start('standby', {
    primary_conninfo: `host=127.0.0.1 port=${link.port} user=postgres application_name=standby`,
    wal_retrieve_retry_interval: '100ms',
  });
  const address = await startTcpProxy({ port: port.primary });
  const stop = async () => void (await Promise.all([primary.stop(), standby.stop(), link.stop(), address.stop()]));
  const direct = { primary: postgresUrl(port.primary), standby: postgresUrl(port.standby) };
  const state = synchronous ? 'sync' : 'async';
  try {
    await primary.ready(async () => {
      const [row] = await queryPostgres(direct.primary, 'select state, sync_state from pg_stat_replication');
      if (row?.state !== 'streaming' || row.sync_state !== state) {
        throw new Error('the standby does not follow the primary yet');
      }
    });
    await standby.ready(() => queryPostgres(direct.standby, 'select 1'));
  } catch (error) {
    await stop();
    throw error;
  }

  const url = postgresUrl(address.port);
  return {
    url,
    createDatabase: databasesAt(url, queryPostgres),
    killPrimary: () => primary.end('SIGKILL'),
    shutDownPrimary: () => primary.end('SIGINT'),
    freezePrimary: () => primary.freeze(),
    thawPrimary: () => primary.thaw(),
    cutReplication: () => link.goDown(),
    caughtUp: () => until(async () => (await lag(direct.primary)) === 0),
    promote: async () => void (await queryPostgres(direct.standby, 'select pg_promote()')),
    moveAddress: ({ to = 'standby', ...move } = {}) => address.moveTo({ port: port[to] }, move),
    stop,
  };
}

/** How many bytes of its log the primary has that its standby does not show yet; null while there is no standby. */
async function lag(primary: string): Promise<number | null> {
  const sql = 'select pg_current_wal_lsn() - replay_lsn as bytes from pg_stat_replication';
  const [row] = await queryPostgres(primary, sql);
  return row ? Number(row.bytes) : null;
}
