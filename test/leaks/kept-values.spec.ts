import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getHeapSnapshot } from 'node:v8';
import type { PaymentStore } from 'nestjs-card-payment';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import { aPaymentEvent, aPaymentRecord } from '../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../services/postgres.js';
import { type RedisServer, startRedis } from '../services/redis.js';
import { printings } from './printings.js';

const folder = mkdtempSync(join(tmpdir(), 'kept-'));
const ENGINES = ['sqlite', 'postgres', 'redis'] as const;
const PAID = { handlerId: 'Orders: paid', type: 'payment.succeeded' } as const;

/** Random, and outside the heap: a search of the heap finds only the copies that others keep. */
const marks = Object.fromEntries(ENGINES.map((name) => [name, randomBytes(9)])) as Record<Engine, Buffer>;
const planted = randomBytes(9);
/** The control: a search has to find it. */
const keeper: string[] = [];

type Engine = (typeof ENGINES)[number];

let postgres: Postgres;
let redis: RedisServer;
let stores: Record<Engine, PaymentStore>;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis({ args: ['--appendfsync', 'always'] })]);
  stores = {
    sqlite: await openSqlStore(`sqlite:${join(folder, 'kept.db')}`),
    // Without a server's log: this process collects it, and it shows the keys that were taken already.
    postgres: await openSqlStore(`${await postgres.createDatabase()}?options=-clog_min_messages=panic`),
    redis: await openRedisStore(redis.url),
  };
  for (const name of ENGINES) {
    await stores[name].open();
    await payEverything(stores[name], marks[name].toString('hex'));
  }
  keeper.push(planted.toString('hex'));
});
afterAll(async () => {
  for (const store of Object.values(stores)) await store.close();
  await Promise.all([postgres.stop(), redis.stop()]);
  rmSync(folder, { recursive: true });
});

/** A first customer's payments, through every query that is run for a payment; the mark is in each of their texts. */
async function payEverything(store: PaymentStore, mark: string): Promise<void> {
  const texts = { reference: `order ${mark}`, idempotencyKey: `key ${mark}`, message: `note ${mark}` };
  const start: PaymentRecord = aPaymentRecord({
    conversationId: `C${mark}`,
    hostIdNonce: mark,
    state: 'awaiting',
    version: 1,
    tokenHash: mark,
    ...texts,
  });
  await store.announce('default', [PAID]);
  expect(await store.insert(start)).toBeNull();
  expect(await store.insert({ ...start, attemptId: 'again' })).toBe('conversationId');
  expect(await store.insert({ ...start, conversationId: `D${mark}`, tokenHash: null })).toBe('idempotencyKey');
  const claimed: PaymentRecord = { ...start, state: 'authorizing', version: 2, referenceLock: start.reference };
  expect(await store.replace(claimed, 1)).toBe('replaced');
  const paid: PaymentRecord = {
    ...claimed,
    state: 'succeeded',
    version: 3,
    dueAt: null,
    finalizedAt: claimed.createdAt,
    idempotencyKey: null,
  };
  const event = aPaymentEvent({ ...toPayment(paid), state: 'succeeded' });
  expect(await store.replace(paid, 2, event)).toBe('replaced');
  const second: PaymentRecord = { ...start, ...paid, conversationId: `E${mark}`, tokenHash: null, version: 1 };
  const unlocked: PaymentRecord = { ...second, state: 'charging', referenceLock: null };
  expect(await store.insert(unlocked)).toBeNull();
  expect(await store.replace({ ...unlocked, version: 2, state: 'review', pinsReference: true }, 1)).toBe('replaced');

  await store.find('default', start.conversationId);
  await store.findByTokenHash('default', mark);
  await store.findByIdempotencyKey('default', texts.idempotencyKey);
  await store.listByState('default', ['succeeded'], 10);
  await store.history('default', start.conversationId);
  await store.leaseDue({ account: 'default', leaseMs: 1000, limit: 10 });
  await store.fanOut('default', 10);
  const lease = {
    account: 'default',
    handlerId: PAID.handlerId,
    types: [PAID.type],
    lease: 'mine',
    leaseMs: 1000,
    limit: 2,
  };
  for (const { event: told } of await store.leaseDeliveries(lease)) {
    await store.acknowledge('default', PAID.handlerId, told.eventId);
  }
  await store.counts('default');
  await store.purge('default', { paymentsMs: 1, pairsMs: 1e9, keysMs: 1e9 });
  // Not before: Kysely keeps the values of the query that it compiled last.
  await store.findByReference('default', texts.reference);
}

/** Whether each text stands anywhere in the heap of this process. */
async function isInHeap(texts: readonly Buffer[]): Promise<boolean[]> {
  const found = texts.map(() => false);
  const sought = texts.map((text) => Buffer.from(text.toString('hex')));
  let rest: Buffer = Buffer.alloc(0);
  const snapshot = getHeapSnapshot();
  snapshot.on('data', (chunk: Buffer | string) => {
    const text = Buffer.concat([rest, typeof chunk === 'string' ? Buffer.from(chunk) : chunk]);
    sought.forEach((one, index) => (found[index] ||= text.includes(one)));
    rest = text.subarray(-40);
  });
  await once(snapshot, 'end');
  return found;
}

test.each(ENGINES)('a store of %s prints nothing of the first customer it served', (name) => {
  const text = marks[name].toString('hex');
  expect(printings(stores[name]).some((printed) => printed.includes(text))).toBe(false);
});

test('no store keeps anything of a payment in memory', async () => {
  expect(await isInHeap([planted, ...ENGINES.map((name) => marks[name])])).toEqual([true, false, false, false]);
});
