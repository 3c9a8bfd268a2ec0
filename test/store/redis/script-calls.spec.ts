import { jest } from '@jest/globals';
import { type Command, Redis } from 'ioredis';
import { RedisPaymentStore } from '../../../lib/store/redis/index.js';
import { Script } from '../../../lib/store/redis/script-calls.js';
import { at, StoreTrial } from '../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';
import { startRedis } from '../../services/redis.js';
import { type Call, CALLS, livePayment } from '../payment-life.js';

test('each transition and each delivery is one script call', async () => {
  const redis = await startRedis();
  const client = new Redis(redis.url);
  const store = new RedisPaymentStore(client);
  await store.open();
  const trial = new StoreTrial(store, store, new TestClock(at(0)));
  const live = async (call: Call) => livePayment(trial, await trial.handler('payment.succeeded'), call);
  // The scripts are sent in full the first time.
  await live((_name, call) => call());

  const sent: string[] = [];
  const { sendCommand } = client;
  jest.spyOn(client, 'sendCommand').mockImplementation((command: Command, ...rest) => {
    sent.push(command.name);
    return sendCommand.call(client, command, ...rest);
  });
  const counted: Record<string, string[]> = {};
  await live(async (name, call) => {
    sent.length = 0;
    const outcome = await call();
    counted[name] = [...sent];
    return outcome;
  });

  expect(counted).toEqual(Object.fromEntries(CALLS.map((name) => [name, ['evalsha']])));
  client.disconnect();
  await redis.stop();
});

test('a script is sent in full to a server that does not know it, and for no other reason', async () => {
  const script = new Script('return 1');
  const full = jest.fn<() => Promise<number>>().mockResolvedValue(1);
  const run = (error: Error) =>
    script.run({ evalsha: () => Promise.reject(error), eval: full } as unknown as Redis, 'key', []);
  const lost = new Error('Connection is closed.');
  await expect(run(lost)).rejects.toBe(lost);
  expect(full).not.toHaveBeenCalled();
  expect(await run(new Error('NOSCRIPT No matching script.'))).toBe(1);
  expect(full).toHaveBeenCalledTimes(1);
});
