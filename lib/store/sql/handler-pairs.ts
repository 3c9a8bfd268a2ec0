import { sql } from 'kysely';
import { setImmediate } from 'node:timers/promises';
import type { HandlerPair } from '../payment-outbox.js';
import { run, type SqlDatabase } from './sql-database.js';
import { withTimeout } from '../../payment/with-timeout.js';
import { MAX_CALL_MS } from './sql-engine.js';

const FORGET_BATCH = 1_000;

export async function announcePairs(
  database: SqlDatabase,
  account: string,
  pairs: readonly HandlerPair[],
): Promise<void> {
  if (pairs.length === 0) return;
  await database.transaction(async (db) => {
    const announcedAt = database.fromNow();
    const isAnnounced = pairs.map(({ handlerId, type }) => ({ type, handler_id: handlerId }));
    await db
      .updateTable('card_payment_handler')
      .set({ announced_at: announcedAt })
      .where('account', '=', account)
      .where((eb) => eb.or(isAnnounced.map((pair) => eb.and(pair))))
      .execute();
    await db
      .insertInto('card_payment_handler')
      .values(isAnnounced.map((pair) => ({ account, ...pair, announced_at: announcedAt })))
      .modifyEnd(sql.raw(database.engine.unlessTaken))
      .execute();
  });
}

/**
 * Forgets pairs that nobody has announced for that long, until `end` (by `performance.now`): their deliveries first, a
 * batch in each transaction.
 * @returns whether some are left
 */
export async function forgetPairs(
  database: SqlDatabase,
  account: string,
  pairsMs: number,
  end: number,
): Promise<boolean> {
  const oldPairs = database.read(
    database.db
      .selectFrom('card_payment_handler')
      .where('account', '=', account)
      .where('announced_at', '<', database.fromNow(-pairsMs))
      .select(['handler_id', 'type']),
  );
  for (const pair of await withTimeout(MAX_CALL_MS, () => oldPairs)) {
    while (!(await withTimeout(MAX_CALL_MS, () => forgetSome(database, account, pair, pairsMs)))) {
      if (performance.now() >= end) return true;
      await setImmediate();
    }
  }
  return false;
}

/** @returns whether the pair is forgotten, or is not to be forgotten after all */
function forgetSome(
  database: SqlDatabase,
  account: string,
  pair: { readonly handler_id: string; readonly type: string },
  pairsMs: number,
): Promise<boolean> {
  const { fanOutLock } = database.engine;
  return database.transaction(async (db) => {
    // So that no delivery of the pair is made while it is being forgotten.
    if (fanOutLock) await run(db, fanOutLock(account));
    const stillOld = await db
      .selectFrom('card_payment_handler')
      .where('account', '=', account)
      .where((eb) => eb.and(pair))
      .where('announced_at', '<', database.fromNow(-pairsMs))
      .select('type')
      .executeTakeFirst();
    if (!stillOld) return true;
    for (const parked of [0, 1]) {
      const deliveries = await db
        .selectFrom('card_payment_delivery')
        .where('account', '=', account)
        .where((eb) => eb.and(pair))
        .where('parked', '=', sql.lit(parked as 0 | 1))
        .select('event_id')
        .limit(FORGET_BATCH)
        .execute();
      if (deliveries.length === 0) continue;
      const eventIds = deliveries.map((delivery) => delivery.event_id);
      await db
        .deleteFrom('card_payment_delivery')
        .where('account', '=', account)
        .where('handler_id', '=', pair.handler_id)
        .where('event_id', 'in', eventIds)
        .execute();
      if (deliveries.length === FORGET_BATCH) return false;
    }
    await db
      .deleteFrom('card_payment_handler')
      .where('account', '=', account)
      .where((eb) => eb.and(pair))
      .where('announced_at', '<', database.fromNow(-pairsMs))
      .execute();
    return true;
  });
}
