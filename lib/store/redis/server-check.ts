import type { Cluster, Redis } from 'ioredis';
import { PaymentLogger } from '../../telemetry/payment-logger.js';
import type { RedisConnection } from './redis-connection.js';
import { Script } from './script-calls.js';

/** The version of the keys and their contents. */
const KEY_SCHEMA_VERSION = 1;
/** The lowest version that a release must know to use these keys. */
const MIN_KEY_SCHEMA_VERSION = 1;

const logger = new PaymentLogger('RedisPaymentStore');

/**
 * Reads the version of the keys, and the lowest version that a release must know to use them. Where there is none yet,
 * or an older one, it first writes the two of this release, which are `ARGV`. `KEYS[1]` is `{prefix}:`.
 */
const SCHEMA = new Script(`
local call, schema, lowest = redis.call, KEYS[1] .. 'schema', KEYS[1] .. 'lowest'
if tonumber(call('GET', schema) or 0) < tonumber(ARGV[1]) then
  call('SET', schema, ARGV[1])
  call('SET', lowest, ARGV[2])
end
return { call('GET', schema), call('GET', lowest) or call('GET', schema) }
`);

/** Reads the same two, 0 if there is none yet, and writes nothing. */
const FOUND_SCHEMA = new Script(`
local call, schema, lowest = redis.call, KEYS[1] .. 'schema', KEYS[1] .. 'lowest'
return { call('GET', schema) or '0', call('GET', lowest) or call('GET', schema) or '0' }
`);

/**
 * Writes the schema version to Redis if there is none yet or an older one, and checks that this release may use the
 * keys.
 * @param mustExist whether to write nothing, and to refuse a database that is not a payment store yet
 */
export async function checkSchema(connection: RedisConnection, base: string, mustExist: boolean): Promise<void> {
  const script = mustExist ? FOUND_SCHEMA : SCHEMA;
  const versions = [KEY_SCHEMA_VERSION, MIN_KEY_SCHEMA_VERSION];
  const found = await connection.ask((client) => script.run(client, base, versions));
  const [schema, lowest] = (found as [string, string]).map(Number) as [number, number];
  if (schema < KEY_SCHEMA_VERSION) {
    throw new Error(
      schema === 0
        ? 'There is no payment store in this Redis database: the application makes it when it starts.'
        : `The Redis store is of schema ${schema}, and this release of nestjs-card-payment needs ` +
            `${KEY_SCHEMA_VERSION}: the application updates it when it starts.`,
    );
  }
  if (lowest > KEY_SCHEMA_VERSION) {
    throw new Error(
      `The Redis store was written by a newer nestjs-card-payment (schema ${schema}, ` +
        `this one knows ${KEY_SCHEMA_VERSION}): upgrade this instance.`,
    );
  }
}

/**
 * Warns of settings with which a server could lose payments. Where servers do not show their settings, as managed ones
 * do not, it says so in the log instead of failing.
 */
export async function warnIfNotDurable(client: Redis | Cluster): Promise<void> {
  const servers = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis];
  try {
    const warnings = (await Promise.all(servers.map(warningsOf))).flat();
    new Set(warnings).forEach((warning) => logger.warn(warning));
  } catch {
    logger.log(
      'Redis does not show its settings (CONFIG GET). Make sure that it evicts nothing and has an append-only file.',
    );
  }
}

async function warningsOf(server: Redis): Promise<string[]> {
  const setting = async (name: string) => ((await server.config('GET', name)) as string[])[1];
  const [policy, appendOnly, fsync, snapshots] = [
    await setting('maxmemory-policy'),
    await setting('appendonly'),
    await setting('appendfsync'),
    await setting('save'),
  ];
  const warnings: string[] = [];
  if (policy !== 'noeviction') {
    warnings.push(`Redis may evict payments (maxmemory-policy ${policy}): set it to noeviction.`);
  }
  if (appendOnly === 'yes') {
    if (fsync !== 'always') {
      const lost = fsync === 'everysec' ? 'the last second' : 'the last half a minute or so';
      warnings.push(
        `Redis may lose acknowledged writes of ${lost} when its machine fails (appendfsync ${fsync}): ` +
          'a payment could then be charged twice, or an event lost. Set it to always.',
      );
    }
  } else if (snapshots) {
    warnings.push(
      'Redis loses all acknowledged writes since its last snapshot when it is restarted (appendonly no): ' +
        'set appendonly yes, appendfsync always.',
    );
  } else {
    warnings.push(
      'Redis forgets all payments when it is restarted (no append-only file, no snapshots): ' +
        'set appendonly yes, appendfsync always.',
    );
  }
  return warnings;
}
