import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openRedisStore, type RedisPaymentStore } from 'nestjs-card-payment/redis';
import { startRedis, type RedisServer } from '../../services/redis.js';
import { startTcpProxy, type TcpProxy } from '../../services/tcp-proxy.js';
import { type Logged, spyOnLogger } from './logged.js';
import { awaiting } from './records.js';
import { scriptsRun, untilItWorks } from './patience.js';

let server: RedisServer;
let logged: Logged;

describe('open redis store', () => {
  beforeAll(async () => {
    server = await startRedis({ args: ['--appendfsync', 'always'] });
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    logged = spyOnLogger();
  });

  describe('a connection that fails', () => {
    let proxy: TcpProxy;
    let store: RedisPaymentStore;
    const open = async (timeoutMs: number) => {
      store = await openRedisStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs });
      await store.open();
    };
    beforeEach(async () => {
      proxy = await startTcpProxy({ port: server.nodes[0]!.port });
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
      expect(logged.warn).toEqual([
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
      expect(await untilItWorks(() => store.insert(other))).toBeNull();
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

    test('as one that is frozen while new ones work: calls go on, and what was held comes late', async () => {
      await open(300);
      const record = awaiting();
      await store.insert(record);
      proxy.hold();
      await expect(store.replace({ ...record, state: 'authorizing', version: 2 }, 1)).rejects.toThrow('300 ms: silent');
      expect(await untilItWorks(() => store.find('default', record.conversationId))).toEqual(record);
      expect(await store.replace({ ...record, attemptId: 'fence', version: 2 }, 1)).toBe('replaced');
      const before = await scriptsRun(server);
      proxy.release();
      await untilItWorks(async () => expect(await scriptsRun(server)).toBe(before + 1));
      const current = await store.find('default', record.conversationId);
      expect(current).toMatchObject({ state: 'awaiting', version: 2, attemptId: 'fence' });
      expect(await store.history('default', record.conversationId)).toHaveLength(2);
    });

    test('as one that is lost, with a silent one after it: an error within the time-out, then a third', async () => {
      await open(1000);
      proxy.freeze();
      proxy.loseNextAnswer();
      await expect(store.find('default', 'x')).rejects.toThrow('Redis gave no answer in 1000 ms: silent');
      proxy.thaw();
      expect(await untilItWorks(() => store.find('default', 'x'))).toBeNull();
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

  test('a server that says nothing to user and database: an error within the time-out', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const store = await openRedisStore(`redis://merchant:p%40ssword@127.0.0.1:${port}/1`, { timeoutMs: 300 });
    await expect(store.open()).rejects.toThrow('no answer in 300 ms');
    silent.close();
  });

  test('a database that the server does not have is refused', async () => {
    const store = await openRedisStore(`${server.url}/4711`);
    await expect(store.open()).rejects.toThrow('Redis refused the user or the database of the URL: ERR');
  });

  test.each([
    'redis:',
    'redis://',
    'http://localhost:6379',
    'redis://:pass-word@localhost:port',
    'redis://:pass-word@localhost/name',
    'redis://:pass-word@localhost/0?db=1',
    'redis://:%zz-pass-word@localhost',
  ])('URL %s is refused', async (url) => {
    const error: unknown = await openRedisStore(url).catch((e: unknown) => e);
    expect(error).toEqual(
      new Error(
        'The URL of the Redis store must be redis://[user:password@]host[:port][/database], or rediss:// for TLS.',
      ),
    );
    expect(inspect(error)).not.toContain('pass-word');
  });

  test('a client for one server of a cluster is asked to be a Cluster', async () => {
    const cluster = await startRedis({ cluster: true });
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
    await cluster.stop();
  });
});
