import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { PaymentClock, PaymentStore } from 'nestjs-card-payment';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { openSqlStore } from 'nestjs-card-payment/sql';
import pg from 'pg';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';
import { startTcpProxy, type TcpProxy } from '../services/tcp-proxy.js';
import { makeScratchFolder } from './scratch-folder.js';

export const STORE_NAMES = ['postgres', 'sqlite', 'redis'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** A store that all processes share, and what can happen to it. */
export interface SharedStore {
  /** As the shop reaches it. */
  readonly url: string;
  /** Past everything that disturbs the shop. */
  connect(clock?: PaymentClock): Promise<PaymentStore>;
  /** Each lasts about as long as it is given, and is over when its promise resolves. */
  readonly troubles: Readonly<Record<string, (ms: number) => Promise<void>>>;
  stop(): Promise<void>;
}

export const SHARED_STORES: Readonly<Record<StoreName, () => Promise<SharedStore>>> = {
  postgres: startSharedPostgres,
  sqlite: makeSharedSqlite,
  redis: startSharedRedis,
};

async function startSharedPostgres(): Promise<SharedStore> {
  const server = await startPostgres();
  const direct = await server.createDatabase();
  const proxy = await startTcpProxy({ port: Number(new URL(direct).port) });
  return {
    url: withPort(direct, proxy.port),
    connect: (clock) => openSqlStore(direct, { clock }),
    troubles: { ...proxyTroubles(proxy), crash: () => crashPostgres(direct) },
    stop: () => proxy.stop().then(() => server.stop()),
  };
}

async function startSharedRedis(): Promise<SharedStore> {
  const server = await startRedis({ args: ['--appendfsync', 'always'] });
  const proxy = await startTcpProxy({ port: server.nodes[0]?.port ?? 0 });
  return {
    url: withPort(server.url, proxy.port),
    connect: (clock) => openRedisStore(server.url, { clock }),
    troubles: proxyTroubles(proxy),
    stop: () => proxy.stop().then(() => server.stop()),
  };
}

function makeSharedSqlite(): Promise<SharedStore> {
  const file = join(makeScratchFolder(), 'payments.db');
  return Promise.resolve({
    url: `sqlite:${file}`,
    connect: (clock) => openSqlStore(`sqlite:${file}`, { clock }),
    troubles: { lock: (ms) => lockSqlite(file, ms) },
    stop: () => Promise.resolve(),
  });
}

function proxyTroubles(proxy: TcpProxy): SharedStore['troubles'] {
  return {
    freeze: async (ms) => {
      proxy.freeze();
      await delay(ms);
      proxy.thaw();
    },
    outage: async (ms) => {
      await proxy.goDown();
      await delay(ms / 2);
      await proxy.comeUp();
    },
    'lost answer': () => Promise.resolve(proxy.loseNextAnswer()),
  };
}

/** Kills one of the server's processes: the server then ends all others and recovers by itself. */
async function crashPostgres(url: string): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const gone = new Promise((resolve) => client.once('end', resolve));
  process.kill(rows[0]!.pid, 'SIGKILL');
  await gone;
}

/** What a long backup or another program's transaction does. */
async function lockSqlite(file: string, ms: number): Promise<void> {
  const db = new Database(file, { timeout: 10_000 });
  try {
    db.exec('begin immediate');
    await delay(ms);
    db.exec('rollback');
  } finally {
    db.close();
  }
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
