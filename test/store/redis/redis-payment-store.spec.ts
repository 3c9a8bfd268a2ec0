import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Cluster, Redis } from 'ioredis';
import { openRedisStore, RedisPaymentStore } from 'nestjs-card-payment/redis';
import type { PaymentEvent } from '../../../lib/payment/payment-event.js';
import { toPayment, type PaymentRecord } from '../../../lib/payment/payment.js';
import { aPaymentEvent, aPaymentRecord } from '../../../lib/testing/index.js';
import { startRedis, type RedisServer } from '../../services/redis.js';
import { startTcpProxy, type TcpProxy } from '../../services/tcp-proxy.js';

const T0 = new Date('2026-01-02T03:04:05.678Z');
const later = (ms: number) => new Date(T0.getTime() + ms);

let ids = 0;
const awaiting = (fields: Partial<PaymentRecord> = {}): PaymentRecord =>
  aPaymentRecord({
    conversationId: `payment-${++ids}`,
    state: 'awaiting',
    reference: null,
    version: 1,
    createdAt: T0,
    dueAt: null,
    ...fields,
  });

function succeeded(record: PaymentRecord): [PaymentRecord, PaymentEvent] {
  const next: PaymentRecord = {
    ...record,
    state: 'succeeded',
    version: record.version + 1,
    finalizedAt: T0,
    dueAt: null,
  };
  return [next, aPaymentEvent({ ...toPayment(next), state: 'succeeded' })];
}

function spyOnLogger() {
  const said = { warn: [] as string[], log: [] as string[] };
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => void said.warn.push(String(message)));
  jest.spyOn(Logger.prototype, 'log').mockImplementation((message: unknown) => void said.log.push(String(message)));
  return said;
}

async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
  for (let done = false; !done;) {
    done = await work().then(
      () => true,
      () => false,
    );
  }
}

let server: RedisServer;
let said: ReturnType<typeof spyOnLogger>;
const portOf = ({ nodes }: RedisServer) => nodes[0]!.port;

beforeAll(async () => {
  server = await startRedis({ args: ['--appendfsync', 'always'] });
});
afterAll(() => server.stop());
beforeEach(() => {
  said = spyOnLogger();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a write that comes to Redis twice', () => {
  let client: Redis;
  /** Sends each script twice, as a client does that lost the first answer, and returns the second. */
  let twice: Redis;
  beforeEach(async () => {
    client = new Redis(server.url);
    await client.flushall();
    twice = new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...args: unknown[]) => unknown;
        return name === 'eval' || name === 'evalsha'
          ? async (...args: unknown[]) => [await call(...args), await call(...args)][1]
          : call;
      },
    });
  });
  afterEach(() => client.disconnect());

  test('is answered as the first time, and leaves one trace', async () => {
    const store = new RedisPaymentStore(twice);
    await store.announceHandlers('default', [{ id: 'Orders.paid', types: ['payment.succeeded'] }], T0);
    const record = awaiting({ idempotencyKey: 'key', tokenHash: 'hash', referenceLock: 'order', reference: 'order' });
    expect(await store.insert(record)).toBeNull();
    expect(await store.insert(record)).toBe('conversationId');
    const [next, event] = succeeded(record);
    expect(await store.replace(next, 1, event)).toBe('replaced');
    expect(await store.replace(next, 1, event)).toBe('stale');
    expect(await store.history('default', record.conversationId)).toHaveLength(2);
    expect(await client.hlen('{card-payment}:default:deliveries:Orders.paid')).toBe(1);
    const id = record.conversationId;
    expect(JSON.parse((await client.hget('{card-payment}:default:deliveries:Orders.paid', id))!)).toHaveLength(1);
  });

  test('is recognised also when the payment has moved on in between', async () => {
    const store = new RedisPaymentStore(client);
    const record = awaiting();
    await store.insert(record);
    const evalsha = client.evalsha.bind(client);
    const sent: unknown[][] = [];
    jest.spyOn(client, 'evalsha').mockImplementation((...args: Parameters<typeof evalsha>) => {
      sent.push(args);
      return evalsha(...args);
    });
    await store.replace({ ...record, state: 'authorizing', version: 2 }, 1);
    await store.replace({ ...record, state: 'unknown', version: 3 }, 2);
    expect(await evalsha(...(sent[0] as Parameters<typeof evalsha>))).toBe('replaced');
    expect(await store.find('default', record.conversationId)).toMatchObject({ state: 'unknown', version: 3 });
  });

  test('of many claimants exactly one wins, whoever sends twice', async () => {
    const store = new RedisPaymentStore(twice);
    const record = awaiting();
    await store.insert(record);
    const claim = () => store.replace({ ...record, state: 'authorizing', version: 2 }, 1);
    const outcomes = await Promise.all(Array.from({ length: 48 }, claim));
    expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(47);
  });
});

describe('a connection that fails', () => {
  let proxy: TcpProxy;
  let store: RedisPaymentStore;
  const open = async (timeoutMs: number) => {
    store = await openRedisStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs });
    await store.open();
  };
  beforeEach(async () => {
    proxy = await startTcpProxy({ port: portOf(server) });
  });
  afterEach(async () => {
    await store.close();
    await proxy.stop();
  });

  test('after the write and before its answer: the caller still learns that it won', async () => {
    await open(10_000);
    const record = awaiting();
    proxy.loseNextAnswer();
    expect(await store.insert(record)).toBeNull();
    proxy.loseNextAnswer();
    expect(await store.replace({ ...record, state: 'authorizing', version: 2 }, 1)).toBe('replaced');
    expect(await store.history('default', record.conversationId)).toHaveLength(2);
    expect(said.warn).toEqual([
      expect.stringContaining('The connection to Redis is lost'),
      expect.stringContaining('The connection to Redis is lost'),
    ]);
  });

  test('is an error within the time-out, nothing is sent later, and all goes on when the server is back', async () => {
    await open(300);
    const record = awaiting();
    await proxy.goDown();
    await expect(store.insert(record)).rejects.toThrow('Redis gave no answer in 300 ms: connection lost');
    await proxy.comeUp();
    const other = awaiting();
    for (let done = false; !done;) {
      done = await store.insert(other).then(
        () => true,
        () => false,
      );
    }
    expect(await store.find('default', record.conversationId)).toBeNull();
    expect(await store.find('default', other.conversationId)).toEqual(other);
  });

  test('as a server that says nothing more: an error within the time-out', async () => {
    await open(300);
    proxy.freeze();
    await expect(store.find('default', 'x')).rejects.toThrow('Redis gave no answer in 300 ms: silent');
    proxy.thaw();
    await untilItWorks(() => store.find('default', 'x'));
  });

  test('as a server that says nothing at start-up: an error within the time-out', async () => {
    proxy.freeze();
    await expect(open(300)).rejects.toThrow('Redis gave no answer in 300 ms: silent');
  });

  test('as a server that is not there: an error at once, without credentials', async () => {
    await proxy.goDown();
    store = await openRedisStore(`redis://merchant:p%40ssword@127.0.0.1:${proxy.port}/0`);
    await expect(store.open()).rejects.toThrow(
      new Error(`Redis at 127.0.0.1:${proxy.port} cannot be reached: ECONNREFUSED`),
    );
    await proxy.comeUp();
    await expect(store.open()).rejects.toThrow(
      new Error('Redis refused the user or the database of the URL: WRONGPASS'),
    );
  });

  test('can be opened again when the server has come, and survives a loss after that', async () => {
    await proxy.goDown();
    store = await openRedisStore(`redis://127.0.0.1:${proxy.port}`);
    await expect(store.open()).rejects.toThrow('ECONNREFUSED');
    await proxy.comeUp();
    await store.open();
    proxy.loseNextAnswer();
    expect(await store.find('default', 'x')).toBeNull();
  });
});

test('errors hold nothing of what was sent', async () => {
  const full = await startRedis({ args: ['--maxmemory', '1'] });
  const client = new Redis(full.url);
  const error: unknown = await new RedisPaymentStore(client)
    .insert(awaiting({ message: 'planted' }))
    .catch((e: unknown) => e);
  expect(error).toEqual(new Error('Redis failed: OOM'));
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('planted');
  client.disconnect();
  await full.stop();
});

describe('open', () => {
  test('is content with a server that forgets nothing', async () => {
    const store = await openRedisStore(server.url);
    await store.open();
    await store.open();
    await store.close();
    expect(said).toEqual({ warn: [], log: [] });
  });

  test.each([
    [['--appendonly', 'no'], ['Redis forgets all payments when it is restarted']],
    [['--appendonly', 'no', '--save', '60', '1'], ['Redis loses all acknowledged writes since its last snapshot']],
    [[], ['Redis may lose acknowledged writes of the last second']],
    [['--appendfsync', 'no'], ['Redis may lose acknowledged writes of the last half a minute']],
    [
      ['--appendfsync', 'always', '--maxmemory-policy', 'allkeys-lru'],
      ['Redis may evict payments (maxmemory-policy allkeys-lru)'],
    ],
  ])('warns of a server with %j', async (args, warnings) => {
    const forgetful = await startRedis({ args });
    const store = await openRedisStore(forgetful.url);
    await store.open();
    await store.close();
    await forgetful.stop();
    expect(said.warn).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
  });

  test('says so when the server does not show its settings', async () => {
    const admin = new Redis(server.url);
    await admin.acl('SETUSER', 'shop', 'on', '>secret-word', '~{card-payment}:*', '+@all', '-@admin');
    const store = await openRedisStore(`redis://shop:secret-word@127.0.0.1:${portOf(server)}`);
    await store.open();
    expect(await store.insert(awaiting())).toBeNull();
    await store.close();
    await admin.acl('DELUSER', 'shop');
    admin.disconnect();
    expect(said.warn).toEqual([]);
    expect(said.log).toEqual([expect.stringContaining('does not show its settings')]);
  });

  test('refuses a database that the server does not have', async () => {
    const store = await openRedisStore(`${server.url}/4711`);
    await expect(store.open()).rejects.toThrow('Redis refused the user or the database of the URL: ERR');
  });

  test('refuses a schema newer than the code', async () => {
    const admin = new Redis(server.url);
    await admin.set('{tomorrow}:schema', '2');
    const store = await openRedisStore(server.url, { prefix: 'tomorrow' });
    await expect(store.open()).rejects.toThrow('written by a newer nestjs-card-payment (schema 2, this one knows 1)');
    await store.close();
    admin.disconnect();
  });
});

describe('what cannot be a store', () => {
  test.each([
    'redis:',
    'redis://',
    'http://localhost:6379',
    'redis://:pass-word@localhost:port',
    'redis://:pass-word@localhost/name',
    'redis://:pass-word@localhost/0?db=1',
    'redis://:%zz-pass-word@localhost',
  ])('URL %s', async (url) => {
    const error: unknown = await openRedisStore(url).catch((e: unknown) => e);
    expect(error).toEqual(
      new Error(
        'The URL of the Redis store must be redis://[user:password@]host[:port][/database], or rediss:// for TLS.',
      ),
    );
    expect(inspect(error)).not.toContain('pass-word');
  });

  test.each(['', '{a}', 'a}'])('prefix %j', (prefix) => {
    const client = new Redis({ lazyConnect: true });
    expect(() => new RedisPaymentStore(client, { prefix })).toThrow('text without braces');
  });
});

test('stores of different prefixes and accounts on one server do not see each other, and close leaves the client open', async () => {
  const client = new Redis(server.url);
  const [one, two] = [new RedisPaymentStore(client), new RedisPaymentStore(client, { prefix: 'other' })];
  const record = awaiting({ referenceLock: 'order' });
  expect(await one.insert(record)).toBeNull();
  expect(await one.insert({ ...record, account: 'a:b' })).toBeNull();
  expect(await two.insert(record)).toBeNull();
  await one.close();
  expect(await two.find('default', record.conversationId)).toEqual(record);
  client.disconnect();
});

test('of a purged payment only its referenceLock stays', async () => {
  const client = new Redis(server.url);
  await client.flushall();
  const store = new RedisPaymentStore(client);
  await store.announceHandlers('default', [{ id: 'Orders: paid', types: ['payment.succeeded'] }], T0);
  const record = awaiting({ idempotencyKey: 'k', tokenHash: 'h', referenceLock: 'o', reference: 'o', dueAt: T0 });
  await store.insert(record);
  const [next, event] = succeeded(record);
  await store.replace(next, 1, event);
  expect(await store.purge('default', later(1), T0)).toEqual({ payments: 0, events: 0 });
  expect(await store.purge('default', later(1), later(1))).toEqual({ payments: 1, events: 1 });
  expect(await client.keys('*')).toEqual(['{card-payment}:default:referenceLock:o']);
  client.disconnect();
});

test('a purge of many goes past those that are kept', async () => {
  const client = new Redis(server.url);
  await client.flushall();
  const store = new RedisPaymentStore(client);
  await store.announceHandlers('default', [{ id: 'h', types: ['payment.succeeded'] }], T0);
  await Promise.all(
    Array.from({ length: 900 }, async (_, index) => {
      const [record, event] = succeeded(awaiting());
      await store.insert(record, index % 3 === 0 ? event : undefined);
    }),
  );
  expect(await store.purge('default', later(1), T0)).toEqual({ payments: 600, events: 0 });
  expect(await store.listByState('default', ['succeeded'], 1000)).toHaveLength(300);
  client.disconnect();
});

describe('a cluster', () => {
  let cluster: RedisServer;
  beforeAll(async () => {
    cluster = await startRedis({ cluster: true, args: ['--appendfsync', 'always'] });
  });
  afterAll(() => cluster.stop());

  test('all keys of a store are in one slot, warnings are of all nodes', async () => {
    const odd = new Redis(portOf(cluster));
    await odd.config('SET', 'maxmemory-policy', 'allkeys-lfu');
    odd.disconnect();
    const client = new Cluster([...cluster.nodes]);
    const store = new RedisPaymentStore(client);
    await store.open();
    const record = awaiting({ idempotencyKey: 'k', tokenHash: 'h', referenceLock: 'o', reference: 'o', dueAt: T0 });
    expect(await store.insert(record)).toBeNull();
    expect(await store.findByTokenHash('default', 'h')).toEqual(record);
    const keys = await Promise.all(client.nodes('master').map((node) => node.keys('*')));
    expect(keys.filter((some) => some.length > 0)).toHaveLength(1);
    client.disconnect();
    expect(said.warn).toEqual([expect.stringContaining('maxmemory-policy allkeys-lfu')]);
  });

  test('a client for one server is asked to be a Cluster', async () => {
    const stores = cluster.nodes.map(({ port }) => openRedisStore(`redis://127.0.0.1:${port}`));
    const opened = await Promise.all(
      stores.map(async (made) => {
        const store = await made;
        const message = await store.open().then(
          () => 'open',
          (error: Error) => error.message,
        );
        await store.close();
        return message;
      }),
    );
    const moved = 'Redis failed: MOVED (it is part of a cluster: give the store an ioredis Cluster)';
    expect(opened.sort()).toEqual([moved, moved, 'open']);
  });
});
