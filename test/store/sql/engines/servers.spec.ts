import { jest } from '@jest/globals';
import { openSqlStore, type SqlPaymentStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { PaymentRecord } from '../../../../lib/payment/payment.js';
import { hashedName } from '../../../../lib/store/unique-names.js';
import { openedStoreAt, type SharedStore } from '../../../rigs/shared-stores.js';
import { suiteStore } from '../../../rigs/suite-stores.js';
import { freePort } from '../../../services/server.js';
import { until } from '../../../services/until.js';
import { type Session, SQL_SERVERS, type SqlServer } from '../../../rigs/sql-servers.js';
import { at, StoreTrial } from '../../contract/store-trial.js';

type ServerName = keyof typeof SQL_SERVERS;
const DENIED = 'refuses this user or password; if it takes connections by TLS alone, put ssl=true into the URL';

/** Why a server cannot be used, by a URL that holds a user `ada` or a password `geheim`. */
const FAILURES: Readonly<
  Record<ServerName, readonly (readonly [what: string, from: RegExp, to: string, why: string])[]>
> = {
  PostgreSQL: [['no such user', /postgres@/, 'ada:geheim@', 'refuses this user or password (28000)']],
  MariaDB: [['a wrong password', /\/\/[^@]+@/, '//shop:geheim@', `${DENIED} (ER_ACCESS_DENIED_ERROR)`]],
};
const DROP_INDEX: Readonly<Record<ServerName, string>> = {
  PostgreSQL: 'drop index card_payment_state',
  MariaDB: 'drop index card_payment_state on card_payment',
};
/** Keeps the schema from being changed until the transaction ends. */
const USE_TABLE: Readonly<Record<ServerName, string>> = {
  PostgreSQL: 'lock table card_payment in row exclusive mode',
  MariaDB: 'select count(*) from card_payment',
};
const SET_READ_ONLY: Readonly<Record<ServerName, (isReadOnly: boolean) => readonly string[]>> = {
  PostgreSQL: (isReadOnly) => [
    `alter system set default_transaction_read_only = ${isReadOnly}`,
    'select pg_reload_conf()',
  ],
  MariaDB: (isReadOnly) => [`set global read_only = ${isReadOnly}`],
};
/** A user who may not write while the server is read-only. */
const PLAIN_USER: Readonly<Record<ServerName, readonly string[]>> = {
  PostgreSQL: [],
  MariaDB: [
    `create user if not exists plain identified by 'geheim'`,
    'grant create, index, select, insert, update, delete on *.* to plain',
  ],
};
/** How a server says that a query was interrupted. */
const INTERRUPTED: Readonly<Record<ServerName, object>> = { PostgreSQL: { code: '57014' }, MariaDB: { errno: 1317 } };
const POOLS = ['own', 'given'] as const;

const SERVERS = Object.keys(SQL_SERVERS) as ServerName[];

const keyOf = ({ account, conversationId }: PaymentRecord) =>
  `account = '${account}' and conversation_id = '${conversationId}'`;
/** Takes the place of the next line of history, so that whoever replaces the payment waits there. */
const takeNextVersion = ({ account, conversationId }: PaymentRecord) =>
  `insert into card_payment_version values ('${account}', '${conversationId}', 2, null, '{}')`;

describe.each(SERVERS)('%s', (name) => {
  const database: SqlServer = SQL_SERVERS[name];
  let server: SharedStore;
  let url: string;
  /** Someone else's session. */
  let other: Session;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    server = await suiteStore(name);
  });
  beforeEach(async () => {
    url = await server.create();
    other = await database.connect(url);
  });
  afterEach(async () => {
    await other.end();
    for (const end of ends.splice(0)) await end();
  });

  async function open(pool: (typeof POOLS)[number] = 'own', maxConnections?: number): Promise<StoreTrial> {
    const given = database.pool(url);
    const store = pool === 'own' ? database.store(url, { maxConnections: maxConnections! }) : given.store();
    ends.push(
      () => store.close(),
      () => given.end(),
    );
    await store.open();
    return new StoreTrial(store, store, new TestClock(at(0)));
  }

  async function problemOf(store: SqlPaymentStore): Promise<string> {
    const error: unknown = await store.open().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/geheim|\bada\b/);
    return (error as Error).message;
  }

  test.each(FAILURES[name])('%s: a start-up error that says so, time and again', async (_what, from, to, why) => {
    const store = await openSqlStore(url.replace(from, to.replace('PORT', `${await freePort()}`)));
    for (let times = 0; times < 3; times += 1) expect(await problemOf(store)).toBe(`${name} ${why}`);
    await store.close();
  });

  test('there are as many connections as are allowed, and no more; each is kept alive', async () => {
    const keepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
    const trial = await open('own', 3);
    await trial.race(() => trial.counts(), 30);
    expect(await database.others(other)).toHaveLength(3);
    expect(keepAlive).toHaveBeenCalledWith(true, 10_000);
  });

  test('an idle connection that the server ends is replaced, and the process goes on', async () => {
    const trial = await open('own', 1);
    const record = await trial.insert();
    const ids = await database.others(other);
    for (const id of ids) await database.kill(other, id);
    await until(() => trial.find(record).then(Boolean, () => false));
    await trial.replace(record);
    expect(await database.others(other)).not.toEqual(ids);
  });

  test('a connection to a server that has become read-only is not used again', async () => {
    for (const statement of PLAIN_USER[name]) await other.run(statement);
    const store = database.store(url.replace('//shop:password-of-the-shop@', '//plain:geheim@'), { maxConnections: 1 });
    ends.push(() => store.close());
    await store.open();
    const trial = new StoreTrial(store, store, new TestClock(at(0)));
    const isWritten = () => trial.insert().then(Boolean, () => false);
    const ids = await database.others(other);
    for (const statement of SET_READ_ONLY[name](true)) await other.run(statement);
    await until(async () => !(await isWritten()));
    for (const statement of SET_READ_ONLY[name](false)) await other.run(statement);
    await until(isWritten);
    expect(await database.others(other)).not.toEqual(expect.arrayContaining([...ids]));
  });

  test('a pool that was given stays open', async () => {
    const pool = database.pool(url);
    const store = pool.store();
    await store.open();
    await store.close();
    expect(await pool.run('select version from card_payment_schema_version')).toEqual([{ version: 1 }]);
    await pool.end();
  });

  describe.each(POOLS)('over a pool: %s', (pool) => {
    test.each(['its history', 'its event'])(
      'a connection that the server ends at %s undoes what ran on it, and nothing else',
      async (where) => {
        const trial = await open(pool);
        const record = await trial.insert({ referenceLock: 'order-1' });
        const next = trial.next(record, { state: 'failed', referenceLock: null });
        const { account, conversationId } = record;
        await other.run('begin');
        await other.run(
          where === 'its history'
            ? takeNextVersion(record)
            : `insert into card_payment_delivery values
              ('${account}', '', '${conversationId}:2', '${conversationId}', 2, 'x', 0, 0, 0, null, null, 0)`,
        );
        const lost = trial.tryReplace(next, record, trial.event(next, 'failed')).then(
          () => 'done',
          // It is not used again, not even at once.
          () => trial.counts(),
        );
        await until(() => database.isAnyoneWaiting(other));
        for (const id of await database.others(other)) await database.kill(other, id);
        expect(await lost).toMatchObject({ waitingEvents: 0 });
        await other.run('rollback');
        await until(() => trial.find(record).then(Boolean, () => false));
        await trial.expectStored(record);
        expect(await trial.store.insert(trial.record({ referenceLock: 'order-1' }))).toBe('referenceLock');
        await trial.publish(record, 'failed', at(1));
      },
    );

    test.each(['serializable', 'repeatable read'])(
      'sessions whose isolation is %s by default are used',
      async (level) => {
        await database.setIsolation(other, level);
        try {
          const trial = await open(pool);
          const record = await trial.insert();
          await other.run('begin');
          await other.run(`update card_payment set due_at = 1 where ${keyOf(record)}`);
          const replaced = trial.replace(record);
          await until(() => database.isAnyoneWaiting(other));
          await other.run('commit');
          await replaced;
        } finally {
          await database.setIsolation(other, name === 'MariaDB' ? 'repeatable read' : 'read committed');
        }
      },
    );

    test.each(['commit', 'rollback'] as const)(
      'a transition that a deadlock undoes is done again, after the %s of the other',
      async (end) => {
        const trial = await open(pool);
        const record = await trial.insert();
        await other.run('create table ballast (id int primary key)');
        await other.run('begin');
        // Of two that wait for each other, MariaDB undoes the one that has written less, PostgreSQL the first.
        await other.run(`insert into ballast values ${Array.from({ length: 200 }, (_, id) => `(${id})`).join()}`);
        const lock = hashedName('lock', 'order-1');
        await other.run(`insert into card_payment_name values ('${trial.account}', '${lock}', 'elsewhere', null)`);
        const claim = trial.next(record, { state: 'authorizing', reference: 'order-1', referenceLock: 'order-1' });
        const claimed = trial.tryReplace(claim, record);
        await until(() => database.isAnyoneWaiting(other));
        await other.run(`update card_payment set due_at = 1 where ${keyOf(record)}`);
        await other.run(end);
        expect(await claimed).toBe(end === 'commit' ? 'locked' : 'replaced');
        const found = await trial.find(record);
        expect([found?.version, await trial.versions(record)]).toEqual(end === 'commit' ? [1, [1]] : [2, [1, 2]]);
      },
    );

    test('a query of a transition that is interrupted undoes it, and the connection goes on without it', async () => {
      const trial = await open(pool);
      const record = await trial.insert();
      await other.run('begin');
      await other.run(takeNextVersion(record));
      const failure = expect(trial.tryReplace(trial.next(record), record)).rejects.toMatchObject(INTERRUPTED[name]);
      await until(() => database.isAnyoneWaiting(other));
      const ids = await database.others(other);
      for (const id of ids) await database.interrupt(other, id);
      await failure;
      await other.run('rollback');
      await trial.expectStored(record);
      await trial.replace(record);
      expect(await database.others(other)).toEqual(ids);
    });
  });

  test('a schema that waits for the transaction of another process gives up in time, and others go on', async () => {
    const trial = await open();
    await other.run(DROP_INDEX[name]);
    await other.run('delete from card_payment_schema_version');
    await other.run('begin');
    await other.run(USE_TABLE[name]);
    const began = performance.now();
    const late = await openSqlStore(url);
    await expect(late.open()).rejects.toThrow('is being changed by another process that does not finish');
    expect(performance.now() - began).toBeLessThan(13_000);
    await late.close();
    await trial.insert();
    await other.run('rollback');
    await (await openedStoreAt(url)).close();
    await other.run(DROP_INDEX[name]);
  });

  // On PostgreSQL, what waits too long for a lock is not tried again.
  if (name !== 'MariaDB') return;

  test('a transition that gets no lock in time is undone and tried again', async () => {
    await other.run('set global innodb_lock_wait_timeout = 1');
    try {
      const trial = await open('given');
      const record = await trial.insert();
      await other.run('begin');
      // It gets the lock of its payment, and waits for its line of history.
      await other.run(takeNextVersion(record));
      const replaced = trial.replace(record);
      await delay(1_500);
      await other.run('rollback');
      await replaced;
      expect(await trial.versions(record)).toEqual([1, 2]);
    } finally {
      await other.run('rollback');
      await other.run('set global innodb_lock_wait_timeout = default');
    }
  });
});
