import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { UniqueKey } from '../payment-store.js';
import type { SqlDatabase } from './sql-database.js';
import type { LedgerWrites } from './sql-engine.js';
import { firstTaken, takenKeys } from './sql-ledger.js';

/** How often a write is tried: a key that was taken may be free again when its owner is looked up. */
const MAX_TRIES = 5;

/** One try of each write. It returns how many records it wrote; null when a unique key was taken, and undid all of it. */
export interface WriteTries {
  insert(database: SqlDatabase, record: PaymentRecord, event?: LedgerEvent): Promise<number | null>;
  replace(
    database: SqlDatabase,
    record: PaymentRecord,
    previous: PaymentRecord,
    event?: LedgerEvent,
  ): Promise<number | null>;
}

/** Writes the ledger where a unique key that is taken undoes the whole write. */
export function ledgerWritesBy(tries: WriteTries): LedgerWrites {
  return {
    insert(database, record, event) {
      return tryOften(async () => {
        if ((await tries.insert(database, record, event)) !== null) return { outcome: null };
        const key = await takenKey(database, record, null);
        return key && { outcome: key };
      });
    },

    replace(database, record, previous, event) {
      return tryOften(async () => {
        const written = await tries.replace(database, record, previous, event);
        if (written !== null) return { outcome: written === 0 ? 'stale' : 'replaced' };
        const key = await takenKey(database, record, record.conversationId);
        if (key && key !== 'referenceLock') throw new Error(`another payment has this ${key}`);
        return key && { outcome: 'locked' };
      });
    },
  };
}

/** @param once returns null when a key was taken, and is free again */
async function tryOften<T>(once: () => Promise<{ readonly outcome: T } | null>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const done = await once();
    if (done) return done.outcome;
  }
  throw new Error('a key of the payment is taken and given up again and again');
}

/** The key of the record that another payment has; see {@link takenKeys}. */
async function takenKey(database: SqlDatabase, record: PaymentRecord, ownId: string | null): Promise<UniqueKey | null> {
  const [taken] = await database.find(takenKeys(database, record, ownId));
  return firstTaken(taken, record, ownId);
}
