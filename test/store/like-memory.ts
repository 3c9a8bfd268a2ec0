import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { refundsAccountOf } from '../../lib/payment/account.js';
import type { PaymentClock } from '../../lib/payment/clock.js';
import { type LedgerEventType, ledgerEventOf } from '../../lib/payment/ledger-event.js';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import type { RefundEventState } from '../../lib/payment/payment-state.js';
import { saleText } from '../../lib/payment/refund.js';
import type { Delivery, PaymentStore } from '../../lib/store/payment-store.js';
import { inWhole } from '../rigs/extent.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const MINUTE_MS = 60_000;
const RUNS = inWhole(100, 15);
/** Random sequences do not always do what matters most: more of them run until this much of it was done. */
const ENOUGH = inWhole({ leased: 400, purgedWithRefunds: 5 }, { leased: 60, purgedWithRefunds: 1 });

/** Shrinking a failure can take long. */
const LIMIT = { interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true };

const STATES = ['unknown', 'review', 'succeeded'] as const satisfies RefundEventState[];
const HANDLERS = ['Orders.paid', 'Mail: sent'];
const NUMBERS = [1, 2, 3];

type Kind = 'payment' | 'refund';

interface Lease {
  readonly account: string;
  readonly handlerId: string;
  readonly eventId: string;
  readonly lease: string;
}

/** One call of a store. */
interface Step {
  readonly name: string;
  /** For fast-check's counterexamples. */
  toString(): string;
  readonly kind: Kind;
  /** The lease that it takes. */
  readonly lease?: string;
  /** @param leases those of earlier steps in the same account */
  run(store: PaymentStore, account: string, leases: readonly Lease[]): Promise<unknown>;
}

type CallWithLease = (store: PaymentStore, lease: Lease) => Promise<unknown>;

const CALLS_WITH_LEASE = {
  keep: () => Promise.resolve(),
  acknowledge: (store, { account, handlerId, eventId }) => store.acknowledge(account, handlerId, eventId),
  renew: (store, lease) => store.renewLease(lease, 2 * MINUTE_MS),
  park: postponing(true, 0),
  retry: postponing(false, 0),
  'retry later': postponing(false, MINUTE_MS),
  replay: (store, { account, handlerId, eventId }) => store.replay(account, handlerId, eventId),
} satisfies Record<string, CallWithLease>;

type CallName = keyof typeof CALLS_WITH_LEASE;

/**
 * Compares a store with the one in memory, whose rules the contract's cases state: both do the same random calls, must
 * answer alike and then look alike.
 */
export function describeLikeMemory(name: string, open: (clock: PaymentClock) => Promise<PaymentStore>): void {
  describe(`${name}, like memory`, () => {
    const clock = new TestClock();
    let memory: MemoryPaymentStore;
    let store: PaymentStore;
    let accounts = 0;

    beforeAll(async () => {
      memory = new MemoryPaymentStore({ clock });
      store = await open(clock);
    });
    afterAll(() => store.close());

    test('does whatever the store in memory does, for any sequence of calls', async () => {
      const done = { leased: 0, purgedWithRefunds: 0 };
      const sequences = fc.asyncProperty(
        fc.noBias(fc.array(stepOrPause(), { maxLength: 200, size: 'max' })),
        async (steps) => {
          const payments = `like-memory-${(accounts += 1)}`;
          const refunds = refundsAccountOf(payments);
          const leases: Lease[] = [];
          const settledRefunds = async () => (await memory.listByState(refunds, ['succeeded'], 9)).length;
          for (const step of steps) {
            // Nothing happens at the same millisecond, as the order would be open.
            clock.set(new Date(clock.now().getTime() + (typeof step === 'number' ? step : 1)));
            if (typeof step === 'number') continue;
            const account = step.kind === 'payment' ? payments : refunds;
            const own = leases.filter((lease) => lease.account === account);
            const before = await settledRefunds();
            const expected = await step.run(memory, account, own);
            expect([step.name, await step.run(store, account, own)]).toEqual([step.name, expected]);
            const looks = (at: PaymentStore) => Promise.all([look(at, payments), look(at, refunds)]);
            expect([step.name, await looks(store)]).toEqual([step.name, await looks(memory)]);
            if (step.kind === 'payment' && (await settledRefunds()) < before) done.purgedWithRefunds += 1;
            if (step.lease === undefined) continue;
            for (const { handlerId, event } of expected as Delivery[]) {
              leases.push({ account, handlerId, eventId: event.eventId, lease: step.lease });
              done.leased += 1;
            }
          }
        },
      );
      await fc.assert(sequences, { numRuns: RUNS, ...LIMIT });
      while (done.leased < ENOUGH.leased || done.purgedWithRefunds < ENOUGH.purgedWithRefunds) {
        await fc.assert(sequences, { numRuns: 1, ...LIMIT });
      }
    }, 240_000);
  });
}

function stepOrPause(): fc.Arbitrary<Step | number> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(1_000, MINUTE_MS, 5 * MINUTE_MS, 11 * MINUTE_MS) },
    { weight: 8, arbitrary: stepOf('payment') },
    { weight: 5, arbitrary: stepOf('refund') },
  );
}

function stepOf(kind: Kind): fc.Arbitrary<Step> {
  const types = STATES.map((state): LedgerEventType => `${kind}.${state}`);
  const pairs = HANDLERS.flatMap((handlerId) => types.map((type) => ({ handlerId, type })));
  const named = (name: string, run: Step['run']): Step => ({
    name: `${kind}: ${name}`,
    kind,
    run,
    toString: () => `${kind}: ${name}`,
  });
  const callNames = fc.constantFrom(...(Object.keys(CALLS_WITH_LEASE) as CallName[]));
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(fc.constantFrom(...NUMBERS), fc.constantFrom(...STATES, 'succeeded' as const))
        .map(([number, state]) =>
          named(`write ${number} ${state}`, (store, account) => write(store, first(account, kind, number), state)),
        ),
    },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(pairs, pairs.slice(1), pairs.slice(0, 2), pairs.slice(4))
        .map((some) =>
          named(`announce ${some.length} pairs from ${pairs.indexOf(some[0]!)}`, (store, account) =>
            store.announce(account, some),
          ),
        ),
    },
    { weight: 8, arbitrary: fc.constant(named('fan out', (store, account) => store.fanOut(account, 100))) },
    {
      weight: 8,
      arbitrary: fc
        .record({
          handlerId: fc.constantFrom(...HANDLERS),
          types: fc.constantFrom(types, types, types.slice(0, 1), types.slice(1)),
          lease: fc.uuid(),
          then: fc.constantFrom('keep', 'acknowledge', 'park', 'retry'),
        })
        .map(({ handlerId, types: some, lease, then }) => ({
          ...named(`lease ${some.join()} for ${handlerId}, ${then}`, async (store, account) => {
            const request = { account, handlerId, types: some, lease, leaseMs: MINUTE_MS, limit: 100 };
            const leased = await store.leaseDeliveries(request);
            for (const { event } of leased) {
              await CALLS_WITH_LEASE[then](store, { account, handlerId, eventId: event.eventId, lease });
            }
            return leased.sort((one, other) => (one.event.eventId < other.event.eventId ? -1 : 1));
          }),
          lease,
        })),
    },
    {
      weight: 12,
      arbitrary: fc.tuple(callNames, fc.nat({ max: 100 })).map(([call, which]) =>
        named(`${call} ${which}`, async (store, _account, leases) => {
          const lease = leases.at(-1 - (which % (leases.length || 1)));
          return lease && CALLS_WITH_LEASE[call](store, lease);
        }),
      ),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(null, 0, 0, 20 * MINUTE_MS), fc.constantFrom(0, 30 * MINUTE_MS, 30 * MINUTE_MS))
        .map(([paymentsMs, pairsMs]) =>
          named(`purge ${paymentsMs} ${pairsMs}`, (store, account) =>
            store.purge(account, { paymentsMs, pairsMs, keysMs: 30 * MINUTE_MS }),
          ),
        ),
    },
  );
}

function postponing(parked: boolean, retryInMs: number): CallWithLease {
  return (store, lease) => store.postpone(lease, { attempts: 2, error: 'why "not"', parked, retryInMs });
}

/** Inserts this record, or replaces it where it is stored already. */
async function write(store: PaymentStore, fresh: PaymentRecord, state: RefundEventState): Promise<unknown> {
  const old = await store.find(fresh.account, fresh.conversationId);
  const now = await store.now();
  const record = old ?? fresh;
  const finalizedAt = state === 'succeeded' ? now : null;
  const next = { ...record, state, version: record.version + 1, updatedAt: now, finalizedAt };
  const event = ledgerEventOf(next);
  return old ? store.replace(next, old, event) : store.insert(next, event);
}

/** The payment of this number before it is stored, or the refund of that payment. */
function first(account: string, kind: Kind, number: number): PaymentRecord {
  const payment = aPaymentRecord({
    account,
    conversationId: `P:${number}`,
    state: 'awaiting',
    version: 0,
    reference: null,
    idempotencyKey: `key of ${number}`,
    createdAt: new Date(0),
    dueAt: null,
  });
  if (kind === 'payment') return payment;
  const sale = saleText(toPayment(payment));
  return { ...payment, conversationId: `R:${number}`, kind, reference: payment.conversationId, sale };
}

/** What shows from outside, but for the order of what is due at the same time. */
async function look(store: PaymentStore, account: string): Promise<unknown> {
  const [counts, parked, ...keys] = await Promise.all([
    store.counts(account),
    store.listDeliveries({ account, parked: true, after: null, limit: 100 }),
    ...NUMBERS.map((number) => store.findByIdempotencyKey(account, `key of ${number}`)),
  ]);
  return { counts, parked: parked.map((delivery) => JSON.stringify(delivery)).sort(), keys };
}
