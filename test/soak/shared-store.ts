import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { PaymentClock } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { SHARED_STORES, type SharedStoreName } from '../rigs/shared-stores.js';
import { queryMariaDb } from '../services/mariadb.js';
import { queryPostgres } from '../services/postgres.js';
import { startTcpProxy, type TcpProxy } from '../services/tcp-proxy.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export const STORE_NAMES = ['postgres', 'mariadb', 'sqlite'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

type Troubles = Readonly<Record<string, (ms: number) => Promise<void>>>;

/** A store that all processes share, and what can happen to it. */
export interface DisturbedStore {
  /** The shop's URL of it. */
  readonly url: string;
  /** The store on a connection that nothing disturbs. */
  connect(clock?: PaymentClock): Promise<PaymentStore>;
  /** Each lasts about as long as it is given, and is over when its promise resolves. */
  readonly troubles: Troubles;
  stop(): Promise<void>;
}

export const DISTURBED_STORES: Readonly<Record<StoreName, () => Promise<DisturbedStore>>> = {
  postgres: () => behindProxy('PostgreSQL', (url) => ({ crash: () => crashPostgres(url) })),
  mariadb: () => behindProxy('MariaDB', (url) => ({ 'killed sessions': () => killSessions(url) })),
  sqlite: async () => {
    const files = await SHARED_STORES.SQLite();
    const url = await files.create();
    return {
      url,
      connect: (clock) => openSqlStore(url, { clock }),
      troubles: { lock: (ms) => lockSqlite(url.replace('sqlite:', ''), ms) },
      stop: () => files.stop(),
    };
  },
};

async function behindProxy(
  name: SharedStoreName,
  moreTroubles: (url: string) => Troubles = () => ({}),
): Promise<DisturbedStore> {
  const server = await SHARED_STORES[name]();
  const direct = new URL(await server.create());
  const proxy = await startTcpProxy({ port: Number(direct.port) });
  const proxied = new URL(direct);
  proxied.port = String(proxy.port);
  return {
    url: proxied.href,
    connect: (clock) => openSqlStore(direct.href, { clock }),
    troubles: { ...proxyTroubles(proxy), ...moreTroubles(direct.href) },
    stop: () => proxy.stop().then(() => server.stop()),
  };
}

function proxyTroubles(proxy: TcpProxy): Troubles {
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
  const writer = `select pid from pg_stat_activity where backend_type = 'walwriter'`;
  const [{ pid } = {}] = await queryPostgres(url, writer);
  if (pid === undefined) throw new Error('PostgreSQL has no process that writes its log.');
  process.kill(Number(pid), 'SIGKILL');
}

/** Ends every session of the database, whatever it does. */
async function killSessions(url: string): Promise<void> {
  const sessions = 'select id from information_schema.processlist where db = database() and id <> connection_id()';
  for (const { id } of await queryMariaDb(url, sessions)) {
    // It may have ended by itself.
    await queryMariaDb(url, `kill ${id}`).catch(() => undefined);
  }
}

/** Locks the file for a while, as a long backup or another program's transaction does. */
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
