import { jest } from '@jest/globals';
import { Kysely, SqliteDialect } from 'kysely';
import { sqliteAccess, sqliteEngine } from '../../../lib/store/sql/engines/sqlite.js';
import { migrateSchema } from '../../../lib/store/sql/schema.js';
import type { PaymentTables } from '../../../lib/store/sql/tables.js';
import { SqlDatabase } from '../../../lib/store/sql/database.js';
import { SqlOutbox } from '../../../lib/store/sql/outbox.js';
import { TestClock } from '../../../lib/testing/index.js';

const PAIR = { handlerId: 'Orders.paid', type: 'payment.succeeded' } as const;
const PAIRS_MS = 1_000;
const START = Date.parse('2026-03-01T09:00:00Z');

let clock: TestClock;
let database: SqlDatabase;
let outbox: SqlOutbox;

describe('sql outbox pairs', () => {
  beforeEach(async () => {
    clock = new TestClock(new Date(START));
    const access = sqliteAccess(SqliteDialect, ':memory:');
    const db = new Kysely<PaymentTables>({ dialect: access.dialect });
    database = new SqlDatabase(db, sqliteEngine, { ...access, clock });
    outbox = new SqlOutbox(database);
    await migrateSchema(database, sqliteEngine, true);
    await outbox.announce('shop', [PAIR]);
    const names = {
      account: 'shop',
      handler_id: PAIR.handlerId,
      event_id: 'C:1',
      conversation_id: 'C',
      type: PAIR.type,
    };
    const delivery = { ...names, version: 1, occurred_at: START, attempts: 0, status: 0, due_at: START } as const;
    await database.db.insertInto('card_payment_delivery').values(delivery).execute();
    clock.set(new Date(START + PAIRS_MS + 1));
  });

  afterEach(() => database.db.destroy());

  const forget = () => outbox.forgetPairs('shop', PAIRS_MS, Infinity);
  const count = async (table: 'card_payment_delivery' | 'card_payment_handler') =>
    (await database.db.selectFrom(table).select('account').execute()).length;
  const left = async () => [await count('card_payment_handler'), await count('card_payment_delivery')];

  test('a pair that nobody announces any more is forgotten with its deliveries', async () => {
    expect([await forget(), await left()]).toEqual([false, [0, 0]]);
  });

  test('a pair that is announced while its turn to be forgotten comes keeps its deliveries', async () => {
    const transaction = database.transaction.bind(database);
    jest.spyOn(database, 'transaction').mockImplementationOnce(async (work) => {
      await outbox.announce('shop', [PAIR]);
      return transaction(work);
    });
    expect([await forget(), await left()]).toEqual([false, [1, 1]]);
  });
});
