import { afterAll, beforeAll } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisPaymentStore } from 'nestjs-card-payment/redis';
import { describePaymentStore } from 'nestjs-card-payment/testing';
import { startRedis, type RedisServer } from '../../services/redis.js';

describe.each(['one server', 'a cluster'])('%s', (topology) => {
  let server: RedisServer;
  let stores: RedisPaymentStore[];
  let clients: (Redis | Cluster)[];

  beforeAll(async () => {
    server = await startRedis({ cluster: topology === 'a cluster' });
    const connect = () => (server.nodes.length > 1 ? new Cluster([...server.nodes]) : new Redis(server.url));
    clients = [connect(), connect()];
    stores = clients.map((client) => new RedisPaymentStore(client));
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.quit()));
    await server.stop();
  });

  describePaymentStore('RedisPaymentStore', {
    create: () => Promise.resolve(stores[0]!),
    another: () => Promise.resolve(stores[1]!),
  });
});
