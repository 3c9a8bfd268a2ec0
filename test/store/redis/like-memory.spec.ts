import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { MemoryPaymentStore, type PaymentStore } from 'nestjs-card-payment';
import { RedisPaymentStore } from 'nestjs-card-payment/redis';
import { TestClock } from 'nestjs-card-payment/testing';
import { refundsAccountOf } from '../../../lib/payment/account.js';
import { type LedgerEventType, ledgerEventOf } from '../../../lib/payment/ledger-event.js';
import { type PaymentRecord, toPayment } from '../../../lib/payment/payment.js';
import type { RefundEventState } from '../../../lib/payment/payment-state.js';
import { saleText } from '../../../lib/payment/refund.js';
import { startRedis, type RedisServer } from '../../services/redis.js';
import { awaiting } from './records.js';

const MINUTE_MS = 60_000;
const ACCOUNT = 'default';
const REFUNDS = refundsAccountOf(ACCOUNT);
const STATES = ['unknown', 'review', 'succeeded'] as const satisfies RefundEventState[];
const HANDLERS = ['Orders.paid', 'Mail: sent'];
const NUMBERS = [1, 2, 3];

/** What a step does to a store; `leases` are those of earlier steps of the same account. */
interface Step {
  readonly name: string;
  readonly account: string;
  run(store: PaymentStore, leases: readonly Lease[]): Promise<unknown>;
}

type Lease = readonly [account: string, handlerId: string, eventId: string, lease: string];

let server: RedisServer;
let client: Redis;

describe('like memory', () => {
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  const payment = fc.constantFrom(...NUMBERS);
  const handler = fc.constantFrom(...HANDLERS);
  const taken = fc.nat({ max: 100 });

  function stepOf(account: string): fc.Arbitrary<Step> {
    const types = STATES.map((state): LedgerEventType => `${account === ACCOUNT ? 'payment' : 'refund'}.${state}`);
    const pairs = HANDLERS.flatMap((handlerId) => types.map((type) => ({ handlerId, type })));
    const named = (name: string, run: Step['run']): Step => ({ name: `${name} of ${account}`, account, run });
    return fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(payment, fc.constantFrom(...STATES)).map(([number, state]) =>
          named(`write ${number} ${state}`, async (store) => {
            const fresh = first(account, number);
            const old = await store.find(account, fresh.conversationId);
            const now = await store.now();
            const settled = state === 'succeeded' ? now : null;
            const fields = { state, updatedAt: now, finalizedAt: settled, idempotencyKey: `key of ${number}` };
            const record = { ...(old ?? fresh), ...fields };
            const next = { ...record, version: record.version + 1 };
            const event = ledgerEventOf(next);
            return old ? store.replace(next, old.version, event) : store.insert(next, event);
          }),
        ),
      },
      {
        weight: 3,
        arbitrary: fc
          .constantFrom(pairs, pairs.slice(1), pairs.slice(0, 2), pairs.slice(4))
          .map((some) => named(`announce ${JSON.stringify(some)}`, (store) => store.announce(account, some))),
      },
      { weight: 8, arbitrary: fc.constant(named('fan out', (store) => store.fanOut(account, 100))) },
      {
        weight: 6,
        arbitrary: fc
          .tuple(handler, fc.constantFrom(types, types.slice(0, 1), types.slice(1)), fc.uuid())
          .map(([handlerId, some, lease]) =>
            named(`lease ${lease} ${handlerId} ${some.join()}`, async (store) => {
              const request = { account, handlerId, types: some, lease, leaseMs: MINUTE_MS, limit: 100 };
              const leased = await store.leaseDeliveries(request);
              return leased.sort((one, other) => (one.event.eventId < other.event.eventId ? -1 : 1));
            }),
          ),
      },
      { weight: 4, arbitrary: taken.map((which) => named(`acknowledge ${which}`, onLease(which, acknowledge))) },
      { weight: 2, arbitrary: taken.map((which) => named(`renew ${which}`, onLease(which, renew))) },
      {
        weight: 4,
        arbitrary: fc.tuple(taken, fc.boolean(), fc.constantFrom(0, MINUTE_MS)).map(([which, parked, retryInMs]) =>
          named(
            `postpone ${which} ${parked} ${retryInMs}`,
            onLease(which, (store, [, handlerId, eventId, lease]) =>
              store.postpone(
                { account, handlerId, eventId, lease },
                { attempts: 2, error: 'why "not"', parked, retryInMs },
              ),
            ),
          ),
        ),
      },
      { weight: 2, arbitrary: taken.map((which) => named(`replay ${which}`, onLease(which, replay))) },
      {
        weight: 6,
        arbitrary: fc
          .tuple(fc.constantFrom(null, 0, 0, 20 * MINUTE_MS), fc.constantFrom(0, 30 * MINUTE_MS))
          .map(([paymentsMs, pairsMs]) =>
            named(`purge ${paymentsMs} ${pairsMs}`, (store) =>
              store.purge(account, { paymentsMs, pairsMs, keysMs: 30 * MINUTE_MS }),
            ),
          ),
      },
    );
  }

  const step: fc.Arbitrary<Step | number> = fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(1_000, MINUTE_MS, 5 * MINUTE_MS, 11 * MINUTE_MS) },
    { weight: 8, arbitrary: stepOf(ACCOUNT) },
    { weight: 5, arbitrary: stepOf(REFUNDS) },
  );

  test('does whatever the store in memory does, for any sequence of calls', async () => {
    const counts = { leased: 0, purgedWithRefunds: 0 };
    const sequences = fc.asyncProperty(
      fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }),
      async (steps) => {
        const clock = new TestClock();
        await client.flushall();
        const stores = [new MemoryPaymentStore({ clock }), new RedisPaymentStore(client, { clock })];
        const leases: Lease[] = [];
        for (const one of steps) {
          // Nothing happens at the same millisecond, as the order would be open.
          clock.set(new Date(clock.now().getTime() + (typeof one === 'number' ? one : 1)));
          if (typeof one === 'number') continue;
          const ofAccount = leases.filter(([account]) => account === one.account);
          const refunds = () => stores[0]!.listByState(REFUNDS, ['succeeded'], 9);
          const settled = (await refunds()).length;
          const [memory, redis] = await Promise.all(stores.map((store) => one.run(store, ofAccount)));
          expect([one.name, redis]).toEqual([one.name, memory]);
          const looks = stores.map((store) => Promise.all([look(store, ACCOUNT), look(store, REFUNDS)]));
          const [before, after] = await Promise.all(looks);
          expect([one.name, after]).toEqual([one.name, before]);
          if (one.name.startsWith('purge ') && (await refunds()).length < settled) counts.purgedWithRefunds += 1;
          if (!one.name.startsWith('lease ')) continue;
          for (const { handlerId, event } of memory as { handlerId: string; event: { eventId: string } }[]) {
            leases.push([one.account, handlerId, event.eventId, one.name.split(' ')[1]!]);
            counts.leased += 1;
          }
        }
      },
    );
    await fc.assert(sequences, { numRuns: 60 });
    // Random sequences do not always do what matters most; more of them do.
    while (counts.leased < 100 || counts.purgedWithRefunds < 3) await fc.assert(sequences, { numRuns: 10 });
  }, 240_000);
});

/** The first version of a payment, or of the refund of the payment of that number. */
function first(account: string, number: number): PaymentRecord {
  const record = { ...awaiting({ conversationId: `P:${number}` }), version: 0 };
  if (account === ACCOUNT) return record;
  const reference = record.conversationId;
  const sale = saleText(toPayment(record));
  return { ...record, account, conversationId: `R:${number}`, kind: 'refund', reference, sale };
}

function onLease(which: number, work: (store: PaymentStore, lease: Lease) => Promise<unknown>): Step['run'] {
  return (store, leases) => {
    const lease = leases[which % (leases.length || 1)];
    return lease ? work(store, lease) : Promise.resolve();
  };
}

function acknowledge(store: PaymentStore, [account, handlerId, eventId]: Lease): Promise<void> {
  return store.acknowledge(account, handlerId, eventId);
}

function renew(store: PaymentStore, [account, handlerId, eventId, lease]: Lease): Promise<boolean> {
  return store.renewLease({ account, handlerId, eventId, lease }, 2 * MINUTE_MS);
}

function replay(store: PaymentStore, [account, handlerId, eventId]: Lease): Promise<boolean> {
  return store.replay(account, handlerId, eventId);
}

/** What shows from outside, but for the order of what is due at the same time. */
async function look(store: PaymentStore, account: string): Promise<unknown> {
  const [counts, parked, ...keys] = await Promise.all([
    store.counts(account),
    store.listParked(account, 100),
    ...NUMBERS.map((number) => store.findByIdempotencyKey(account, `key of ${number}`)),
  ]);
  return { counts, parked: parked.map((delivery) => JSON.stringify(delivery)).sort(), keys };
}
