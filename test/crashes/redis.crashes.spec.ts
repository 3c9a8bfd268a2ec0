import { openRedisStore } from 'nestjs-card-payment/redis';
import { startRedis } from '../services/redis.js';
import { describeCrashes } from './crashes.js';
import { opened } from './opened.js';

describeCrashes('Redis', async () => {
  const redis = await startRedis({ args: ['--appendfsync', 'always'] });
  const { url } = redis;
  return { url, open: async () => opened(await openRedisStore(url)), stop: () => redis.stop() };
});
