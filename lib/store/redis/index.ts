export { openRedisStore } from './open-redis-store.js';
export { RedisPaymentStore, type RedisPaymentStoreOptions } from './redis-payment-store.js';
