import { join } from 'node:path';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { startGalera } from '../services/galera.js';
import { startMariaDb } from '../services/mariadb.js';
import { startPostgres } from '../services/postgres.js';
import { startTcpProxy } from '../services/tcp-proxy.js';
import { makeScratchFolder } from './scratch-folder.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A server or a folder for stores that several processes share and that outlive them. */
export interface SharedStore {
  /** The URL of an empty store. */
  create(): Promise<string>;
  /** The URL by which one of several processes reaches the store, if each has a URL of its own. */
  urlFor?(url: string, process: number): string;
  /** Stops the whole server by SIGSTOP; without it, its connections can be held. */
  freeze?(): Promise<void>;
  thaw?(): Promise<void>;
  /** Removes all stores. */
  stop(): Promise<void>;
}

export const SHARED_STORES = {
  PostgreSQL: async (): Promise<SharedStore> => {
    const postgres = await startPostgres();
    return { create: () => postgres.createDatabase(), stop: () => postgres.stop() };
  },

  MariaDB: async (): Promise<SharedStore> => {
    const mariadb = await startMariaDb();
    const { createDatabase: create, freeze, thaw, stop } = mariadb;
    return { create, freeze, thaw, stop };
  },

  /**
   * The processes are spread over the nodes: every second one reaches one node, and the others reach all nodes
   * by one address, which leads each connection to the next node.
   */
  Galera: async (): Promise<SharedStore> => {
    const galera = await startGalera();
    const ports = galera.nodes.map(({ url }) => Number(new URL(url).port));
    let connections = 0;
    const all = await startTcpProxy(() => ({ port: ports[(connections += 1) % ports.length]! }));
    return {
      create: async () => (await galera.createDatabase())[0]!,
      urlFor: (url, process) => {
        const address = new URL(url);
        address.port = `${process % 2 === 0 ? ports[(process / 2) % ports.length] : all.port}`;
        return address.href;
      },
      stop: () => all.stop().then(() => galera.stop()),
    };
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

/** The store of such a URL, opened, for a test to look into. */
export async function openedStoreAt(url: string, options?: Parameters<typeof openSqlStore>[1]): Promise<PaymentStore> {
  const store = await openSqlStore(url, options);
  await store.open();
  return store;
}
