import type { Cluster, Redis } from 'ioredis';
import { PaymentLogger } from '../../telemetry/payment-logger.js';

const logger = new PaymentLogger('RedisPaymentStore');

/**
 * Warns of settings with which servers would lose payments. Never fails: managed servers do not show their settings.
 */
export async function warnOfForgetfulServers(client: Redis | Cluster): Promise<void> {
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
