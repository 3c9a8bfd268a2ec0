import { jest } from '@jest/globals';
import mysql from 'mysql2';
import { mysqlPaymentStore, openSqlStore, type SqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import type { PaymentRecord } from '../../../../../lib/payment/payment.js';
import { hashedName } from '../../../../../lib/store/unique-names.js';
import { at, StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type Session, SQL_SERVERS } from '../../../../rigs/sql-servers.js';
import { type MariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { until } from '../../../../services/until.js';

/** How a store is connected: over its own connections each transition is one query, over a given pool several. */
const POOLS = ['own', 'given'] as const;

let mariadb: MariaDb;
let url: string;
/** Someone else's session. */
let other: Session;
const database = SQL_SERVERS.MariaDB;
const ends: (() => Promise<unknown>)[] = [];

describe('conflicts', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.stop());
  beforeEach(async () => {
    url = await mariadb.createDatabase();
    other = await database.connect(url);
  });
  afterEach(async () => {
    await other.end();
    for (const end of ends.splice(0)) await end();
  });

  const keyOf = ({ account, conversationId }: PaymentRecord) =>
    `account = '${account}' and conversation_id = '${conversationId}'`;
  const takeNextVersion = ({ account, conversationId }: PaymentRecord) =>
    other.run(`insert into card_payment_version values ('${account}', '${conversationId}', 2, null, '{}')`);
  const trialOf = (store: SqlPaymentStore) => new StoreTrial(store, store, new TestClock(at(0)));

  describe.each(POOLS)('over a pool: %s', (pool) => {
    test.each(['commit', 'rollback'] as const)(
      'a transition that a deadlock undoes is done again, after the %s of the other',
      async (end) => {
        const store = await open(pool);
        const trial = trialOf(store);
        const record = await trial.insert();
        const codes = spyOnErrors();
        await other.run('create table ballast (id int primary key)');
        await other.run('begin');
        // Of two that wait for each other, the database undoes the one that has written less.
        await other.run(`insert into ballast values ${Array.from({ length: 200 }, (_, id) => `(${id})`).join()}`);
        const lock = hashedName('lock', 'order-1');
        await other.run(`insert into card_payment_name values ('${trial.account}', '${lock}', 'elsewhere', null)`);
        const claim = trial.next(record, { state: 'authorizing', reference: 'order-1', referenceLock: 'order-1' });
        const claimed = store.replace(claim, record);
        await until(() => database.isAnyoneWaiting(other));
        await other.run(`update card_payment set due_at = 1 where ${keyOf(record)}`);
        await until(() => codes.includes('ER_LOCK_DEADLOCK'));
        await other.run(end);
        expect(await claimed).toBe(end === 'commit' ? 'locked' : 'replaced');
        const found = await trial.find(record);
        expect([found?.version, await trial.versions(record)]).toEqual(end === 'commit' ? [1, [1]] : [2, [1, 2]]);
      },
    );

    test('a query of a transition that is interrupted undoes it, and the connection goes on without it', async () => {
      const store = await open(pool);
      const trial = trialOf(store);
      const record = await trial.insert();
      await other.run('begin');
      await takeNextVersion(record);
      const failure = expect(store.replace(trial.next(record), record)).rejects.toMatchObject({ errno: 1317 });
      await until(() => database.isAnyoneWaiting(other));
      const ids = await database.others(other);
      for (const id of ids) await other.run(`kill query ${id}`);
      await failure;
      await other.run('rollback');
      expect(await trial.find(record)).toEqual(record);
      await trial.replace(record);
      expect(await database.others(other)).toEqual(ids);
    });
  });

  test('a transition that gets no lock in time is undone and tried again', async () => {
    const store = await open('given', 1);
    const trial = trialOf(store);
    const record = await trial.insert();
    const codes = spyOnErrors();
    await other.run('begin');
    // It gets the lock of its payment, and waits for its line of history.
    await takeNextVersion(record);
    const replaced = store.replace(trial.next(record), record);
    await until(() => codes.includes('ER_LOCK_WAIT_TIMEOUT'));
    await other.run('rollback');
    expect(await replaced).toBe('replaced');
    expect(await trial.versions(record)).toEqual([1, 2]);
  });

  test('a schema that waits for the transaction of another process gives up in time, and others go on', async () => {
    const store = await open('own');
    const trial = trialOf(store);
    await other.run('drop index card_payment_state on card_payment');
    await other.run('delete from card_payment_schema_version');
    await other.run('begin');
    await other.run('select count(*) from card_payment');
    const late = await openSqlStore(url);
    ends.push(() => late.close());
    const began = performance.now();
    const opening = expect(late.open()).rejects.toThrow('is being changed by another process that does not finish');
    await opening;
    expect(performance.now() - began).toBeLessThan(13_000);
    await trial.insert();
    await other.run('rollback');
    await late.open();
    expect(await other.run(`show index from card_payment where key_name = 'card_payment_state'`)).toHaveLength(6);
  });

  test('a payment with the longest texts is written whole by a server with the least packets that are allowed', async () => {
    const small = await startMariaDb({ max_allowed_packet: '4M' });
    const store = mysqlPaymentStore({ connectionString: small.url });
    await store.open();
    const trial = trialOf(store);
    // Each of its characters is escaped twice: in JSON, and in the query.
    const message = '"\\'.repeat(100_000);
    const { record } = await trial.publish(await trial.insert({ message, note: message }), 'succeeded', at(1));
    expect(await trial.find(record)).toEqual(record);
    await store.close();
    await small.stop();

    const tiny = await startMariaDb({ max_allowed_packet: '1M' });
    const refused = mysqlPaymentStore({ connectionString: tiny.url });
    await expect(refused.open()).rejects.toThrow('its max_allowed_packet is under 4 MiB');
    await refused.close();
    await tiny.stop();
  });
});

async function open(pool: (typeof POOLS)[number], lockWaitSeconds?: number): Promise<SqlPaymentStore> {
  const connections = mysql.createPool(url);
  if (lockWaitSeconds !== undefined) {
    connections.on('connection', (connection) =>
      connection.query(`set innodb_lock_wait_timeout = ${lockWaitSeconds}`, () => undefined),
    );
  }
  const store =
    pool === 'own' ? mysqlPaymentStore({ connectionString: url }) : mysqlPaymentStore({ pool: connections });
  ends.push(async () => {
    await store.close();
    await connections.promise().end();
  });
  await store.open();
  return store;
}

/** The codes of what the server answers to queries of any pool from now on. */
function spyOnErrors(): string[] {
  const codes: string[] = [];
  const connection = mysql.Connection.prototype as { query(...given: unknown[]): unknown };
  const { query } = connection;
  jest.spyOn(connection, 'query').mockImplementation(function (this: mysql.Connection, ...given) {
    const [text, values, callback] = given;
    if (typeof callback !== 'function') return query.apply(this, given);
    return query.call(this, text, values, (error: { readonly code?: string } | null, ...more: unknown[]) => {
      if (error) codes.push(String(error.code));
      (callback as (...answer: unknown[]) => void)(error, ...more);
    });
  });
  return codes;
}
