import { Kysely, SqliteDialect } from 'kysely';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { openSqliteFile, sqliteAccess, sqliteEngine } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';
import { migrateSchema } from '../../../lib/store/sql/payment-schema.js';
import { hostIdHashOf, keyHashOf, type PaymentTables, rowOf } from '../../../lib/store/sql/payment-tables.js';
import { SqlDatabase } from '../../../lib/store/sql/sql-database.js';
import { firstTaken, takenKeys } from '../../../lib/store/sql/sql-ledger.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

let database: SqlDatabase;

describe('sql ledger taken keys', () => {
  beforeEach(async () => {
    const access = sqliteAccess(SqliteDialect, () => openSqliteFile(':memory:'));
    database = new SqlDatabase(new Kysely<PaymentTables>({ dialect: access.dialect }), sqliteEngine, access);
    await migrateSchema(database, sqliteEngine, true);
  });

  afterEach(() => database.db.destroy());

  const record = aPaymentRecord({
    account: 'shop',
    conversationId: 'MINE',
    idempotencyKey: 'key',
    tokenHash: 'token',
    reference: 'order',
    referenceLock: 'order',
    hostIdNonce: 'nonce',
  });

  const write = (changes: Partial<PaymentRecord>) =>
    database.db
      .insertInto('card_payment')
      .values(rowOf({ ...record, ...changes }))
      .execute();
  const holdKey = (key_hash: string, conversation_id: string | null, account = 'shop') =>
    database.db.insertInto('card_payment_key').values({ account, key_hash, conversation_id }).execute();
  const lock = (reference: string, conversation_id: string | null, account = 'shop') =>
    database.db.insertInto('card_payment_reference_lock').values({ account, reference, conversation_id }).execute();

  /** What is said to be taken: to a new payment, and to this one where it is stored already. */
  async function taken(of = record): Promise<[string | null, string | null]> {
    const named = async (ownId: string | null) => {
      const [row] = await database.find(takenKeys(database, of, ownId));
      return firstTaken(row, of, ownId);
    };
    return [await named(null), await named('MINE')];
  }

  test('nothing is taken where nothing is stored', async () => {
    expect(await taken()).toEqual([null, null]);
    expect(firstTaken(undefined, record, null)).toBeNull();
  });

  test("a payment's own keys count as taken only for new payments", async () => {
    await write({});
    await holdKey(keyHashOf('key'), 'MINE');
    await lock('order', 'MINE');
    expect(await taken()).toEqual(['conversationId', null]);
    expect(await taken({ ...record, conversationId: 'NEW', hostIdNonce: null })).toEqual(['idempotencyKey', null]);
  });

  test.each([
    ['idempotencyKey', (owner: string | null) => holdKey(keyHashOf('key'), owner)],
    ['referenceLock', (owner: string | null) => lock('order', owner)],
  ] as const)('%s is taken by another payment, and by none', async (key, hold) => {
    await hold('OTHER');
    expect(await taken()).toEqual([key, key]);
    await database.db.deleteFrom('card_payment_key').execute();
    await database.db.deleteFrom('card_payment_reference_lock').execute();
    // Of a payment that was purged, or of a reference that was proven charged twice.
    await hold(null);
    expect(await taken()).toEqual([key, key]);
  });

  test('a tokenHash is taken by another payment', async () => {
    await write({ conversationId: 'OTHER' });
    expect(await taken()).toEqual(['tokenHash', 'tokenHash']);
  });

  test('a conversationId that the host chose stays taken from new payments', async () => {
    await holdKey(hostIdHashOf(record) ?? '', null);
    expect(await taken()).toEqual(['conversationId', null]);
    expect(await taken({ ...record, hostIdNonce: null })).toEqual([null, null]);
  });

  test('if several keys are taken, the idempotencyKey is named first, then the token, then the reference', async () => {
    await lock('order', 'OTHER');
    await write({ conversationId: 'OTHER' });
    expect(await taken()).toEqual(['tokenHash', 'tokenHash']);
    await holdKey(keyHashOf('key'), null);
    expect(await taken()).toEqual(['idempotencyKey', 'idempotencyKey']);
  });

  test('a payment without keys takes none, and none is taken from it', async () => {
    await holdKey(keyHashOf(''), null);
    await lock('', null);
    await write({ conversationId: 'OTHER', tokenHash: null });
    const none = { ...record, idempotencyKey: null, tokenHash: null, referenceLock: null, hostIdNonce: null };
    expect(await taken(none)).toEqual([null, null]);
  });

  test('another account takes nothing', async () => {
    await write({ account: 'other' });
    await holdKey(keyHashOf('key'), null, 'other');
    await holdKey(hostIdHashOf(record) ?? '', null, 'other');
    await lock('order', null, 'other');
    expect(await taken()).toEqual([null, null]);
  });
});
