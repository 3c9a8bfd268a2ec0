import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { findGalera, requireFound } from './executables.mjs';
import {
  createShop,
  makeDataFolder,
  mariaDbArgs,
  type MariaDbSettings,
  queryMariaDb,
  startMariaDbServer,
  urlAt,
} from './mariadb.js';
import { databasesAt, freePort, newPlace, type Place, runAt, type Server, writeAt } from './server.js';

export interface GaleraNode {
  /** The database `test` at this node, as a user with every right and a password. */
  readonly url: string;
  /** Whether it says that it takes statements. A node that was left out says so until it notices. */
  isSynced(): Promise<boolean>;
  /** Ends it by SIGKILL. The others wait {@link SUSPECT_SECONDS} before they go on without it. */
  kill(): Promise<void>;
  /** Starts it after {@link kill}; it copies its data from another node, and is synced when this resolves. */
  restart(): Promise<void>;
  /** Stops it by SIGSTOP. The others go on without it as if it were killed. */
  freeze(): Promise<void>;
  /** The node notices later that it was left out, and joins again by itself. */
  thaw(): Promise<void>;
  /** Cuts it off from the other nodes. Clients still reach it. */
  partition(): Promise<void>;
  heal(): Promise<void>;
}

export interface Galera {
  readonly nodes: readonly GaleraNode[];
  /** Makes an empty database and returns its URL at each node. */
  createDatabase(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

interface Member {
  readonly uuid: string;
  readonly place: Place;
  readonly data: string;
  /** For clients, other nodes, and copies of the missing writes or of all data. */
  readonly ports: Readonly<Record<'sql' | 'group' | 'writes' | 'data', number>>;
}

const NODES = 3;
/** A node that is not heard of for so long is left out. Galera's own value is 5, and 15 for the longer limit. */
const SUSPECT_SECONDS = 2;
const GROUP_OPTIONS = [
  `evs.suspect_timeout=PT${SUSPECT_SECONDS}S`,
  `evs.inactive_timeout=PT${2 * SUSPECT_SECONDS}S`,
  `evs.install_timeout=PT${SUSPECT_SECONDS}S`,
  'evs.keepalive_period=PT0.1S',
  'evs.inactive_check_period=PT0.1S',
  'evs.join_retrans_period=PT0.1S',
  'gmcast.peer_timeout=PT1S',
  'pc.announce_timeout=PT1S',
  'gcache.size=16M',
];

/**
 * Starts a Galera cluster on the loopback address, in scratch folders.
 *
 * All nodes have the same data and the same saved state at first, as after a power cut, so that they find each other
 * within three seconds and copy nothing. One after the other they would take more than ten.
 */
export async function startGalera(): Promise<Galera> {
  const provider = requireFound('Galera (for Linux)', findGalera());
  const members = await newMembers();
  await makeData(members);
  const cluster = {
    wsrep_on: '1',
    wsrep_provider: provider,
    wsrep_cluster_name: 'test',
    wsrep_cluster_address: `gcomm://${members.map(({ ports }) => `127.0.0.1:${ports.group}`).join()}`,
    wsrep_sst_method: 'rsync',
    binlog_format: 'ROW',
    default_storage_engine: 'InnoDB',
    innodb_autoinc_lock_mode: '2',
    innodb_buffer_pool_size: '32M',
  };
  const started = members.map((member) => startMember(member, cluster));
  const stop = async () => void (await Promise.all(started.map(({ server }) => server.stop())));
  try {
    const [first] = members;
    await started[0]?.server.ready(() => createShop(first!.ports.sql));
    await Promise.all(started.map(({ server, node }) => server.ready(() => synced(node))));
  } catch (error) {
    await stop();
    throw error;
  }

  const createDatabase = databasesAt(urlAt(members[0]!.ports.sql), queryMariaDb);
  return {
    nodes: started.map(({ node }) => node),
    async createDatabase() {
      const name = new URL(await createDatabase()).pathname.slice(1);
      const urls = members.map(({ ports }) => urlAt(ports.sql).replace(/test$/, name));
      await Promise.all(started.map(({ server }, index) => server.ready(() => queryMariaDb(urls[index]!, 'select 1'))));
      return urls;
    },
    stop,
  };
}

function startMember(
  { place, data, ports }: Member,
  cluster: MariaDbSettings,
): { readonly server: Server; readonly node: GaleraNode } {
  const options = [
    ...GROUP_OPTIONS,
    `gmcast.listen_addr=tcp://127.0.0.1:${ports.group}`,
    `ist.recv_addr=127.0.0.1:${ports.writes}`,
  ];
  const args = mariaDbArgs(place, {
    ...cluster,
    datadir: data,
    port: `${ports.sql}`,
    wsrep_node_address: `127.0.0.1:${ports.group}`,
    wsrep_sst_receive_address: `127.0.0.1:${ports.data}`,
    wsrep_provider_options: options.join(';'),
  });
  const server = startMariaDbServer(place, args);
  const url = urlAt(ports.sql);
  const isolate = async (value: 0 | 1) =>
    void (await queryMariaDb(url, `set global wsrep_provider_options = 'gmcast.isolate=${value}'`));
  const node: GaleraNode = {
    url,
    isSynced: async () => {
      const rows = await queryMariaDb(
        url,
        `show global status where variable_name = 'wsrep_ready' and value = 'ON'
           or variable_name = 'wsrep_local_state_comment' and value = 'Synced'`,
      );
      return rows.length === 2;
    },
    kill: () => server.end('SIGKILL'),
    async restart() {
      await server.startAgain(args);
      await server.ready(() => synced(node));
    },
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    partition: () => isolate(1),
    heal: () => isolate(0),
  };
  return { server, node };
}

async function synced(node: GaleraNode): Promise<void> {
  if (!(await node.isSynced())) {
    throw new Error('the node is not synced yet');
  }
}

async function newMembers(): Promise<Member[]> {
  const taken = new Set<number>();
  const port = async () => {
    const { size } = taken;
    while (taken.size === size) taken.add(await freePort());
    return [...taken][size]!;
  };
  const members: Member[] = [];
  while (members.length < NODES) {
    const place = newPlace('galera');
    const ports = { sql: await port(), group: await port(), writes: await port(), data: await port() };
    members.push({ uuid: newUuid(), place, data: join(place.folder, 'data'), ports });
  }
  return members;
}

/** Of version 1, as Galera's own are: it tells them apart by their first bytes, and a later start by the time in them. */
function newUuid(): string {
  return randomUUID().replace(/^(.{8})-.{4}-4/, '$1-e71a-1');
}

/** The data folder of each member, and in it what a node saves about itself and about the members that it last saw. */
async function makeData(members: readonly Member[]): Promise<void> {
  const [first, ...others] = members;
  const original = await makeDataFolder(first!.place);
  await Promise.all(others.map(({ place, data }) => runAt(place, 'cp', ['-R', original, data])));
  const history = newUuid();
  for (const { uuid, place, data } of members) {
    const state = ['version: 2.1', `uuid: ${history}`, 'seqno: 0', 'safe_to_bootstrap: 0'];
    writeAt(place, join(data, 'grastate.dat'), state);
    const view = [`view_id: 3 ${first!.uuid} 1`, 'bootstrap: 0', ...members.map(({ uuid }) => `member: ${uuid} 0`)];
    writeAt(place, join(data, 'gvwstate.dat'), [`my_uuid: ${uuid}`, '#vwbeg', ...view, '#vwend']);
  }
}
