import { openRedisStore } from 'nestjs-card-payment/redis';
import { startRedis } from '../services/redis.js';
import { describeClocks } from './clocks.js';

describeClocks('Redis', async () => {
  const redis = await startRedis({ args: ['--appendfsync', 'always'] });
  let databases = 0;
  const create = () => Promise.resolve(`${redis.url}/${(databases += 1)}`);
  return { create, open: (url) => openRedisStore(url), stop: () => redis.stop() };
});
