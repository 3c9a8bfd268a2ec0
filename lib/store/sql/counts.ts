import { sql } from 'kysely';
import { UNSETTLED_STATES } from '../../payment/payment-state.js';
import { PAIR_ALIVE_MS } from '../payment-outbox.js';
import type { StateCount, StoreCounts } from '../payment-store.js';
import { dateOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

export async function countAll(database: SqlDatabase, account: string): Promise<StoreCounts> {
  const parked = database.db
    .selectFrom('card_payment_delivery')
    .where('account', '=', account)
    .where('parked', '=', sql.lit(1))
    .select(({ fn }) => fn.countAll().as('count'));
  const waiting = database.db
    .selectFrom('card_payment_event')
    .where('account', '=', account)
    .where('waiting', '=', sql.lit(1))
    .select(({ fn }) => fn.countAll().as('count'));
  const states = await countStates(database, account);
  const waitingEvents = Number((await database.read(waiting))[0]?.count ?? 0);
  const parkedDeliveries = Number((await database.read(parked))[0]?.count ?? 0);
  return { states, waitingEvents, parkedDeliveries, ...(await countOpen(database, account)) };
}

async function countStates(database: SqlDatabase, account: string): Promise<StoreCounts['states']> {
  const rows = await database.read(
    database.db
      .selectFrom('card_payment')
      .where('account', '=', account)
      .where('state', 'in', UNSETTLED_STATES)
      .groupBy('state')
      .select(({ fn }) => ['state', fn.countAll().as('count'), fn.min('updated_at').as('oldest')]),
  );
  const counts = UNSETTLED_STATES.map((state): [string, StateCount] => {
    const row = rows.find((one) => one.state === state);
    return [state, row ? { count: Number(row.count), oldest: dateOf(row.oldest) } : { count: 0, oldest: null }];
  });
  return Object.fromEntries(counts) as StoreCounts['states'];
}

async function countOpen(
  database: SqlDatabase,
  account: string,
): Promise<Pick<StoreCounts, 'openDeliveries' | 'orphanedDeliveries'>> {
  const open = await database.read(
    database.db
      .selectFrom('card_payment_delivery')
      .where('account', '=', account)
      .where('parked', '=', sql.lit(0))
      .groupBy(['handler_id', 'type'])
      .select(({ fn }) => ['handler_id', 'type', fn.countAll().as('count')]),
  );
  const alive = await database.read(
    database.db
      .selectFrom('card_payment_handler')
      .where('account', '=', account)
      .where('announced_at', '>', database.fromNow(-PAIR_ALIVE_MS))
      .select(['handler_id', 'type']),
  );
  const isAlive = (pair: { handler_id: string; type: string }) =>
    alive.some((one) => one.handler_id === pair.handler_id && one.type === pair.type);
  const sum = (rows: typeof open) => rows.reduce((total, { count }) => total + Number(count), 0);
  return { openDeliveries: sum(open), orphanedDeliveries: sum(open.filter((pair) => !isAlive(pair))) };
}
