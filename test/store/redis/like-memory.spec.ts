import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { MemoryPaymentStore, type PaymentStore } from 'nestjs-card-payment';
import { RedisPaymentStore } from 'nestjs-card-payment/redis';
import { TestClock } from 'nestjs-card-payment/testing';
import type { PaymentEventType } from '../../../lib/payment/payment-event.js';
import type { PaymentEventState } from '../../../lib/payment/payment-state.js';
import { eventOf } from '../../../lib/payment/payment-event.js';
import { startRedis, type RedisServer } from '../../services/redis.js';
import { awaiting } from './records.js';

const MINUTE_MS = 60_000;
const STATES = ['unknown', 'review', 'succeeded'] as const satisfies PaymentEventState[];
const TYPES = STATES.map((state): PaymentEventType => `payment.${state}`);
const HANDLERS = ['Orders.paid', 'Mail: sent'];
const PAIRS = HANDLERS.flatMap((handlerId) => TYPES.map((type) => ({ handlerId, type })));

/** What a step does to a store; `leases` are those of earlier steps, as [handler, event, lease]. */
interface Step {
  readonly name: string;
  run(store: PaymentStore, leases: readonly (readonly [string, string, string])[]): Promise<unknown>;
}

let server: RedisServer;
let client: Redis;

beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

const payment = fc.integer({ min: 1, max: 3 }).map((number) => `P:${number}`);
const handler = fc.constantFrom(...HANDLERS);
const taken = fc.nat({ max: 100 });

const step: fc.Arbitrary<Step | number> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(1_000, MINUTE_MS, 5 * MINUTE_MS, 11 * MINUTE_MS) },
  {
    weight: 6,
    arbitrary: fc.tuple(payment, fc.constantFrom(...STATES)).map(([id, state]): Step => ({
      name: `write ${id} ${state}`,
      async run(store) {
        const old = await store.find('default', id);
        const now = await store.now();
        const settled = state === 'succeeded' ? now : null;
        const fields = { state, updatedAt: now, finalizedAt: settled, idempotencyKey: `key of ${id}` };
        const record = { ...(old ?? { ...awaiting({ conversationId: id }), version: 0 }), ...fields };
        const next = { ...record, version: record.version + 1 };
        const event = eventOf(next);
        return old ? store.replace(next, old.version, event) : store.insert(next, event);
      },
    })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(PAIRS, PAIRS.slice(1), PAIRS.slice(0, 2), PAIRS.slice(4)).map((pairs): Step => ({
      name: `announce ${JSON.stringify(pairs)}`,
      run: (store) => store.announce('default', pairs),
    })),
  },
  { weight: 8, arbitrary: fc.constant<Step>({ name: 'fan out', run: (store) => store.fanOut('default', 100) }) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(handler, fc.constantFrom(TYPES, TYPES.slice(0, 1), TYPES.slice(1)), fc.uuid())
      .map(([handlerId, types, lease]): Step => ({
        name: `lease ${handlerId} ${types.join()} ${lease}`,
        async run(store) {
          const request = { account: 'default', handlerId, types, lease, leaseMs: MINUTE_MS, limit: 100 };
          const leased = await store.leaseDeliveries(request);
          return leased.sort((one, other) => (one.event.eventId < other.event.eventId ? -1 : 1));
        },
      })),
  },
  { weight: 4, arbitrary: taken.map((which) => ({ name: `acknowledge ${which}`, run: onLease(which, acknowledge) })) },
  { weight: 2, arbitrary: taken.map((which) => ({ name: `renew ${which}`, run: onLease(which, renew) })) },
  {
    weight: 4,
    arbitrary: fc.tuple(taken, fc.boolean(), fc.constantFrom(0, MINUTE_MS)).map(([which, parked, retryInMs]) => ({
      name: `postpone ${which} ${parked} ${retryInMs}`,
      run: onLease(which, (store, [handlerId, eventId, lease]) =>
        store.postpone(
          { account: 'default', handlerId, eventId, lease },
          { attempts: 2, error: 'why "not"', parked, retryInMs },
        ),
      ),
    })),
  },
  { weight: 2, arbitrary: taken.map((which) => ({ name: `replay ${which}`, run: onLease(which, replay) })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(null, 0, 20 * MINUTE_MS), fc.constantFrom(0, 30 * MINUTE_MS))
      .map(([paymentsMs, pairsMs]): Step => ({
        name: `purge ${paymentsMs} ${pairsMs}`,
        run: (store) => store.purge('default', { paymentsMs, pairsMs, keysMs: 30 * MINUTE_MS }),
      })),
  },
);

type Lease = readonly [handlerId: string, eventId: string, lease: string];

function onLease(which: number, work: (store: PaymentStore, lease: Lease) => Promise<unknown>): Step['run'] {
  return (store, leases) => {
    const lease = leases[which % (leases.length || 1)];
    return lease ? work(store, lease) : Promise.resolve();
  };
}

function acknowledge(store: PaymentStore, [handlerId, eventId]: Lease): Promise<void> {
  return store.acknowledge('default', handlerId, eventId);
}

function renew(store: PaymentStore, [handlerId, eventId, lease]: Lease): Promise<boolean> {
  return store.renewLease({ account: 'default', handlerId, eventId, lease }, 2 * MINUTE_MS);
}

function replay(store: PaymentStore, [handlerId, eventId]: Lease): Promise<boolean> {
  return store.replay('default', handlerId, eventId);
}

/** What shows from outside, but for the order of what is due at the same time. */
async function look(store: PaymentStore): Promise<unknown> {
  const parked = await store.listParked('default', 100);
  return {
    counts: await store.counts('default'),
    parked: parked.map((delivery) => JSON.stringify(delivery)).sort(),
    keys: await Promise.all([1, 2, 3].map((number) => store.findByIdempotencyKey('default', `key of P:${number}`))),
  };
}

test('does whatever the store in memory does, for any sequence of calls', async () => {
  let leased = 0;
  const sequences = fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), async (steps) => {
    const clock = new TestClock();
    await client.flushall();
    const stores = [new MemoryPaymentStore({ clock }), new RedisPaymentStore(client, { clock })];
    const leases: Lease[] = [];
    for (const one of steps) {
      // Nothing happens at the same millisecond, as the order would be open.
      clock.set(new Date(clock.now().getTime() + (typeof one === 'number' ? one : 1)));
      if (typeof one === 'number') continue;
      const [memory, redis] = await Promise.all(stores.map((store) => one.run(store, leases)));
      expect([one.name, redis]).toEqual([one.name, memory]);
      const [before, after] = await Promise.all(stores.map(look));
      expect([one.name, after]).toEqual([one.name, before]);
      if (!one.name.startsWith('lease ')) continue;
      for (const { handlerId, event } of memory as { handlerId: string; event: { eventId: string } }[]) {
        leases.push([handlerId, event.eventId, one.name.split(' ').at(-1)!]);
        leased += 1;
      }
    }
  });
  await fc.assert(sequences, { numRuns: 60 });
  expect(leased).toBeGreaterThan(150);
}, 120_000);
