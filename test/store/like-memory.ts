import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { PaymentClock } from '../../lib/runtime/clock.js';
import { type LedgerEventType, ledgerEventOf } from '../../lib/payment/payment-event.js';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import { saleText } from '../../lib/payment/refund.js';
import { pinReference } from '../../lib/payment/transitions.js';
import type { Delivery, LeasedDelivery, PaymentStore, RecordType } from '../../lib/store/payment-store.js';
import { inWhole } from '../rigs/extent.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const MINUTE_MS = 60_000;
const RUNS = inWhole(100, 8);
/** Random sequences do not always do what matters most: more of them run until this much of it was done. */
const ENOUGH = inWhole({ leased: 400, purgedWithRefunds: 5 }, { leased: 60, purgedWithRefunds: 1 });
/** After how many steps the stores are looked at as a whole. */
const LOOK_EVERY = inWhole(4, 12);
/** Shrinking a failure can take long. */
const LIMIT = { interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true };

const STATES = ['unknown', 'review', 'succeeded', 'succeeded'] as const;
const HANDLERS = ['Orders.paid', 'Mail: sent'];
const NUMBERS = [1, 2, 3];

/** Where a step runs. */
interface Place {
  readonly kind: RecordType;
  readonly account: string;
  /** The leases that earlier steps took there. */
  readonly leases: LeasedDelivery[];
}

/** One call of a store, under a name for fast-check's counterexamples. */
interface Step {
  readonly kind: RecordType;
  readonly name: string;
  toString(): string;
  run(store: PaymentStore, place: Place): Promise<unknown>;
}

type Run = Step['run'];

const CALLS_WITH_LEASE: Readonly<Record<string, (store: PaymentStore, lease: LeasedDelivery) => Promise<unknown>>> = {
  keep: () => Promise.resolve(),
  acknowledge: (store, { account, handlerId, eventId }) => store.acknowledge(account, handlerId, eventId),
  renew: (store, lease) => store.renewLease(lease, 2 * MINUTE_MS),
  park: (store, lease) => store.postpone(lease, { attempts: 2, error: 'why "not"', parked: true, retryInMs: 0 }),
  retry: (store, lease) => store.postpone(lease, { attempts: 2, error: 'E', parked: false, retryInMs: 0 }),
  'retry later': (store, lease) =>
    store.postpone(lease, { attempts: 2, error: 'E', parked: false, retryInMs: MINUTE_MS }),
  replay: (store, { account, handlerId, eventId }) => store.replay(account, handlerId, eventId),
};

/** What a write does to the names of its record. The three payments are of one order. */
const NAMES: Readonly<Record<string, (next: PaymentRecord) => PaymentRecord>> = {
  keep: (next) => next,
  take: (next) => (next.pinsReference ? next : { ...next, referenceLock: 'order' }),
  drop: (next) => ({ ...next, referenceLock: null, idempotencyKey: null, tokenHash: null }),
  pin: (next) => pinReference({ ...next, reference: next.kind === '3d' ? 'order' : next.reference }),
};

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
          const account = `like-memory-${(accounts += 1)}`;
          const payments: Place = { kind: 'payment', account, leases: [] };
          const refunds: Place = { kind: 'refund', account, leases: [] };
          const settledRefunds = async () =>
            (await memory.list({ account, type: 'refund', states: ['succeeded'], after: null, limit: 9 })).length;
          for (const [index, step] of steps.entries()) {
            // Nothing happens at the same millisecond, as the order would be open.
            clock.set(new Date(clock.now().getTime() + (typeof step === 'number' ? step : 1)));
            if (typeof step === 'number') continue;
            const place = step.kind === 'payment' ? payments : refunds;
            const [before, leases] = [await settledRefunds(), [...place.leases]];
            const expected = await step.run(memory, place);
            done.leased += place.leases.length - leases.length;
            expect([step.name, await step.run(store, { ...place, leases })]).toEqual([step.name, expected]);
            if ((await settledRefunds()) < before) done.purgedWithRefunds += 1;
            if (index % LOOK_EVERY === 0)
              expect([step.name, await look(store, account)]).toEqual([step.name, await look(memory, account)]);
          }
          expect(await look(store, account)).toEqual(await look(memory, account));
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

function stepOf(kind: RecordType): fc.Arbitrary<Step> {
  const types = [...new Set(STATES)].map((state): LedgerEventType => `${kind}.${state}`);
  const pairs = HANDLERS.flatMap((handlerId) => types.map((type) => ({ handlerId, type })));
  const named = (name: string, run: Run): Step => ({
    name: `${kind}: ${name}`,
    kind,
    run,
    toString: () => `${kind}: ${name}`,
  });
  const number = fc.constantFrom(...NUMBERS);
  const step = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
  return fc.oneof(
    step(
      9,
      fc
        .record({
          number,
          state: fc.constantFrom(...STATES),
          names: fc.constantFrom('keep', 'keep', 'take', 'drop', 'pin'),
          dueInMs: fc.constantFrom(null, null, null, 0, MINUTE_MS),
          isLate: fc.constantFrom(false, false, false, false, true),
        })
        .map((write) => named(`write ${JSON.stringify(write)}`, (store, place) => writeOf(store, place, write))),
    ),
    step(
      4,
      fc
        .constantFrom(pairs, pairs.slice(1), pairs.slice(0, 2), pairs.slice(4))
        .map((some) => named(`announce ${some.length} pairs`, (store, { account }) => store.announce(account, some))),
    ),
    step(8, fc.constant(named('fan out', (store, { account }) => store.fanOut(account, 100)))),
    step(
      8,
      fc
        .record({
          handlerId: fc.constantFrom(...HANDLERS),
          types: fc.constantFrom(types, types, types.slice(0, 1), types.slice(1)),
          lease: fc.uuid(),
          then: fc.constantFrom('keep', 'acknowledge', 'park', 'retry'),
        })
        .map(({ handlerId, types: some, lease, then }) =>
          named(`lease ${some.join()} for ${handlerId}, ${then}`, async (store, { account, leases }) => {
            const request = { account, handlerId, types: some, lease, leaseMs: MINUTE_MS, limit: 100 };
            const leased = await store.leaseDeliveries(request);
            for (const { event } of leased) {
              leases.push({ account, handlerId, eventId: event.eventId, lease });
              await CALLS_WITH_LEASE[then]!(store, leases.at(-1)!);
            }
            return inOrder(leased);
          }),
        ),
    ),
    step(
      12,
      fc.tuple(fc.constantFrom(...Object.keys(CALLS_WITH_LEASE)), fc.nat({ max: 100 })).map(([call, which]) =>
        named(`${call} ${which}`, async (store, { leases }) => {
          const lease = leases.at(-1 - (which % (leases.length || 1)));
          return lease && CALLS_WITH_LEASE[call]!(store, lease);
        }),
      ),
    ),
    step(
      2,
      fc.constant(
        named('lease due', (store, { account }) =>
          store.leaseDue({ account, leaseMs: MINUTE_MS, limit: 100 }).then(inOrder),
        ),
      ),
    ),
    step(
      1,
      number.map((which) =>
        named(`hand back ${which}`, async (store, { account, kind: own }) => {
          const { conversationId } = first(account, own, which);
          const version = (await store.find(account, conversationId))?.version ?? 1;
          await store.handBack(account, conversationId, version, await store.now());
        }),
      ),
    ),
    step(
      4,
      fc
        .tuple(fc.constantFrom(null, 0, 0, 20 * MINUTE_MS), fc.constantFrom(0, 30 * MINUTE_MS, 30 * MINUTE_MS))
        .map(([paymentsMs, pairsMs]) =>
          named(`purge ${paymentsMs} ${pairsMs}`, (store, { account }) =>
            store.purge(account, { paymentsMs, pairsMs, keysMs: 30 * MINUTE_MS }),
          ),
        ),
    ),
  );
}

interface Write {
  readonly number: number;
  readonly state: (typeof STATES)[number];
  readonly names: string;
  readonly dueInMs: number | null;
  /** Whether it was decided before the last one. */
  readonly isLate: boolean;
}

/** Inserts a record with a key, or with the lock, as several names may be taken; or replaces it where it is stored. */
async function writeOf(
  store: PaymentStore,
  { account, kind }: Place,
  { number, state, names, dueInMs, isLate }: Write,
) {
  const fresh = first(account, kind, number);
  const stored = await store.find(account, fresh.conversationId);
  const now = await store.now();
  const record = stored ?? (names === 'take' ? { ...fresh, idempotencyKey: null } : fresh);
  const previous = isLate ? { ...record, version: record.version - 1 } : record;
  // Nobody opens a payment that pins its reference.
  const next = NAMES[!stored && names === 'pin' ? 'keep' : names]!({
    ...record,
    state,
    version: previous.version + 1,
    updatedAt: now,
    ...(!stored && { createdAt: now }),
    finalizedAt: state === 'succeeded' ? now : null,
    dueAt: dueInMs === null ? null : new Date(now.getTime() + dueInMs),
  });
  return stored ? store.replace(next, previous, ledgerEventOf(next)) : store.insert(next, ledgerEventOf(next));
}

/** The payment of this number before it is stored, or the refund of that payment. The host chose the id of the second. */
function first(account: string, kind: RecordType, number: number): PaymentRecord {
  const payment = aPaymentRecord({
    account,
    conversationId: `P:${number}`,
    state: 'awaiting',
    version: 1,
    reference: 'order',
    idempotencyKey: `key of ${number}`,
    tokenHash: `token of ${number}`,
    hostIdNonce: number === 2 ? '09382017465f' : null,
    dueAt: null,
  });
  if (kind === 'payment') return payment;
  const sale = saleText(toPayment(payment));
  return { ...payment, conversationId: `R:${number}`, kind, parentId: payment.conversationId, tokenHash: null, sale };
}

function inOrder<T extends Delivery | PaymentRecord>(rows: readonly T[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** What shows from outside. */
async function look(store: PaymentStore, account: string): Promise<unknown> {
  const page = { account, after: null, limit: 100 };
  const types = ['payment', 'refund'] as const;
  return {
    counts: await store.counts(account),
    records: await Promise.all(types.map((type) => store.list({ ...page, type }))),
    refunds: await Promise.all(NUMBERS.map((number) => store.findRefunds(account, `P:${number}`))),
    parked: await store.listDeliveries({ ...page, parked: true }),
    open: await store.listDeliveries({ ...page, parked: false }),
    keys: await Promise.all(
      types.flatMap((type) => NUMBERS.map((number) => store.findByIdempotencyKey(account, type, `key of ${number}`))),
    ),
    lock: await store.findByReferenceLock(account, 'order'),
    held: await store.isHeld(account, 'order', ['unknown', 'review']),
    tokens: await Promise.all(NUMBERS.map((number) => store.findByTokenHash(account, `token of ${number}`))),
  };
}
