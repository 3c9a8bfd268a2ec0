/**
 * The store in Redis, opened in code: with your own client.
 *
 * @packageDocumentation
 */

export { openRedisStore } from './open-redis-store.js';
export { RedisPaymentStore, type RedisPaymentStoreOptions } from './redis-payment-store.js';
