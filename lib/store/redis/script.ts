import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/**
 * A Lua script that runs under one key's hash tag. Redis knows it by its digest; it is sent in full only to a server
 * that does not.
 */
export class Script {
  private readonly digest: string;

  constructor(private readonly lua: string) {
    this.digest = createHash('sha1').update(lua).digest('hex');
  }

  async run(client: Redis | Cluster, key: string, values: readonly (string | number)[]): Promise<unknown> {
    try {
      return await client.evalsha(this.digest, 1, key, ...values);
    } catch (error) {
      if (String((error as { message?: unknown }).message).startsWith('NOSCRIPT')) {
        return client.eval(this.lua, 1, key, ...values);
      }
      throw error;
    }
  }
}
