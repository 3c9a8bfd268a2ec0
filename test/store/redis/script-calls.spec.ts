import { jest } from '@jest/globals';
import { type Command, Redis } from 'ioredis';
import { RedisPaymentStore } from '../../../lib/store/redis/index.js';
import { at, StoreTrial } from '../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';
import { startRedis } from '../../services/redis.js';

test('each transition and each delivery is one script call', async () => {
  const redis = await startRedis();
  const client = new Redis(redis.url);
  const store = new RedisPaymentStore(client);
  await store.open();
  const trial = new StoreTrial(store, store, new TestClock(at(0)));
  // The scripts are sent in full the first time.
  const life = async (count: <T>(name: string, work: () => Promise<T>) => Promise<T>) => {
    const handler = await trial.handler('payment.succeeded');
    const record = trial.record({ tokenHash: handler, idempotencyKey: handler, reference: handler });
    await count('open', () => store.insert(record));
    expect(await count('find', () => store.findByTokenHash(trial.account, handler))).toEqual(record);
    const claimed = await count('claim', () => trial.replace(record, { state: 'authorizing', referenceLock: handler }));
    const { event } = await count('settle', () => trial.publish(claimed, 'succeeded', at(1)));
    await count('fan out', () => trial.fanOut());
    const leased = await count('lease', () => trial.lease(handler));
    expect(leased.map((one) => one.event.eventId)).toEqual([event.eventId]);
    await count('acknowledge', () => store.acknowledge(trial.account, handler, event.eventId));
    expect(await trial.lease(handler)).toEqual([]);
  };
  await life((_name, work) => work());

  const sent: string[] = [];
  const { sendCommand } = client;
  jest.spyOn(client, 'sendCommand').mockImplementation((command: Command, ...rest) => {
    sent.push(command.name);
    return sendCommand.call(client, command, ...rest);
  });
  const counted: Record<string, string[]> = {};
  await life(async (name, work) => {
    sent.length = 0;
    const outcome = await work();
    counted[name] = [...sent];
    return outcome;
  });
  const calls = ['open', 'find', 'claim', 'settle', 'fan out', 'lease', 'acknowledge'];
  expect(counted).toEqual(Object.fromEntries(calls.map((name) => [name, ['evalsha']])));
  client.disconnect();
  await redis.stop();
});
