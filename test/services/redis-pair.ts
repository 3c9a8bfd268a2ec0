import { ask, type RedisNode, startNode } from './redis.js';
import { startTcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

export interface RedisPair {
  /** The address, which leads to the master until it is moved. */
  readonly url: string;
  /** Waits until the replica has everything that the master has. */
  caughtUp(): Promise<void>;
  /** The replica gets nothing more; the master goes on without it. */
  cutReplication(): Promise<void>;
  /** Ends the master by SIGKILL, as a power cut would. */
  killMaster(): Promise<void>;
  /** Makes the replica a master. Until then it refuses to write. */
  promote(): Promise<void>;
  /** Leads the address to the replica, and breaks the connections that go through it. */
  moveAddress(): void;
  stop(): Promise<void>;
}

/** Starts a Redis server that writes to its disk before it answers, with a replica, behind one address. */
export async function startRedisPair(): Promise<RedisPair> {
  const durable = ['--appendfsync', 'always'];
  const master = await startNode(durable);
  const link = await startTcpProxy(master.node);
  const replica = await startNode([
    ...durable,
    ...['--replicaof', '127.0.0.1', `${link.port}`],
    ...['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'],
  ]);
  const address = await startTcpProxy(master.node);
  const stop = async () =>
    void (await Promise.all([master.server.stop(), replica.server.stop(), link.stop(), address.stop()]));
  return {
    url: `redis://127.0.0.1:${address.port}`,
    caughtUp: () => until(async () => hasAll(await replicationOf(master.node))),
    cutReplication: () => link.goDown(),
    killMaster: () => master.server.end('SIGKILL'),
    promote: async () => void (await ask(replica.node, (redis) => redis.replicaof('NO', 'ONE'))),
    moveAddress: () => address.moveTo(replica.node),
    stop,
  };
}

function replicationOf(node: RedisNode): Promise<string> {
  return ask(node, (redis) => redis.info('replication'));
}

/** What the master says of its replica. */
function hasAll(replication: string): boolean {
  const own = /^master_repl_offset:(\d+)/m.exec(replication)?.[1];
  const theirs = /^slave0:.*state=online,offset=(\d+)/m.exec(replication)?.[1];
  return theirs !== undefined && theirs === own;
}
