import { jest } from '@jest/globals';
import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { MAX_BATCH } from '../../../lib/store/sql/group-commit.js';
import { type SqlPaymentStore, sqlitePaymentStore } from '../../../lib/store/sql/index.js';
import { SqliteConnection } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';
import type { SqlStatement } from '../../../lib/store/sql/sql-transaction.js';
import { StoreTrial } from '../contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';

const failure = (code: string) => Object.assign(new Error(code), { code });
const FULL = failure('SQLITE_FULL');

let folder: string;
let files = 0;
let file: string;
let store: SqlPaymentStore;
let trial: StoreTrial;
/** The statements that were executed. */
let statements: string[];
/** Throws instead of a statement, or after it. */
let fault: {
  readonly before?: (statement: SqlStatement) => void;
  readonly after?: (statement: SqlStatement, connection: SqliteConnection) => void;
};

describe('group commit', () => {
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'payments-'))));

  beforeEach(async () => {
    statements = [];
    fault = {};
    const { execute } = SqliteConnection.prototype;
    jest.spyOn(SqliteConnection.prototype, 'execute').mockImplementation(function (
      this: SqliteConnection,
      statement: SqlStatement,
    ) {
      fault.before?.(statement);
      statements.push(statement.sql);
      const result = execute.call(this, statement);
      fault.after?.(statement, this);
      return result;
    });
    file = join(folder, `${(files += 1)}.db`);
    store = sqlitePaymentStore({ file, clock: new TestClock() });
    await store.open();
    trial = new StoreTrial(store, store, new TestClock());
  });

  afterEach(async () => {
    await store.close();
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const commits = () => statements.filter((text) => text === 'commit').length;

  const newPayments = (count: number, changes: Partial<PaymentRecord> = {}): PaymentRecord[] =>
    Array.from({ length: count }, () => trial.fullRecord({ message: null, ...changes }));

  const insertAll = (records: readonly PaymentRecord[]) => Promise.allSettled(records.map((one) => store.insert(one)));

  const states = (settled: readonly PromiseSettledResult<unknown>[]) => settled.map(({ status }) => status);

  test('waiting transitions share commits, up to MAX_BATCH in each', async () => {
    const records = newPayments(3 * MAX_BATCH);
    await insertAll(records);
    expect(commits()).toBe(3);
    await Promise.all(records.map((record) => trial.publish(record, 'succeeded', new Date())));
    expect(commits()).toBe(6);
    for (const record of records) expect(await trial.versions(record)).toEqual([7, 8]);
  });

  test('no further transaction is begun once no work is waiting', async () => {
    await insertAll(newPayments(2 * MAX_BATCH));
    await store.insert(newPayments(1)[0]!);
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    expect(commits()).toBe(3);
  });

  test('deliveries share commits as well', async () => {
    const handler = await trial.handler('payment.succeeded');
    const records = newPayments(10);
    await insertAll(records);
    await Promise.all(records.map((record) => trial.publish(record, 'succeeded', new Date())));
    expect(await trial.fanOut()).toBe(10);
    const leased = await trial.lease(handler);
    statements = [];
    await Promise.all(leased.map(({ event }) => store.acknowledge(trial.account, handler, event.eventId)));
    expect([leased.length, commits()]).toEqual([10, 1]);
    expect((await store.counts(trial.account)).openDeliveries).toBe(0);
  });

  test('a single transition is committed alone, before its promise resolves', async () => {
    const [record] = newPayments(1);
    await store.insert(record!);
    expect(commits()).toBe(1);
    await expect(trial.find(record!)).resolves.toEqual(record);
  });

  test('no promise resolves before the commit that holds its transition has returned', async () => {
    const resolved: number[] = [];
    let resolvedBefore = -1;
    fault = { before: ({ sql }) => void (sql === 'commit' && (resolvedBefore = resolved.length)) };
    await Promise.all(newPayments(8).map(async (record) => resolved.push(Number(await store.insert(record)))));
    expect([resolvedBefore, resolved.length]).toEqual([0, 8]);
  });

  test('a refused transition writes nothing and does not affect the others', async () => {
    const referenceLock = 'order-1';
    const [first, locked, third] = [trial.record({ referenceLock }), trial.record({ referenceLock }), trial.record()];
    const key = 'a-key';
    const [withKey, sameKey] = [trial.record({ idempotencyKey: key }), trial.record({ idempotencyKey: key })];
    const records = [first, locked, third, withKey, sameKey, first];
    const outcomes = await Promise.all(records.map((record) => store.insert(record)));
    expect(outcomes).toEqual([null, 'referenceLock', null, null, 'idempotencyKey', 'conversationId']);
    expect(commits()).toBe(1);
    for (const record of [first, third, withKey]) await expectWhole(record);
    for (const record of [locked, sameKey]) {
      expect(await trial.find(record)).toBeNull();
      expect(await trial.versions(record)).toEqual([]);
    }
    const changes = [store.replace(trial.next(third, { referenceLock }), third)];
    changes.push(store.replace(trial.next(first), first), store.replace(trial.next(first), first));
    expect(await Promise.all(changes)).toEqual(['locked', 'replaced', 'stale']);
    expect(await trial.versions(third)).toEqual([1]);
    expect(await trial.versions(first)).toEqual([1, 2]);
  });

  test.each(['card_payment_history', 'card_payment_key', 'card_payment_reference_lock'])(
    'a failing statement (%s) fails only its own transition',
    async (table) => {
      const records = newPayments(9);
      const poisoned = records[4]!;
      fault = {
        before: ({ sql, parameters = [] }) => {
          if (sql.startsWith(`insert into "${table}"`) && parameters.includes(poisoned.conversationId)) throw FULL;
        },
      };
      const settled = await insertAll(records);
      expect(settled[4]).toEqual({ status: 'rejected', reason: FULL });
      expect(states(settled).filter((state) => state === 'fulfilled')).toHaveLength(8);
      fault = {};
      for (const record of records) await (record === poisoned ? expectNothingOf(record) : expectWhole(record));
    },
  );

  test('a key that another payment has taken meanwhile fails only its own transition', async () => {
    const [held, ...records] = newPayments(4);
    await insertAll([held!, ...records]);
    const next = records.map((record, index) =>
      trial.next(record, index === 1 ? { tokenHash: held!.tokenHash } : { state: 'authorizing' }),
    );
    const settled = await Promise.allSettled(next.map((record, index) => store.replace(record, records[index]!)));
    expect(states(settled)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await Promise.all(records.map((record) => trial.versions(record)))).toEqual([[7, 8], [7], [7, 8]]);
  });

  test('on a full disk each payment is written completely or not at all, and later ones once there is room', async () => {
    let connection: SqliteConnection | undefined;
    fault = { after: (_statement, one) => void (connection = one) };
    await insertAll(newPayments(1));
    const pages = (name: string) => connection!.execute<Record<string, number>>({ sql: `pragma ${name}` }).rows[0]!;
    const { page_count: count } = pages('page_count');
    pages(`max_page_count = ${count! + 60}`);
    const records = newPayments(40, { message: 'x'.repeat(8_000) });
    const settled = await insertAll(records);
    const rejected = settled.filter((one): one is PromiseRejectedResult => one.status === 'rejected');
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThan(records.length);
    for (const { reason } of rejected) expect(reason).toMatchObject({ code: 'SQLITE_FULL' });
    pages('max_page_count = 100000');
    for (const [index, record] of records.entries())
      await (settled[index]!.status === 'fulfilled' ? expectWhole(record) : expectNothingOf(record));
  });

  test('after a failed commit each transition is written again, alone and once', async () => {
    let commitsThatFail = 1;
    fault = { before: ({ sql }) => void (sql === 'commit' && commitsThatFail-- > 0 && fail('SQLITE_IOERR')) };
    const records = newPayments(5);
    expect(states(await insertAll(records))).toEqual(Array(5).fill('fulfilled'));
    expect(commits()).toBe(5);
    for (const record of records) await expectWhole(record);
  });

  test('if every commit fails, all transitions are rejected and nothing is written', async () => {
    fault = { before: ({ sql }) => void (sql === 'commit' && fail('SQLITE_IOERR')) };
    const records = newPayments(5);
    expect(states(await insertAll(records))).toEqual(Array(5).fill('rejected'));
    fault = {};
    for (const record of records) await expectNothingOf(record);
  });

  test('after a failure on which SQLite itself rolls back, everything is written', async () => {
    let failures = 1;
    fault = {
      after: ({ sql }, connection) => {
        if (!sql.startsWith('insert into "card_payment_history"') || failures-- <= 0) return;
        connection.prepare('rollback').run([]);
        throw FULL;
      },
    };
    const records = newPayments(3);
    expect(states(await insertAll(records))).toEqual(Array(3).fill('fulfilled'));
    for (const record of records) await expectWhole(record);
  });

  test('waits while another process writes, without blocking the event loop', async () => {
    const other = new Database(file);
    other.exec('begin immediate');
    const records = newPayments(20);
    let isSettled = false;
    const inserted = insertAll(records).finally(() => (isSettled = true));
    for (let turns = 0; turns < 30; turns += 1) await delay(1);
    expect([isSettled, commits()]).toEqual([false, 0]);
    // Stored data can still be read.
    await expect(trial.find(records[0]!)).resolves.toBeNull();
    other.exec('commit');
    expect(states(await inserted)).toEqual(Array(20).fill('fulfilled'));
    expect(commits()).toBe(1);
    other.close();
  });

  test('if another process writes for too long, all waiting work fails and is not written later', async () => {
    const other = new Database(file);
    other.exec('begin immediate');
    const now = performance.now.bind(performance);
    let passed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + passed);
    const records = newPayments(3 * MAX_BATCH);
    const began = now();
    const inserted = insertAll(records);
    await delay(20);
    passed = 11_000;
    const late = store.insert(trial.record());
    expect(new Set(states(await inserted))).toEqual(new Set(['rejected']));
    // All at once, not one batch every ten seconds.
    expect(now() - began).toBeLessThan(5_000);
    other.exec('commit');
    expect(await late).toBeNull();
    expect(commits()).toBe(1);
    for (const record of records) await expectNothingOf(record);
    other.close();
  });

  test('a transaction that conflicts with another process is run again', async () => {
    let busy = 3;
    fault = {
      before: ({ sql }) => void (sql.startsWith('update "card_payment"') && busy-- > 0 && fail('SQLITE_BUSY_SNAPSHOT')),
    };
    const records = newPayments(6);
    await insertAll(records);
    statements = [];
    const replaced = records.map((record) => store.replace(trial.next(record), record));
    expect(await Promise.all(replaced)).toEqual(Array(6).fill('replaced'));
    expect(commits()).toBe(1);
    for (const record of records) expect(await trial.versions(record)).toEqual([7, 8]);
  });

  test('closing the store rejects waiting work', async () => {
    const other = sqlitePaymentStore({ file });
    await other.open();
    const inserted = Promise.allSettled(newPayments(3).map((record) => other.insert(record)));
    await other.close();
    expect(states(await inserted)).toEqual(Array(3).fill('rejected'));
  });

  test('waiting work is rejected if the file cannot be opened', async () => {
    const nowhere = sqlitePaymentStore({ file: join(folder, 'no-folder', 'payments.db') });
    const inserted = await Promise.allSettled(newPayments(3).map((record) => nowhere.insert(record)));
    expect(states(inserted)).toEqual(Array(3).fill('rejected'));
    await expect(nowhere.insert(trial.record())).rejects.toThrow();
  });

  test('a database in memory uses one connection for everything', async () => {
    const memory = sqlitePaymentStore({ file: ':memory:' });
    await memory.open();
    const record = trial.record();
    expect(await memory.insert(record)).toBeNull();
    await memory.announce(trial.account, [{ handlerId: 'h', type: 'payment.succeeded' }]);
    expect(await memory.find(record.account, record.conversationId)).toEqual(record);
    expect(await memory.leaseDue({ account: record.account, leaseMs: 1, limit: 1 })).toEqual([]);
    await memory.close();
  });
});

/** Expects that nothing of the payment was written, and that its keys are free. */
async function expectNothingOf(record: PaymentRecord): Promise<void> {
  expect(await trial.find(record)).toBeNull();
  expect(await trial.versions(record)).toEqual([]);
  const { idempotencyKey, tokenHash, referenceLock } = record;
  expect(await store.insert(trial.record({ idempotencyKey, tokenHash, referenceLock }))).toBeNull();
}

async function expectWhole(record: PaymentRecord): Promise<void> {
  expect(await trial.find(record)).toEqual(record);
  expect(await trial.versions(record)).toEqual([record.version]);
}

function fail(code: string): never {
  throw failure(code);
}
