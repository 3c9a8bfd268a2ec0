import { setTimeout as delay } from 'node:timers/promises';
import { openSqlStore } from 'nestjs-card-payment/sql';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** Longer than it takes, on a busy machine, until the last process has read, too. */
const PAUSE_MS = 500;

/**
 * The negative control: a store that reads, and writes a moment later whatever became of the record. It locks no
 * reference and no payment either.
 */
export async function readThenWriteStore(url: string): Promise<PaymentStore> {
  const store = await openSqlStore(url);
  const replace = store.replace.bind(store);
  store.replace = async (record, previous, event) => {
    const read = async (): Promise<PaymentRecord> => (await store.find(record.account, record.conversationId))!;
    if ((await read()).version !== previous.version) return 'stale';
    await delay(PAUSE_MS);
    for (;;) {
      const last = await read();
      const next = { ...record, version: last.version + 1, referenceLock: null };
      // An event's id is unique, too; that is not what this store is to get wrong.
      const ownEvent = last.version === previous.version ? event : undefined;
      if ((await replace(next, last, ownEvent)) === 'replaced') return 'replaced';
    }
  };
  const insert = store.insert.bind(store);
  /** Refunds that are written a moment after they were acknowledged. */
  const opening = new Map<string, Promise<unknown>>();
  store.insert = (record, event) => {
    if (!isRefund(record)) return insert(record, event);
    const unlocked = { ...record, referenceLock: null, idempotencyKey: null };
    const written = delay(PAUSE_MS).then(() => insert(unlocked, event));
    opening.set(record.conversationId, written);
    return Promise.resolve(null);
  };
  const change = store.replace;
  store.replace = async (record, previous, event) => {
    await opening.get(record.conversationId);
    return change(record, previous, event);
  };
  return store;
}

function isRefund({ kind }: PaymentRecord): boolean {
  return kind === 'refund' || kind === 'void';
}
