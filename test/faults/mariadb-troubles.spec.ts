import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import mysql from 'mysql2';
import { PaymentHealth, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { type MariaDb, queryMariaDb, startMariaDb } from '../services/mariadb.js';
import { until } from '../services/until.js';
import { longLimitStore, POOLS } from './engines.js';
import { Shop } from './shop.js';

let mariadb: MariaDb;
let simulator: Simulator;
let database: string;
const ends: (() => Promise<unknown>)[] = [];

describe('mariadb troubles', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.stop());
  beforeEach(async () => {
    for (const level of ['warn', 'error'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
    }
    simulator = await startSimulator({ dialect: 'morpos' });
    database = await mariadb.createDatabase();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await simulator.close();
  });

  describe.each(POOLS)('over a pool: %s', (pool) => {
    it('a server that is read-only: nothing is sent, reads go on, and so does everything once it is no longer', async () => {
      const shop = await openShop(pool, await merchantUrl());
      const paid = await shop.payments.doPayment(sale());
      const awaiting = await shop.awaiting();
      const { length } = simulator.requests;
      await queryMariaDb(database, 'set global read_only = on');
      try {
        for (let calls = 0; calls < 3; calls += 1) {
          await expect(shop.payments.doPayment(sale())).rejects.toThrow(PaymentStoreError);
        }
        await expect(shop.complete(awaiting)).rejects.toThrow(PaymentStoreError);
        expect(await shop.payments.find(paid.conversationId)).toMatchObject({ state: 'succeeded' });
        expect(simulator.requests).toHaveLength(length);
      } finally {
        await queryMariaDb(database, 'set global read_only = off');
      }
      expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded', stored: true });
      await until(() =>
        shop.complete(awaiting).then(
          ({ state }) => state === 'succeeded',
          () => false,
        ),
      );
      expect([simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([1, []]);
    });

    it('a server that becomes read-only while the gateway works: the outcome is given, and written later', async () => {
      const shop = await openShop(pool, await merchantUrl());
      const fault = simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'stall' });
      const call = shop.payments.doPayment(sale());
      await fault.played;
      await queryMariaDb(database, 'set global read_only = on');
      try {
        fault.release();
        expect(await call).toMatchObject({ state: 'succeeded', stored: false });
      } finally {
        await queryMariaDb(database, 'set global read_only = off');
      }
      const { conversationId } = await call;
      await until(async () => (await shop.payments.find(conversationId))?.state === 'succeeded');
      expect([simulator.ledger.calls('DoPayment'), simulator.ledger.violations]).toEqual([1, []]);
    });

    it('connections that are killed all the time: each payment is charged once, or not at all', async () => {
      const shop = await openShop(pool);
      const name = new URL(database).pathname.slice(1);
      const admin = mysql.createPool({ uri: mariadb.url, connectionLimit: 1 }).promise();
      let isOver = false;
      const killing = (async () => {
        while (!isOver) {
          const [rows] = await admin.query<mysql.RowDataPacket[]>(
            'select id from information_schema.processlist where db = ?',
            [name],
          );
          for (const { id } of rows) await admin.query(`kill ${id}`).catch(() => undefined);
          await delay(20);
        }
      })();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, async () => {
          for (let payments = 0; payments < 5; payments += 1) await shop.payments.doPayment(sale()).catch(() => null);
        }),
      );
      isOver = true;
      await killing;
      await admin.end();
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['fulfilled']));
      expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded', stored: true });
      await until(async () => (await shop.app.get(PaymentHealth).report()).owedWrites === 0);
      expect(simulator.ledger.violations).toEqual([]);
      for (const { conversationId } of simulator.ledger.charges) {
        expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
      }
    });
  });

  it('a server that is killed and started again: what was acknowledged is there, and payments go on', async () => {
    const shop = await openShop('own');
    const before = await Promise.all(Array.from({ length: 10 }, () => shop.payments.doPayment(sale())));
    const awaiting = await shop.awaiting();
    const fault = simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'stall' });
    const call = shop.payments.doPayment(sale());
    await fault.played;
    await mariadb.kill();
    fault.release();
    const meanwhile = await call;
    expect(meanwhile).toMatchObject({ state: 'succeeded', stored: false });
    await expect(shop.payments.doPayment(sale())).rejects.toThrow(PaymentStoreError);
    await mariadb.restart();
    expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded', stored: true });
    for (const { conversationId } of before) {
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    }
    await until(async () => (await shop.payments.find(meanwhile.conversationId))?.state === 'succeeded', 20_000);
    expect(await shop.complete(awaiting)).toMatchObject({ state: 'succeeded', stored: true });
    expect([simulator.ledger.calls('DoPayment'), simulator.ledger.violations]).toEqual([12, []]);
  });
});

async function openShop(pool: (typeof POOLS)[number], url = database): Promise<Shop> {
  const { store, end } = longLimitStore('MariaDB', url, pool);
  const shop = await Shop.open(simulator, { store });
  ends.push(end, () => shop.close());
  return shop;
}

/** The URL of a user without the rights of an administrator, whom `read_only` stops. */
async function merchantUrl(): Promise<string> {
  const name = new URL(database).pathname.slice(1);
  await queryMariaDb(database, `create or replace user merchant identified by 'password'`);
  await queryMariaDb(database, `grant all on ${name}.* to merchant`);
  return database.replace(/\/\/[^@]*@/, '//merchant:password@');
}
