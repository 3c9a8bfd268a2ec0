import { SHARED_STORES, type SharedStore, type SharedStoreName } from './shared-stores.js';

const started = new Map<SharedStoreName, Promise<SharedStore>>();

/** A server that all tests of a suite share, since each start takes a second: what a test changes of it, it restores. */
export function suiteStore(name: SharedStoreName): Promise<SharedStore> {
  const store = started.get(name) ?? SHARED_STORES[name]();
  started.set(name, store);
  return store;
}

afterAll(async () => {
  for (const store of started.values()) await (await store).stop();
});
