import { Redis } from 'ioredis';
import { RedisPaymentStore } from '../../../lib/store/redis/index.js';
import { describePaymentStore } from '../../../lib/testing/index.js';
import { type RedisServer, startRedis } from '../../services/redis.js';
import { once } from './once.js';

// One server for all changes: it ends with this process.
const server = await once<RedisServer>('redis', startRedis);
const client = await once('client', () => Promise.resolve(new Redis(server.url)));

describePaymentStore('RedisPaymentStore', {
  create: (clock) => Promise.resolve(new RedisPaymentStore(client, { clock })),
  another: (_store, clock) => Promise.resolve(new RedisPaymentStore(client, { clock })),
});
