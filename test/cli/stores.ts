import { startPostgres } from '../services/postgres.js';

export interface TestStore {
  readonly url: string;
  stop(): Promise<void>;
}

/** The stores that several processes can open, by name; SQLite's file is in the folder. */
export const STORES: Readonly<Record<string, (folder: string) => Promise<TestStore>>> = {
  SQLite: (folder) => Promise.resolve({ url: `sqlite:${folder}/payments.sqlite`, stop: () => Promise.resolve() }),
  PostgreSQL: async () => {
    const postgres = await startPostgres();
    return { url: await postgres.createDatabase(), stop: () => postgres.stop() };
  },
};
