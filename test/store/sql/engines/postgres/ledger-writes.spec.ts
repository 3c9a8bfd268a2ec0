import { jest } from '@jest/globals';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { PaymentTables } from '../../../../../lib/store/sql/payment-tables.js';
import { postgresEngine } from '../../../../../lib/store/sql/engines/postgres/postgres.engine.js';
import { SqlDatabase } from '../../../../../lib/store/sql/sql-database.js';
import { ledgerWrites } from '../../../../../lib/store/sql/engines/postgres/ledger-writes.js';
import { aPaymentRecord } from '../../../../rigs/a-payment-record.js';

const TAKEN = Object.assign(new Error('taken'), { code: '23505' });
/** Far more often than a write is tried. */
const MANY = 50;

let database: SqlDatabase;
let writes: number;
/** What the first writes fail with. */
let failures: Error[];

describe('ledger writes', () => {
  beforeEach(() => {
    writes = 0;
    const db = new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
    database = new SqlDatabase(db, postgresEngine);
    jest.spyOn(database, 'statement').mockImplementation(() => {
      const failure = failures[writes];
      if ((writes += 1) > MANY) throw new Error('still trying');
      return failure ? Promise.reject(failure) : Promise.resolve({ rows: [{ version: 2 } as never] });
    });
    // Whoever had the key has given it up by the time of the look.
    jest.spyOn(database, 'find').mockResolvedValue([]);
  });

  const record = aPaymentRecord({ idempotencyKey: 'key' });

  describe.each([
    ['insert', null, () => ledgerWrites.insert(database, record)],
    ['replace', 'replaced', () => ledgerWrites.replace(database, record, 2)],
  ] as const)('%s', (_name, done, write) => {
    test.each([0, 1, 4])(
      'a key that is taken, and free when it is looked whose it is, %i times: tried again',
      async (times) => {
        failures = Array<Error>(times).fill(TAKEN);
        expect(await write()).toBe(done);
        expect(writes).toBe(times + 1);
      },
    );

    test('a key that is so again and again: an error, after five tries', async () => {
      failures = Array<Error>(MANY).fill(TAKEN);
      await expect(write()).rejects.toThrow('a key of the payment is taken and given up again and again');
      expect(writes).toBe(5);
    });

    test('whatever else fails is passed on, and not tried again', async () => {
      const failure = Object.assign(new Error('gone'), { code: '57P01' });
      failures = [failure];
      await expect(write()).rejects.toBe(failure);
      expect(writes).toBe(1);
    });
  });
});
