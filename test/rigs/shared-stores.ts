import { join } from 'node:path';
import type { PaymentClock, PaymentStore } from 'nestjs-card-payment';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';
import { makeScratchFolder } from './scratch-folder.js';

/** A server or a folder for stores that several processes share and that outlive them. */
export interface SharedStore {
  /** The URL of an empty store. */
  create(): Promise<string>;
  /** Removes all stores. */
  stop(): Promise<void>;
}

export const SHARED_STORES = {
  PostgreSQL: async (): Promise<SharedStore> => {
    const postgres = await startPostgres();
    return { create: () => postgres.createDatabase(), stop: () => postgres.stop() };
  },

  /** Redis writes each change to its disk before it answers. */
  Redis: async (): Promise<SharedStore> => {
    const redis = await startRedis({ args: ['--appendfsync', 'always'] });
    let databases = 0;
    return { create: () => Promise.resolve(`${redis.url}/${(databases += 1)}`), stop: () => redis.stop() };
  },

  SQLite: (): Promise<SharedStore> => {
    const { path, remove } = makeScratchFolder('sqlite');
    let files = 0;
    return Promise.resolve({
      create: () => Promise.resolve(`sqlite:${join(path, `${(files += 1)}.db`)}`),
      stop: () => Promise.resolve(remove()),
    });
  },
} satisfies Readonly<Record<string, () => Promise<SharedStore>>>;

export type SharedStoreName = keyof typeof SHARED_STORES;

/** The store of such a URL, before it is opened; with the clock's time if one is given. */
export function storeAt(url: string, clock?: PaymentClock): Promise<PaymentStore> {
  return url.startsWith('redis:') ? openRedisStore(url, { clock }) : openSqlStore(url, { clock });
}

/** The same store, opened, for a test to look into. */
export async function openedStoreAt(url: string): Promise<PaymentStore> {
  const store = await storeAt(url);
  await store.open();
  return store;
}
