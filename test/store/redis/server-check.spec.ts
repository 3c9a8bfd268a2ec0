import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { startRedis, type RedisServer } from '../../services/redis.js';
import { type Logged, spyOnLogger } from './logged.js';
import { awaiting } from './records.js';

let server: RedisServer;
let logged: Logged;

describe('server check', () => {
  beforeAll(async () => {
    server = await startRedis({ args: ['--appendfsync', 'always'] });
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    logged = spyOnLogger();
  });

  test('is content with a server that forgets nothing', async () => {
    const store = await openRedisStore(server.url);
    await store.open();
    await store.open();
    await store.close();
    expect(logged).toEqual({ warn: [], log: [] });
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
    expect(logged.warn).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
  });

  test('says so when the server does not show its settings', async () => {
    const admin = new Redis(server.url);
    await admin.acl('SETUSER', 'shop', 'on', '>secret-word', '~{card-payment}:*', '+@all', '-@admin');
    const store = await openRedisStore(`redis://shop:secret-word@127.0.0.1:${server.nodes[0]!.port}`);
    await store.open();
    expect(await store.insert(awaiting())).toBeNull();
    await store.close();
    await admin.acl('DELUSER', 'shop');
    admin.disconnect();
    expect(logged.warn).toEqual([]);
    expect(logged.log).toEqual([expect.stringContaining('does not show its settings')]);
  });
});
