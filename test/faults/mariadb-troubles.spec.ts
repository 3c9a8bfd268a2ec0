import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { PaymentHealth, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { SQL_SERVERS } from '../rigs/sql-servers.js';
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
      const { connect, others, kill } = SQL_SERVERS.MariaDB;
      const admin = await connect(database);
      let isOver = false;
      const killing = (async () => {
        while (!isOver) {
          for (const id of await others(admin)) await kill(admin, id).catch(() => undefined);
          await delay(20);
        }
      })();
      const thrown: unknown[] = [];
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let payments = 0; payments < 5; payments += 1) {
            await shop.payments.doPayment(sale()).catch((error: unknown) => thrown.push(error));
          }
        }),
      );
      isOver = true;
      await killing;
      await admin.end();
      expect(thrown.filter((error) => !(error instanceof PaymentStoreError))).toEqual([]);
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
