import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { type PaymentOptions, type PaymentStore, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import pg from 'pg';
import { sale } from '../rigs/sale.js';
import { type Postgres, startPostgres } from '../services/postgres.js';
import { startTcpProxy, type TcpProxy } from '../services/tcp-proxy.js';
import { until } from '../services/until.js';
import { impatientStore, patientStore } from './postgres-shops.js';
import { Shop } from './shop.js';

const MAX_CALL_MS = 30_000;
/** What a frozen connection holds back: the write, which is then done after the thaw, or only the answer to it. */
const LOST = ['everything', 'answers'] as const;
const POOLS = ['own', 'given'] as const;

let postgres: Postgres;
let admin: pg.Client;
let database: string;
let proxy: TcpProxy;
let simulator: Simulator;
let shop: Shop;

beforeAll(async () => {
  postgres = await startPostgres();
  admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await postgres.stop();
});
beforeEach(async () => {
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  proxy = await startTcpProxy({ port: Number(new URL(postgres.url).port) });
  simulator = await startSimulator({ dialect: 'morpos' });
  database = await postgres.createDatabase();
});
afterEach(async () => {
  await shop.close();
  await simulator.close();
  await proxy.stop();
  jest.restoreAllMocks();
});

const url = () => database.replace(/:\d+\//, `:${proxy.port}/`);

async function openShop(store: PaymentStore, options: PaymentOptions = {}): Promise<void> {
  shop = await Shop.open(simulator, { store, ...options });
}

/** The sessions that are open in the database. */
async function sessions(): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>('select pid from pg_stat_activity where datname = $1', [
    new URL(database).pathname.slice(1),
  ]);
  return rows.map(({ pid }) => pid);
}

/** Releases the held connections, and waits until the server has done what they held and has closed them. */
async function thaw(held: readonly number[]): Promise<void> {
  proxy.release();
  await until(async () => !(await sessions()).some((pid) => held.includes(pid)));
}

describe.each(POOLS)('over a pool: %s', (pool) => {
  describe.each(LOST)('a frozen connection that holds %s', (lost) => {
    it.each(['doPayment', 'init3d'] as const)(
      'at the opening of a %s: nothing is sent, and the order can be paid again',
      async (kind) => {
        await openShop(impatientStore(url(), pool));
        const order = sale();
        const held = await sessions();
        proxy.hold(lost);
        await expect(shop.payments[kind](order)).rejects.toThrow(PaymentStoreError);
        expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
        await until(async () => (await shop.payments.findByReference(order.reference!)).length > 0);
        await until(async () => (await shop.payments.findByReference(order.reference!))[0]?.state === 'failed');
        const [fenced] = await shop.payments.findByReference(order.reference!);
        expect(fenced).toMatchObject({ state: 'failed', reason: 'not_sent' });
        expect(await shop.payments.doPayment(order)).toMatchObject({ state: 'succeeded', stored: true });
        await thaw(held);
        const states = (await shop.payments.findByReference(order.reference!)).map(({ state }) => state);
        expect(states.sort()).toEqual(['failed', 'succeeded']);
        const [calls, ...others] = (['DoPayment', 'Init3d', 'Auth3d'] as const).map((one) =>
          simulator.ledger.calls(one),
        );
        expect([calls, others, simulator.ledger.violations]).toEqual([2, [0, 0], []]);
      },
    );

    it('at the claim of a 3D payment: it is completed when the buyer reloads', async () => {
      let held: number[] | null = null;
      const beforeAuth3d = async () => {
        if (!held) {
          held = await sessions();
          proxy.hold(lost);
        }
        return true;
      };
      await openShop(impatientStore(url(), pool), { beforeAuth3d });
      const conversationId = await shop.awaiting();
      await expect(shop.complete(conversationId)).rejects.toThrow(PaymentStoreError);
      await until(async () => {
        const found = await shop.payments.find(conversationId);
        return found?.state === 'awaiting' && found.version > 2;
      });
      await thaw(held ?? []);
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
      expect(await shop.complete(conversationId)).toMatchObject({ payment: { state: 'succeeded', stored: true } });
      expect([simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([1, []]);
    });
  });
});

it('an opening that is written late, before its fence, when all connections were frozen: the order can be paid again', async () => {
  await openShop(impatientStore(url(), 'own'));
  const order = sale();
  proxy.hold();
  proxy.holdNew();
  await expect(shop.payments.doPayment(order)).rejects.toThrow(PaymentStoreError);
  proxy.release();
  await until(async () => {
    const found = await shop.payments.findByReference(order.reference!).catch(() => []);
    return found[0]?.state === 'failed';
  });
  const [ended] = await shop.payments.findByReference(order.reference!);
  expect(ended).toMatchObject({ reason: 'not_sent', version: 2 });
  expect(await shop.payments.doPayment(order)).toMatchObject({ state: 'succeeded', stored: true });
  expect(simulator.ledger.calls('DoPayment')).toBe(1);
});

it('at the outcome of a payment: the caller gets it, and it is written over a new connection', async () => {
  await openShop(impatientStore(url(), 'own'));
  const fault = simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'stall' });
  const call = shop.payments.doPayment(sale());
  await fault.played;
  const held = await sessions();
  proxy.hold();
  fault.release();
  const { conversationId, state } = await call;
  expect(state).toBe('succeeded');
  await until(async () => (await shop.payments.find(conversationId))?.state === 'succeeded');
  await thaw(held);
  expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', version: 2 });
  expect([simulator.ledger.calls('DoPayment'), simulator.ledger.violations]).toEqual([1, []]);
});

it('with the limits of the module itself, callers get an answer within half a minute, and payments work again', async () => {
  const began = performance.now();
  const others = await Promise.all(
    POOLS.map(async (pool) => {
      const { store, end } = patientStore(url(), pool);
      const one = await Shop.open(simulator, { store });
      await Promise.all(Array.from({ length: 5 }, () => one.payments.doPayment(sale())));
      return { shop: one, end };
    }),
  );
  shop = others[0]!.shop;
  proxy.hold();
  const calls = others.flatMap(({ shop: { payments } }) => [payments.doPayment(sale()), payments.find('none')]);
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
  for (const { shop: one } of others) expect(await one.payments.doPayment(sale())).toMatchObject({ stored: true });
  expect(performance.now() - began).toBeLessThan(MAX_CALL_MS);
  await others[1]!.shop.close();
  await others[1]!.end();
});
