import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '../../services/redis.js';
import { scriptCases } from './script-cases.js';

let server: RedisServer;
let client: Redis;

describe('script cases', () => {
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });

  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test.each(scriptCases)('$name', ({ run }) => run(client));
});
