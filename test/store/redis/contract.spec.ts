import { Cluster, Redis } from 'ioredis';
import { RedisPaymentStore } from '../../../lib/store/redis/index.js';
import { describePaymentStore } from '../../../lib/testing/index.js';
import { type RedisServer, startRedis } from '../../services/redis.js';

describe.each(['one server', 'a cluster'])('%s', (topology) => {
  let server: RedisServer;
  let clients: (Redis | Cluster)[];

  beforeAll(async () => {
    server = await startRedis({ cluster: topology === 'a cluster' });
    const connect = () => (server.nodes.length > 1 ? new Cluster([...server.nodes]) : new Redis(server.url));
    clients = [connect(), connect()];
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.stop();
  });

  describePaymentStore('RedisPaymentStore', {
    create: (clock) => Promise.resolve(new RedisPaymentStore(clients[0]!, { clock })),
    another: (_store, clock) => Promise.resolve(new RedisPaymentStore(clients[1]!, { clock })),
  });
});
