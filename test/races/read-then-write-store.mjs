// The negative control: a store that looks, and writes a moment later whatever became of the record. It locks no reference either.
import { setTimeout } from 'node:timers/promises';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { openSqlStore } from 'nestjs-card-payment/sql';

/** Longer than it takes, on a busy machine, until the last process has looked, too. */
const A_MOMENT_MS = 500;

/** The store of this URL, with the flaw. */
export async function readThenWriteStore(url) {
  const store = await (url.startsWith('redis:') ? openRedisStore(url) : openSqlStore(url));
  const replace = store.replace.bind(store);
  store.replace = async (record, expectedVersion, event) => {
    const version = async () => (await store.find(record.account, record.conversationId)).version;
    if ((await version()) !== expectedVersion) return 'stale';
    await setTimeout(A_MOMENT_MS);
    for (;;) {
      const last = await version();
      const next = { ...record, version: last + 1, referenceLock: null };
      // An event's id is unique too; that is not what is tried here.
      const ownEvent = last === expectedVersion ? event : undefined;
      if ((await replace(next, last, ownEvent)) === 'replaced') return 'replaced';
    }
  };
  return store;
}
