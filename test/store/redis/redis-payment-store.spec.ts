import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { openRedisStore, RedisPaymentStore } from 'nestjs-card-payment/redis';
import { TestClock } from 'nestjs-card-payment/testing';
import { startRedis, type RedisServer } from '../../services/redis.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { withTimeout } from '../../../lib/payment/with-timeout.js';
import { type Logged, spyOnLogger } from './logged.js';
import { awaiting, succeeded, T0 } from './records.js';

const PAID = { handlerId: 'Orders: paid', type: 'payment.succeeded' } as const;
const REQUEST = { account: 'default', handlerId: PAID.handlerId, types: [PAID.type], leaseMs: 1000, limit: 2 };
const later = (ms: number) => new Date(T0.getTime() + ms);

let server: RedisServer;
let logged: Logged;

describe('redis payment store', () => {
  beforeAll(async () => {
    server = await startRedis({ args: ['--appendfsync', 'always'] });
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    logged = spyOnLogger();
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
      await store.announce('default', [PAID]);
      const record = awaiting({ idempotencyKey: 'key', tokenHash: 'hash', referenceLock: 'order', reference: 'order' });
      expect(await store.insert(record)).toBeNull();
      expect(await store.insert(record)).toBe('conversationId');
      const [next, event] = succeeded(record);
      expect(await store.replace(next, 1, event)).toBe('replaced');
      expect(await store.replace(next, 1, event)).toBe('stale');
      expect(await store.history('default', record.conversationId)).toHaveLength(2);
      expect(await store.fanOut('default', 10)).toBe(0);
      expect(await store.counts('default')).toMatchObject({ waitingEvents: 0, openDeliveries: 1 });
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

    test('exactly one of many claimants wins, even if commands are sent twice', async () => {
      const store = new RedisPaymentStore(twice);
      const record = awaiting();
      await store.insert(record);
      const claim = () => store.replace({ ...record, state: 'authorizing', version: 2 }, 1);
      const outcomes = await Promise.all(Array.from({ length: 48 }, claim));
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(47);
    });
  });

  describe('a write that comes to Redis after it was given up', () => {
    let client: Redis;
    let store: RedisPaymentStore;
    beforeEach(async () => {
      client = new Redis(server.url);
      await client.flushall();
      store = new RedisPaymentStore(client, { timeoutMs: 100 });
      await store.announce('default', [PAID]);
      // From here on the server knows the scripts, as that of a shop that runs does.
      await store.insert(awaiting({ idempotencyKey: 'other' }));
      await store.replace(awaiting(), 9);
      await store.leaseDeliveries({ ...REQUEST, lease: 'first' });
    });
    afterEach(() => client.disconnect());

    /** Sends what `write` sends only when the test says so, and gives the reply. */
    async function delay(write: () => Promise<unknown>): Promise<() => Promise<unknown>> {
      const evalsha = client.evalsha.bind(client);
      const held: Parameters<typeof evalsha>[] = [];
      const hold = jest.spyOn(client, 'evalsha').mockImplementation((...sent: Parameters<typeof evalsha>) => {
        held.push(sent);
        return new Promise(() => undefined);
      });
      await expect(withTimeout(5_000, () => write())).rejects.toThrow('Redis gave no answer in 100 ms');
      hold.mockRestore();
      expect(held).toHaveLength(1);
      return () => evalsha(...held[0]!);
    }

    async function everything(): Promise<unknown> {
      const keys = (await client.keys('*')).sort();
      return Promise.all(keys.map(async (key) => [key, (await client.dumpBuffer(key)).toString('base64')]));
    }

    const opening = () =>
      awaiting({ idempotencyKey: 'key', tokenHash: 'hash', referenceLock: 'order', reference: 'order' });
    const unsent = (record: PaymentRecord) => ({
      ...succeeded({ ...record, version: 0, state: 'failed', idempotencyKey: null, tokenHash: null })[0],
      referenceLock: null,
      attemptId: record.attemptId,
    });

    test('as an opening, when its fence is there: it changes nothing', async () => {
      const record = opening();
      const landing = await delay(() => store.insert(record));
      expect(await store.insert(unsent(record))).toBeNull();
      const before = await everything();
      expect(await landing()).toBe('conversationId');
      expect(await landing()).toBe('conversationId');
      expect(await everything()).toEqual(before);
    });

    test('as an opening that had landed and was then ended by its fence: it changes nothing', async () => {
      const record = opening();
      const landing = await delay(() => store.insert(record));
      expect(await landing()).toBeNull();
      expect(await store.replace({ ...unsent(record), version: 2 }, 1)).toBe('replaced');
      const before = await everything();
      expect(await landing()).toBeNull();
      expect(await everything()).toEqual(before);
    });

    test('as a claim, when its fence has raised the version: it changes nothing', async () => {
      const record = opening();
      await store.insert(record);
      const landing = await delay(() => store.replace({ ...record, state: 'authorizing', version: 2 }, 1));
      expect(await store.replace({ ...record, version: 2, attemptId: 'fence' }, 1)).toBe('replaced');
      const before = await everything();
      expect(await landing()).toBe('stale');
      expect(await everything()).toEqual(before);
      expect(await store.replace({ ...record, state: 'authorizing', version: 3 }, 2)).toBe('replaced');
    });

    test('as an outcome with its event, written anew meanwhile: the event is there once', async () => {
      const record = opening();
      await store.insert(record);
      const [next, event] = succeeded(record);
      const landing = await delay(() => store.replace(next, 1, event));
      expect(await store.replace(next, 1, event)).toBe('replaced');
      const before = await everything();
      expect(await landing()).toBe('stale');
      expect(await everything()).toEqual(before);
      expect(await store.fanOut('default', 10)).toBe(1);
    });

    test('as a lease: what it takes is back when the lease is over', async () => {
      const clock = new TestClock(T0);
      store = new RedisPaymentStore(client, { timeoutMs: 100, clock });
      await store.announce('default', [PAID]);
      for (let payments = 0; payments < 4; payments += 1) {
        const [record, event] = succeeded(awaiting({ version: 0, dueAt: null }));
        await store.insert(record, event);
      }
      await store.fanOut('default', 10);
      const landing = await delay(() => store.leaseDeliveries({ ...REQUEST, lease: 'lost' }));
      await landing();
      await landing();
      expect(await store.leaseDeliveries({ ...REQUEST, lease: 'mine', limit: 10 })).toEqual([]);
      clock.set(later(999));
      expect(await store.leaseDeliveries({ ...REQUEST, lease: 'mine', limit: 10 })).toEqual([]);
      clock.set(later(1000));
      const leased = await store.leaseDeliveries({ ...REQUEST, lease: 'mine', limit: 10 });
      expect(leased).toHaveLength(4);
      expect(leased.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0]);
      await landing();
      for (const { event } of leased) {
        const delivery = { account: 'default', handlerId: PAID.handlerId, eventId: event.eventId };
        expect(await store.renewLease({ ...delivery, lease: 'lost' }, 5000)).toBe(false);
        expect(await store.renewLease({ ...delivery, lease: 'mine' }, 5000)).toBe(true);
      }
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

  describe('the schema', () => {
    let admin: Redis;
    beforeEach(async () => {
      admin = new Redis(server.url);
      await admin.flushall();
    });
    afterEach(() => admin.disconnect());
    const open = async () => {
      const store = await openRedisStore(server.url);
      await store.open().finally(() => store.close());
    };

    test('is entered at the first start, and again by a release that knows a newer one', async () => {
      await open();
      expect(await admin.mget('{card-payment}:schema', '{card-payment}:lowest')).toEqual(['1', '1']);
      await admin.mset('{card-payment}:schema', '0', '{card-payment}:lowest', '0');
      await open();
      expect(await admin.mget('{card-payment}:schema', '{card-payment}:lowest')).toEqual(['1', '1']);
    });

    test.each([
      ['2', null],
      ['2', '2'],
      ['7', '3'],
    ])('%s, for releases that know %s, is refused', async (schema, lowest) => {
      await admin.set('{card-payment}:schema', schema);
      if (lowest) await admin.set('{card-payment}:lowest', lowest);
      await expect(open()).rejects.toThrow(
        `written by a newer nestjs-card-payment (schema ${schema}, this one knows 1): upgrade this instance.`,
      );
      expect(await admin.get('{card-payment}:schema')).toBe(schema);
    });

    test('of a newer release that this one may use is used, and left as it is', async () => {
      await admin.mset('{card-payment}:schema', '2', '{card-payment}:lowest', '1');
      await open();
      expect(await admin.mget('{card-payment}:schema', '{card-payment}:lowest')).toEqual(['2', '1']);
    });
  });

  test.each(['', '{a}', 'a}'])('prefix %j is refused', (prefix) => {
    const client = new Redis({ lazyConnect: true });
    expect(() => new RedisPaymentStore(client, { prefix })).toThrow('text without braces');
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

  test('after a purge the referenceLock stays, and for a while the hash of the idempotencyKey', async () => {
    const client = new Redis(server.url);
    await client.flushall();
    const clock = new TestClock(T0);
    const store = new RedisPaymentStore(client, { clock });
    await store.announce('default', [PAID]);
    const record = awaiting({ idempotencyKey: 'k', tokenHash: 'h', referenceLock: 'o', reference: 'o', dueAt: T0 });
    await store.insert(record);
    const [next, event] = succeeded(record);
    await store.replace(next, 1, event);
    const retention = { paymentsMs: 500, pairsMs: 2000, keysMs: 4000 };
    clock.set(later(1000));
    expect(await store.purge('default', retention)).toEqual({ payments: 0, events: 0 });
    clock.set(later(2001));
    expect(await store.purge('default', retention)).toEqual({ payments: 1, events: 1 });
    const [lock, spent] = ['{card-payment}:default:referenceLock:o', '{card-payment}:default:spentKeys'];
    expect((await client.keys('*')).sort()).toEqual([lock, spent]);
    expect(await client.zrange(spent, '0', '-1')).toEqual([createHash('sha256').update('k').digest('base64url')]);
    expect(await store.insert(awaiting({ idempotencyKey: 'k' }))).toBe('idempotencyKey');
    expect(await Promise.all([client.ttl(lock), client.ttl(spent)])).toEqual([-1, -1]);
    clock.set(later(6002));
    await store.purge('default', retention);
    expect(await client.keys('*')).toEqual([lock]);
    client.disconnect();
  });

  test('a purge of many goes past those that are kept, and leaves the rest for the next when it takes long', async () => {
    const client = new Redis(server.url);
    await client.flushall();
    const clock = new TestClock(T0);
    const store = new RedisPaymentStore(client, { clock });
    await store.announce('default', [PAID]);
    await Promise.all(
      Array.from({ length: 900 }, async (_, index) => {
        const [record, event] = succeeded(awaiting());
        await store.insert(record, index % 3 === 0 ? event : undefined);
      }),
    );
    clock.set(later(1));
    const retention = { paymentsMs: 0, pairsMs: 1000, keysMs: 0 };
    // Each look at the clock is ten seconds after the last.
    let seconds = 0;
    const looks = jest.spyOn(performance, 'now').mockImplementation(() => (seconds += 10) * 1_000);
    const first = await store.purge('default', retention);
    looks.mockRestore();
    expect(first.hasMore).toBe(true);
    expect(await store.purge('default', retention)).toEqual({ payments: 600 - first.payments, events: 0 });
    expect(await store.listByState('default', ['succeeded'], 1000)).toHaveLength(300);
    client.disconnect();
  });

  test('a purge that takes long goes on where it stopped: those that have to stay do not keep it from the others', async () => {
    const client = new Redis(server.url);
    await client.flushall();
    const clock = new TestClock(T0);
    const store = new RedisPaymentStore(client, { clock });
    await store.announce('default', [PAID]);
    for (const [count, hasEvent] of [
      [500, true],
      [300, false],
    ] as const) {
      const settled = Array.from({ length: count }, async () => {
        const [record, event] = succeeded(awaiting());
        const finalizedAt = hasEvent ? T0 : later(1);
        await store.insert({ ...record, finalizedAt }, hasEvent ? event : undefined);
      });
      await Promise.all(settled);
    }
    clock.set(later(2));
    let seconds = 0;
    const looks = jest.spyOn(performance, 'now').mockImplementation(() => (seconds += 10) * 1_000);
    const purged: number[] = [];
    for (let passes = 0; passes < 4; passes += 1) {
      purged.push((await store.purge('default', { paymentsMs: 0, pairsMs: 1000, keysMs: 0 })).payments);
    }
    looks.mockRestore();
    expect(purged).toEqual([0, 0, 100, 200]);
    client.disconnect();
  });

  test('on a cluster all keys of a store are in one slot, and warnings are of all nodes', async () => {
    const cluster = await startRedis({ cluster: true, args: ['--appendfsync', 'always'] });
    const odd = new Redis(cluster.nodes[0]!.port);
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
    expect(logged.warn).toEqual([expect.stringContaining('maxmemory-policy allkeys-lfu')]);
    await cluster.stop();
  });
});
