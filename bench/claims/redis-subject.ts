import { Redis } from 'ioredis';
import { openRedisStore, RedisPaymentStore } from 'nestjs-card-payment/redis';
import { startRedis } from '../../test/services/redis.js';
import { claimedRecord } from '../records.js';
import type { ClaimSubject } from './claim-subject.js';

type EvalSha = [digest: string, keys: number, ...values: (string | number)[]];

export async function redisSubject(): Promise<ClaimSubject> {
  const redis = await startRedis({ args: ['--appendfsync', 'always'] });
  const recordedClient = new Redis(`${redis.url}/1`);
  let recorded: EvalSha[] = [];
  const recording = new Proxy(recordedClient, {
    get: (client, name) => {
      const value: unknown = Reflect.get(client, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(client) as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        if (name === 'evalsha') recorded.push(given as EvalSha);
        return method(...given);
      };
    },
  });
  const recorder = new RedisPaymentStore(recording);
  const stores = { store: await openRedisStore(`${redis.url}/2`), twin: await openRedisStore(`${redis.url}/3`) };
  await Promise.all([recorder.open(), stores.store.open(), stores.twin.open()]);
  const bare = new Redis(`${redis.url}/3`);

  return {
    name: 'Redis (appendfsync always)',
    openStores: () => Promise.resolve(stores),
    async bareClaims(records) {
      const claims = [];
      for (const record of records) {
        await recorder.insert(record);
        recorded = [];
        await recorder.replace(claimedRecord(record), record.version);
        const calls = recorded;
        claims.push(async () => {
          for (const call of calls) await bare.evalsha(...call);
        });
      }
      return claims;
    },
    close: async () => {
      bare.disconnect();
      recordedClient.disconnect();
      await redis.stop();
    },
  };
}
