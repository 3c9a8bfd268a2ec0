import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { requireExecutable } from './executables.mjs';
import { freePort, scratchFolder, startServer, type Server } from './server.js';

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export interface RedisServer {
  /** The server, or the cluster's first node. */
  readonly url: string;
  /** The server alone, or the cluster's three masters. */
  readonly nodes: readonly RedisNode[];
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Starts three masters that share the slots. */
  readonly cluster?: boolean;
  /** Further arguments, such as `['--maxmemory-policy', 'allkeys-lru']`; the last one wins. */
  readonly args?: readonly string[];
}

/**
 * Starts a Redis server, or a cluster, on free ports of the loopback address, in scratch folders, with an append-only
 * file and without eviction.
 */
export async function startRedis({ cluster = false, args = [] }: RedisServerOptions = {}): Promise<RedisServer> {
  const members = await Promise.all(
    Array.from({ length: cluster ? 3 : 1 }, () =>
      startNode([...(cluster ? ['--cluster-enabled', 'yes'] : []), ...args]),
    ),
  );
  const nodes = members.map(({ node }) => node);
  const stop = async () => void (await Promise.all(members.map(({ server }) => server.stop())));
  if (cluster) {
    try {
      await join(nodes);
      await Promise.all(members.map(({ server, node }) => server.ready(() => clusterIsUp(node))));
    } catch (error) {
      await stop();
      throw error;
    }
  }
  return { url: `redis://127.0.0.1:${nodes[0]?.port}`, nodes, stop };
}

/** Starts a server with these further arguments. */
export async function startNode(args: readonly string[]): Promise<{ server: Server; node: RedisNode }> {
  const node = { host: '127.0.0.1', port: await freePort() };
  const folder = scratchFolder('redis');
  const settings = [
    '--port',
    `${node.port}`,
    '--bind',
    node.host,
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'yes',
  ];
  const server = startServer({
    command: requireExecutable('redis-server'),
    args: [...settings, '--maxmemory-policy', 'noeviction', ...args],
    folder,
    stopSignal: 'SIGKILL',
  });
  await server.ready(() => ask(node, (redis) => redis.ping()));
  return { server, node };
}

async function join(nodes: readonly RedisNode[]): Promise<void> {
  const addresses = nodes.map(({ host, port }) => `${host}:${port}`);
  const options = ['--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes'];
  await promisify(execFile)(requireExecutable('redis-cli'), options);
}

async function clusterIsUp(node: RedisNode): Promise<void> {
  const info = await ask(node, (redis) => redis.cluster('INFO'));
  if (!info.includes('cluster_state:ok') || !info.includes('cluster_slots_ok:16384')) {
    throw new Error('the cluster is not up yet');
  }
}

/** Asks over a connection of its own. */
export async function ask<T>(node: RedisNode, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ ...node, lazyConnect: true, retryStrategy: () => null, enableOfflineQueue: false });
  redis.on('error', () => undefined);
  await redis.connect();
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
