import type { SqlPaymentStore } from 'nestjs-card-payment/sql';

/** What was read so far, by index and table. */
export type ReadsByName = ReadonlyMap<string, number>;

/** A store over one connection, and what it reads. */
export interface WatchedStore {
  readonly store: SqlPaymentStore;
  /** Bytes of each table and index. */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Renews what the server knows about its tables. */
  analyze(): Promise<void>;
  reads(): Promise<ReadsByName>;
  /** Indexes that were searched since the last call, and tables that were read as a whole, with a `!`. */
  searched(): Promise<readonly string[]>;
  end(): Promise<void>;
}

/** A server that `npm run bench -- scale` fills with payments and looks into. */
export interface ScaleServer {
  /** What is counted: `pages of 8 KiB`. */
  readonly unit: string;
  /** @returns the URL of a new database with the tables for payments */
  create(): Promise<string>;
  drop(url: string): Promise<void>;
  /** Fills empty tables with settled payments as the store writes them. */
  fill(url: string, stored: number): Promise<void>;
  /** A store that is not opened yet. */
  storeOf(url: string, maxConnections: number): SqlPaymentStore;
  /** @param used is called with the milliseconds for which a connection was in use */
  timedStoreOf(
    url: string,
    used: (ms: number) => void,
  ): { readonly store: SqlPaymentStore; readonly end: () => Promise<void> };
  watch(url: string): Promise<WatchedStore>;
  stop(): Promise<void>;
}
