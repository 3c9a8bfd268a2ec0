import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { PAIR_ALIVE_MS } from '../../../lib/store/payment-outbox.js';
import { RedisPaymentStore } from '../../../lib/store/redis/index.js';
import { aPostponement, at, eventIds, leased, StoreTrial, unique } from '../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';

/** What the scripts must do beside what every store must. Each case has a prefix of its own. */
export interface ScriptCase {
  readonly name: string;
  /** @param client may change what it sends */
  run(client: Redis): Promise<void>;
}

interface Prepared {
  readonly prefix: string;
  readonly trial: StoreTrial;
  /** The keys of the account, without what they all begin with. */
  keys(): Promise<string[]>;
}

function prepare(client: Redis): Prepared {
  const prefix = unique('cases');
  const clock = new TestClock(at(0));
  const store = new RedisPaymentStore(client, { prefix, clock });
  const trial = new StoreTrial(store, store, clock);
  const base = `{${prefix}}:${trial.account}:`;
  const keys = async () => (await client.keys(`${base}*`)).map((key) => key.slice(base.length)).sort();
  return { prefix, trial, keys };
}

const FIRST = 'payment.unknown';
const SECOND = 'payment.succeeded';
/** More than all looks of a lease of one delivery, one after the other, would find. */
const HELD_UP = 300;

export const scriptCases: readonly ScriptCase[] = [
  {
    name: 'the time is that of the server',
    async run(client) {
      const { prefix } = prepare(client);
      const time = async () => {
        const [seconds, micros] = (await client.time()) as unknown as [string, string];
        return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
      };
      const [before, now, after] = [await time(), await new RedisPaymentStore(client, { prefix }).now(), await time()];
      assert.ok(now.getTime() >= before && now.getTime() <= after, 'the time must be between the two');
    },
  },
  {
    name: 'of what a payment does not have, no key is written, when it is new, changed or purged',
    async run(client) {
      const { trial, keys } = prepare(client);
      const record = await trial.insert({ state: 'charging' });
      const own = [`history:${record.conversationId}`, `payment:${record.conversationId}`];
      assert.deepEqual(await keys(), [...own, 'state:charging']);
      await trial.replace(record, { state: 'failed', finalizedAt: at(1) });
      assert.deepEqual(await keys(), ['finalized', ...own, 'state:failed']);
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.deepEqual(await keys(), []);
    },
  },
  {
    name: 'a lease finds what is due behind any number of deliveries that are held up',
    async run(client) {
      const { trial } = prepare(client);
      const handler = await trial.handler(FIRST, SECOND);
      await trial.inChunks(Array<null>(HELD_UP).fill(null), async () => {
        const { record } = await trial.publish(await trial.insert(), 'unknown', at(1));
        await trial.publish(record, 'succeeded', at(2));
      });
      const first = await trial.take(handler, { lease: 'mine', limit: HELD_UP });
      assert.equal(first.length, HELD_UP);
      await trial.inChunks(first, (one) =>
        trial.store.postpone(leased(one, 'mine'), aPostponement({ retryInMs: 9 * PAIR_ALIVE_MS })),
      );
      // The pairs are announced again, so what was held up for ten minutes at first is so for ten more.
      trial.moveTo(PAIR_ALIVE_MS - 1);
      await trial.announce(handler, FIRST, SECOND);
      trial.moveTo(PAIR_ALIVE_MS + 1);
      const { event } = await trial.publish(await trial.insert(), 'succeeded', at(3));
      assert.deepEqual(eventIds(await trial.take(handler, { limit: 1 })), [event.eventId]);
      assert.deepEqual(await trial.lease(handler, { limit: 1 }), []);
    },
  },
];
