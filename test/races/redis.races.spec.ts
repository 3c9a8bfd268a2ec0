import { startRedis } from '../services/redis.js';
import { describeRaces } from './races.js';

describeRaces('Redis', async () => {
  const redis = await startRedis({ args: ['--appendfsync', 'always'] });
  let databases = 0;
  return { create: () => Promise.resolve(`${redis.url}/${(databases += 1)}`), stop: () => redis.stop() };
});
