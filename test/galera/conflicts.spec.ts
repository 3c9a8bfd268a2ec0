import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import mysql, { type Connection } from 'mysql2/promise';
import { createPool, type Pool } from 'mysql2';
import { mysqlPaymentStore, openSqlStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';
import { hashedName } from '../../lib/store/unique-names.js';
import { StoreTrial } from '../store/contract/store-trial.js';
import { type Galera, startGalera } from '../services/galera.js';
import { queryMariaDb } from '../services/mariadb.js';
import { until } from '../services/until.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** How often writes of several nodes are raced at most, until the cluster says that some conflicted. */
const MAX_ROUNDS = 500;

let galera: Galera;
let urls: readonly string[];
/** One at each node. */
let stores: readonly PaymentStore[];
let trials: readonly StoreTrial[];

describe('conflicts', () => {
  beforeAll(async () => {
    galera = await startGalera();
  });
  beforeEach(async () => {
    // The nodes for tests do not wait for the disk.
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    urls = await galera.createDatabase();
    stores = await Promise.all(urls.map((url) => openSqlStore(url)));
    for (const store of stores) await store.open();
    const account = `account-${Math.random()}`;
    trials = stores.map((store) => new StoreTrial(store, store, new TestClock(), account));
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  afterAll(() => galera.stop());

  describe('writes of several nodes', () => {
    test('a transition under way that a write of another node overtakes is undone, and stale when it is tried again', async () => {
      const record = await trials[0]!.insert();
      expect(await trials[1]!.find(record)).toEqual(record);
      const before = await counted(1, 'wsrep_local_bf_aborts');
      await withConnection(1, async (holder) => {
        await holder.query('start transaction');
        const lock = 'insert into card_payment_name (account, name, conversation_id) values (?, ?, ?)';
        await holder.query(lock, [record.account, hashedName('lock', 'order'), 'nobody']);
        const next = trials[1]!.next(record, { state: 'authorizing', reference: 'order', referenceLock: 'order' });
        const overtaken = stores[1]!.replace(next, record);
        const waiting = `select 1 from information_schema.processlist
where info like 'insert into %card_payment_name%'`;
        await until(async () => (await queryMariaDb(urls[1]!, waiting)).length === 1);
        await trials[0]!.replace(record, { state: 'failed' });
        expect(await overtaken).toBe('stale');
      });
      expect(await counted(1, 'wsrep_local_bf_aborts')).toBe(before + 1);
      for (const trial of trials) expect(await trial.find(record)).toMatchObject({ state: 'failed', version: 2 });
    });

    test('that are refused when they are committed have lost a race: one of three is granted', async () => {
      const refused = () => Promise.all(urls.map((_url, node) => counted(node, 'wsrep_local_cert_failures')));
      const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
      const before = sum(await refused());
      for (let round = 0; sum(await refused()) === before; round += 1) {
        if (round === MAX_ROUNDS) throw new Error(`No write was refused in ${MAX_ROUNDS} rounds.`);
        const record = await trials[0]!.insert();
        await Promise.all(trials.map((trial) => trial.find(record)));
        const claims = stores.map((store, node) =>
          store.replace(trials[node]!.next(record, { state: 'authorizing' }), record),
        );
        expect((await Promise.all(claims)).sort()).toEqual(['replaced', 'stale', 'stale']);
        const orders = trials.map((trial) => trial.record({ reference: `${round}`, referenceLock: `${round}` }));
        const opened = await Promise.all(orders.map((order, node) => stores[node]!.insert(order)));
        expect(opened.filter((taken) => taken === null)).toHaveLength(1);
        expect(opened.filter((taken) => taken === 'referenceLock')).toHaveLength(2);
      }
    });
  });

  describe('a node that lags', () => {
    /** As a pool is that does not ask the node to wait; see the last test. */
    let pool: Pool;
    let stale: PaymentStore;

    beforeEach(async () => {
      pool = createPool({ uri: urls[1]!, connectionLimit: 1 });
      await pool.promise().query('set session wsrep_sync_wait = 7');
      stale = mysqlPaymentStore({ pool });
      await stale.open();
      await pool.promise().query('set session wsrep_sync_wait = 0');
    });
    afterEach(() => pool.promise().end());

    test('grants no claim that another node has granted, although it may still read that nobody has it', async () => {
      const record = await trials[0]!.insert();
      expect(await trials[1]!.find(record)).toEqual(record);
      await withConnection(1, async (holder) => {
        // The node gets what others commit, and does not apply it.
        await holder.query('flush tables with read lock');
        await trials[0]!.replace(record, { state: 'authorizing' });
        expect(await stale.find(record.account, record.conversationId)).toEqual(record);
        const claims = [stale, stores[1]!].map((store) =>
          store.replace(trials[1]!.next(record, { state: 'authorizing' }), record),
        );
        const read = trials[1]!.find(record);
        await holder.query('unlock tables');
        expect(await Promise.all(claims)).toEqual(['stale', 'stale']);
        // The store's own connections wait until the node has caught up.
        expect(await read).toMatchObject({ state: 'authorizing', version: 2 });
      });
    });

    test('is not taken from a given pool whose sessions do not wait until it has caught up', async () => {
      await expect(mysqlPaymentStore({ pool }).open()).rejects.toThrow('wsrep_sync_wait');
    });
  });

  test.each(['pc.ignore_sb', 'pc.ignore_quorum'])(
    'a node that goes on without the others, by %s, is refused',
    (option) =>
      withConnection(2, async (connection) => {
        const set = (value: boolean) =>
          connection.query('set global wsrep_provider_options = ?', [`${option}=${value}`]);
        await set(true);
        try {
          await expect((await openSqlStore(urls[2]!)).open()).rejects.toThrow(
            `with ${option} both sides of a partition take payments`,
          );
        } finally {
          await set(false);
        }
        const store = await openSqlStore(urls[2]!);
        await store.open();
        await store.close();
      }),
  );
});

/** What a node counts; it counts all databases. */
async function counted(node: number, name: 'wsrep_local_bf_aborts' | 'wsrep_local_cert_failures'): Promise<number> {
  const [row] = await queryMariaDb(urls[node]!, `show global status like '${name}'`);
  return Number(row?.['Value']);
}

async function withConnection(node: number, use: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = await mysql.createConnection(urls[node]!);
  try {
    await use(connection);
  } finally {
    connection.destroy();
  }
}
