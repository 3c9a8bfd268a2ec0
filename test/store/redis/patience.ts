import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisServer } from '../../services/redis.js';

const MAX_WAIT_MS = 20_000;

/** Tries until it goes well, and gives up with its last error. */
export async function untilItWorks<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await delay(10);
  }
}

/** How many scripts the server has run so far, whoever sent them. */
export async function scriptsRun(server: RedisServer): Promise<number> {
  const client = new Redis(server.url);
  const statistics = await client.info('commandstats');
  client.disconnect();
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1] ?? 0);
}
